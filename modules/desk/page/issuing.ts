import type { IssuedDocument } from '#client/index.ts'
import type { FieldProblem } from '#document/errors.ts'
import { emptyTyped, newId, type Typed } from './fields.ts'
import { forget, keep, kept } from './kept.ts'

/** A document that is being typed or issued. */
export type Issuing = {
  /** Part of the Idempotency-Key. */
  id: string
  typed: Typed
  problems: FieldProblem[]
  /** Whether it was sent, and no answer has come. It may have been issued, so it stays as it is. */
  isSent: boolean
  /** Whether an answer is awaited now. */
  isBusy: boolean
  /** Why it was not issued, in words. */
  trouble?: string
  issued?: IssuedDocument
}

/** A document that replaces the one with this hash. */
export type Correction = Issuing & { hash: string; before: Typed }

type Kept = Pick<Issuing, 'id' | 'typed' | 'isSent'>

const NAME = 'issuing'

export function newIssuing(typed = emptyTyped()): Issuing {
  return { id: newId(), typed, problems: [], isSent: false, isBusy: false }
}

export function keptIssuing(): Issuing {
  const found = kept<Kept>(NAME)
  return found === undefined ? newIssuing() : { ...newIssuing(), ...found }
}

export function keepIssuing({ id, typed, isSent }: Issuing): void {
  keep(NAME, { id, typed, isSent } satisfies Kept)
}

export function forgetIssuing(): void {
  forget(NAME)
}

const CORRECTION = 'correction'

export function keptCorrection(): Correction | undefined {
  const found = kept<Kept & Pick<Correction, 'hash' | 'before'>>(CORRECTION)
  return found && { ...newIssuing(), ...found }
}

export function keepCorrection({ id, typed, isSent, hash, before }: Correction): void {
  keep(CORRECTION, { id, typed, isSent, hash, before })
}

export function forgetCorrection(): void {
  forget(CORRECTION)
}
