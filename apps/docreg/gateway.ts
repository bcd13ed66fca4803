import { readFileSync, statSync } from 'node:fs'
import { type Client, createClient } from '#client/index.ts'
import type { Options } from './command.ts'
import { UsageError } from './errors.ts'

/** The options of commands that call a gateway over REST. */
export const GATEWAY_OPTIONS = {
  gateway: {
    value: '<url>',
    about: 'the service that issues, such as https://documents.example',
    isSetting: true,
  },
  'api-key-file': {
    value: '<file>',
    about:
      'a file with the API key, readable only by its owner; default the environment variable DOCREG_API_KEY or API_KEY',
    isSetting: true,
  },
} as const satisfies Options

/** A gateway and its API key. */
export type Gateway = {
  /** The address, without a slash at the end. */
  url: string
  apiKey: string
  client: Client
}

/** A block may take 15 s, and a busy node longer. */
const TIMEOUT_MS = 60_000
const MAX_ATTEMPTS = 4
/** For work on many documents; the attempts cover an outage of about three minutes. */
export const PATIENT_ATTEMPTS = 10
const READABLE_BY_OTHERS = 0o077

/**
 * The key never comes from the command line, which all users of a machine can see.
 *
 * @throws {UsageError}
 */
export function connect(
  values: { gateway?: string; 'api-key-file'?: string },
  maxAttempts = MAX_ATTEMPTS,
  env: NodeJS.ProcessEnv = process.env,
): Gateway {
  const { gateway } = values
  if (gateway === undefined)
    throw new UsageError('--gateway is required, the address of the service that issues')
  if (!URL.canParse(gateway) || !/^https?:$/.test(new URL(gateway).protocol))
    throw new UsageError('--gateway must be an http or https address')
  const apiKey = env.DOCREG_API_KEY || env.API_KEY || readKey(values['api-key-file'])
  const url = gateway.replace(/\/+$/, '')
  const options = { baseUrl: url, apiKey, timeoutMs: TIMEOUT_MS, maxAttempts }
  return { url, apiKey, client: createClient(options) }
}

/** @throws {UsageError} */
function readKey(file: string | undefined): string {
  if (file === undefined)
    throw new UsageError('an API key is required: set DOCREG_API_KEY, or give --api-key-file')
  try {
    if (statSync(file).mode & READABLE_BY_OTHERS)
      throw new UsageError(`others can read ${file}: run chmod 600 ${file}`)
    const key = readFileSync(file, 'utf8').trim()
    if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError(`${file} must contain one API key`)
    return key
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read`)
  }
}
