import { createInterface } from 'node:readline/promises'
import type { Options } from './command.ts'
import { InputError, UsageError } from './errors.ts'

export const CONFIRM_OPTIONS = {
  yes: { about: 'do not ask whether to go on' },
} as const satisfies Options

/**
 * Asks before what cannot be undone.
 *
 * @throws {InputError} `declined`. @throws {UsageError} where nobody can be asked.
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(`${question} This cannot be undone: --yes is required`)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await prompt.question(`${question} This cannot be undone. Type yes to go on: `)
    if (answer.trim() !== 'yes') throw new InputError('declined', 'nothing was changed')
  } finally {
    prompt.close()
  }
}
