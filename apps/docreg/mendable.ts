import type { Told } from './program.ts'

/**
 * @returns The message of an error. An error of ethers is returned without the request, which it
 * would repeat.
 */
export function sentenceOf(error: Error): string {
  const { shortMessage } = error as { shortMessage?: string }
  return shortMessage ?? error.message
}

/**
 * @param codes The codes for classes of errors that have none, by class name.
 * @returns How to report an error that the user of the command can fix: one with a code of its own
 * (from Node, ethers or a database), or of such a class. `undefined` for any other error, which is
 * a bug.
 */
export function tellMendable(
  error: unknown,
  codes: Readonly<Record<string, string>>,
): Told | undefined {
  if (!(error instanceof Error)) return undefined
  const code = (error as NodeJS.ErrnoException).code ?? codes[error.name]
  return code === undefined
    ? undefined
    : { code: `${code}`.toLowerCase(), message: sentenceOf(error) }
}
