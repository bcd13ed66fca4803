// How every operator's command ends: with a sentence, where the operator can mend what went wrong.
import { UsageError } from '#cli/errors.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { sentenceOf } from '#cli/mendable.ts'

/**
 * Runs a command and ends the process.
 *
 * @param what The command, after "cannot".
 * @param main @returns The exit code; absent = `process.exitCode`, or 0.
 * @param failed The exit code of a failure; that of wrong usage is 64.
 */
export async function runCommand(
  what: string,
  main: () => Promise<number | undefined> | Promise<void>,
  failed = 1,
): Promise<never> {
  try {
    process.exit((await main()) ?? process.exitCode)
  } catch (error) {
    console.error(tellCause(what, error))
    process.exit(isUsage(error) ? EXIT.usage : failed)
  }
}

/** Prints an error that the operator can fix without its stack; any other is a bug. */
export function tellCause(what: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as NodeJS.ErrnoException
  if (isUsage(error)) return error.message
  if (code === 'EADDRINUSE')
    return `cannot ${what}:\n  ${error.message}\n  Another program listens there: set PORT`
  const isMendable = MENDABLE.includes(error.name) || code !== undefined
  return isMendable
    ? `cannot ${what}:\n  ${sentenceOf(error).replace(/^cannot start:\s*/, '')}`
    : error
}

const MENDABLE = [
  'BackupError',
  'ChainError',
  'ConfigError',
  'DataDirError',
  'DatabaseUrlError',
  'HardhatError',
  'InputError',
  'IssueError',
  'KeyError',
  'KeyFileError',
  'LocalChainError',
  'LocalRegistryError',
]

/** Also what `parseArgs` of Node throws. */
function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true
  return (
    error instanceof Error && /^ERR_PARSE_ARGS_/.test((error as NodeJS.ErrnoException).code ?? '')
  )
}
