import { createInterface } from 'node:readline/promises'
import type { Options } from './command.ts'
import { InputError, UsageError } from './errors.ts'
import type { Gateway } from './gateway.ts'
import { counted, printable } from './printable.ts'
import type { Target } from './targets.ts'

export const CONFIRM_OPTIONS = {
  yes: { about: 'do not ask for confirmation' },
} as const satisfies Options

/**
 * Asks for confirmation before something that cannot be undone.
 *
 * @throws {InputError} `declined`. @throws {UsageError} if nobody can be asked.
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!canAsk()) throw new UsageError(`${question} This cannot be undone: give --yes to confirm`)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const asked = `${question} This cannot be undone. Type yes to go on: `
  // Ctrl-C and Ctrl-D reject the question and leave the cursor in its line.
  const answer = await prompt.question(asked).catch(() => void process.stderr.write('\n'))
  prompt.close()
  if (answer?.trim() !== 'yes') throw new InputError('declined', 'nothing was changed')
}

/**
 * Same as {@link confirm}, for documents of a service.
 *
 * @param change The beginning of the question, such as `Revoke`.
 */
export async function confirmChange(
  change: string,
  targets: readonly Target[],
  gateway: Gateway,
  yes: boolean | undefined,
): Promise<void> {
  if (yes) return
  // The name of a person does not belong in the log of a script.
  const name = canAsk() ? await nameOf(targets, gateway) : undefined
  const one = name === undefined ? 'this document' : `the document of ${printable(name)}`
  const what = targets.length === 1 ? one : counted(targets.length, 'document')
  await confirm(`${change} ${what}?`, yes)
}

function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** @returns The name on a single document; `undefined` if the API key cannot read it. */
async function nameOf(
  [target, ...more]: readonly Target[],
  { client }: Gateway,
): Promise<string | undefined> {
  if (target === undefined || more.length > 0) return undefined
  const read = client.retrieveDocument({ path: { publicId: target.id } })
  return read.then(
    ({ subjectName }) => subjectName,
    () => undefined,
  )
}
