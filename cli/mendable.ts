import type { Told } from './program.ts'

/** @returns Its message; that of ethers without the request, which it repeats. */
export function sentenceOf(error: Error): string {
  const { shortMessage } = error as { shortMessage?: string }
  return shortMessage ?? error.message
}

/**
 * @param codes The codes of classes whose errors have none, by their names.
 * @returns How to tell an error that whoever runs the command can mend: one with a code of its own
 * (of Node, ethers, a database), or of such a class. `undefined` for any other, which is a bug.
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
