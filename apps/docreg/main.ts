// The common part of `docreg` and `docreg-gateway`: command line, settings, errors, exit codes.
import { relative } from 'node:path'
import { styleText } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import type { CommandInput, Options } from './command.ts'
import {
  configured,
  findConfigFile,
  readConfigFile,
  SURROUNDINGS,
  settingsOf,
} from './config-file.ts'
import { EXIT } from './exit-codes.ts'
import { explain } from './explain.ts'
import { printable } from './printable.ts'
import { createParser, type Program } from './program.ts'
import { createProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

const { stdout, stderr } = process
const coloured = stdout.isTTY && stdout.hasColors()
const terminal: Terminal = {
  write: (text) => void stdout.write(`${text}\n`),
  warn: (text) => console.error(`Warning: ${printable(text)}`),
  note: (text) => console.error(printable(text)),
  progress: (label, total) => createProgress(stderr, label, total),
  paint: (colour, text) => (coloured ? styleText(colour, text) : text),
}

/** Runs the command in the arguments of this process. @returns The exit code. */
export async function runProgram(program: Program): Promise<number> {
  process.on('uncaughtException', (error) => {
    console.error(error)
    process.exit(EXIT.bug)
  })
  // The output may be closed early; the exit code still counts.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const argv = process.argv.slice(2)
  const json = argv.includes('--json')
  try {
    const parsed = createParser(program, manifest.version)(argv)
    // Completion has already printed everything.
    if (parsed === undefined) return EXIT.ok
    const { command, args, flags } = parsed
    const values = valuesOf(program, command.options, flags, json)
    return await command.run({ args, values, flags }, terminal)
  } catch (error) {
    return explain(error, program, argv)
  }
}

/** @throws {UsageError} */
function valuesOf(
  { commands }: Program,
  options: Options,
  flags: CommandInput<Options>['flags'],
  json: boolean,
): CommandInput<Options>['values'] {
  // A configuration file can have the settings of all commands.
  const known = settingsOf(commands)
  if (known.length === 0) return flags
  const surroundings = SURROUNDINGS()
  const shown = (path: string) => relative(surroundings.cwd, path)
  const { path, ignored } = findConfigFile(flags.config, surroundings)
  if (ignored !== undefined)
    terminal.warn(
      `${shown(ignored)} is ignored, because such a file decides where your API key is sent and which registry you trust. If it is yours, give --config ${shown(ignored)}, or move it to ~/.config/docreg/`,
    )
  const file = path === undefined ? undefined : readConfigFile(path, known)
  // Whoever wrote the file chose the registry to trust, so its path is shown.
  if (file && !json && Object.keys(file.settings).length > 0)
    terminal.note(`Settings: ${shown(file.path)}`)
  const settings = configured(options, file, surroundings.env)
  return { ...settings, ...flags } as typeof flags
}
