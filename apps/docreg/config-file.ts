import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command, OptionSpec, Options } from './command.ts'
import { UsageError } from './errors.ts'

/** Also the name of the file that `npm start` writes into the data folder of a local chain. */
export const CONFIG_NAME = 'docreg.config.json'

/** The maximum size in bytes. */
const MAX_CONFIG = 64 * 1024
const WRITABLE_BY_ALL = 0o002

/** Settings that are paths relative to the folder of the configuration. */
const PATHS = ['apiKeyFile']

/** A value in the form of an option. */
export type Setting = string | string[]
/** The settings of a file with its path. */
export type ConfigFile = { path: string; settings: Record<string, Setting> }

/** The surroundings of the program, and the checkout or package to which it belongs. */
export type Surroundings = { env: NodeJS.ProcessEnv; cwd: string; home: string; checkout: string }
export const SURROUNDINGS: () => Surroundings = () => ({
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  checkout: fileURLToPath(new URL('../..', import.meta.url)),
})

/** @returns The names of the settings of all commands. */
export function settingsOf(commands: readonly Pick<Command, 'options'>[]): string[] {
  const all = commands.flatMap(({ options }) => Object.entries(options))
  return [...new Set(all.flatMap(([name, { isSetting }]) => (isSetting ? [name] : [])))]
}

/**
 * Somebody else may have filled the working directory, and the file decides where the API key is
 * sent and which registry is trusted. So a file there counts only if it is named, or is the one
 * that `npm start` wrote in this very checkout.
 *
 * @param given The path of `--config`.
 * @returns The file, and the first one that is ignored, for a warning.
 */
export function findConfigFile(
  given: string | undefined,
  { env, cwd, home, checkout }: Surroundings,
): { path?: string | undefined; ignored?: string | undefined } {
  const named = given ?? (env.DOCREG_CONFIG || undefined)
  if (named !== undefined) return { path: resolve(cwd, named) }
  const ofUser = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'docreg')
  const trusted = [join(checkout, 'data'), ofUser].map((folder) => join(folder, CONFIG_NAME))
  const found = [cwd, join(cwd, 'data'), ofUser]
    .map((folder) => join(folder, CONFIG_NAME))
    .filter((file) => existsSync(file))
  return {
    path: found.find((file) => trusted.includes(file)),
    ignored: found.find((file) => !trusted.includes(file)),
  }
}

/**
 * @param known The names of all settings, spelled like options.
 * @throws {UsageError} for a file that cannot be read, is not trustworthy or has an unknown
 * setting.
 */
export function readConfigFile(path: string, known: readonly string[]): ConfigFile {
  // Without a byte order mark too, which editors on Windows write.
  const text = readTrusted(path).trim()
  return { path, settings: text === '' ? {} : parseSettings(text, path, known) }
}

/** Whoever can write to the file decides which registry is trusted. @throws {UsageError} */
function readTrusted(path: string): string {
  try {
    const { mode, uid, size } = statSync(path)
    const isForeign = process.getuid !== undefined && ![0, process.getuid()].includes(uid)
    if (isForeign || (mode & WRITABLE_BY_ALL && statSync(path).isFile()))
      throw new UsageError(
        `others can write to ${path}: change its owner or permissions, or use --config`,
      )
    if (size > MAX_CONFIG) throw new UsageError(`${path} has more than ${MAX_CONFIG} bytes`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path} cannot be read`)
  }
}

function parseSettings(
  text: string,
  path: string,
  known: readonly string[],
): Record<string, Setting> {
  const keys = new Map(known.map((name) => [camelCase(name), name]))
  const settings: Record<string, Setting> = {}
  for (const [key, value] of Object.entries(parseObject(text, path))) {
    const name = keys.get(key)
    if (name === undefined)
      throw new UsageError(
        `${path}: ${key} is not a setting; the settings are ${[...keys.keys()].join(', ')}`,
      )
    const setting = settingOf(value)
    if (setting === undefined)
      throw new UsageError(`${path}: ${key} must be a string, a number or a list of strings`)
    settings[name] = PATHS.includes(key) ? resolve(dirname(path), String(setting)) : setting
  }
  return settings
}

function parseObject(text: string, path: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The error is reported below.
  }
  throw new UsageError(`${path} must contain a JSON object`)
}

function settingOf(value: unknown): Setting | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? value : undefined
}

/**
 * @returns The values of those options of a command that are settings. They come from the
 * environment (where a list has commas), or otherwise from the file.
 */
export function configured(
  options: Options,
  file: ConfigFile | undefined,
  env: NodeJS.ProcessEnv,
): Record<string, Setting> {
  const settings = Object.entries(options).filter(([, { isSetting }]) => isSetting)
  return Object.fromEntries(
    settings.flatMap(([name, option]) => {
      const value = env[environmentName(name)] || file?.settings[name]
      return value === undefined ? [] : [[name, fitted(value, option)]]
    }),
  )
}

function fitted(value: Setting, { multiple }: OptionSpec): Setting {
  if (!multiple) return Array.isArray(value) ? (value[0] ?? '') : value
  return Array.isArray(value) ? value : value.split(',').map((item) => item.trim())
}

/** @returns The variable of a setting, such as `DOCREG_ISSUER_DOMAIN` for `issuer-domain`. */
export function environmentName(option: string): string {
  return `DOCREG_${option.toUpperCase().replaceAll('-', '_')}`
}

function camelCase(option: string): string {
  return option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
