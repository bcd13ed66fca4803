/** The gateway's answer to one request to issue. */
export type Told =
  | {
      kind: 'issued'
      status: 201 | 202
      publicId: string
      /** The status of the document. */
      document: string
      finality?: string
    }
  | { kind: 'refused'; status: number; code: string }
  | { kind: 'unanswered' }

/** One document that a client wants issued, and every answer to it. */
export type Wish = {
  /** The subjectId, by which the oracle recognizes the document on the chain. */
  number: string
  idempotencyKey?: string
  /** Whether to send `Prefer: respond-async`. */
  respondAsync: boolean
  /** The finality to wait for (`?wait=`). */
  wait?: 'finalized'
  told: Told[]
  /** The answers to its revocation requests; absent when it sent none. */
  revocation?: Revocation[]
  /** The last requested change, to suspend or to release it; `done` once a gateway confirmed it. */
  suspension?: { change: 'suspend' | 'release'; done: boolean }
  /** Whether it was requested as the successor of another document. */
  isSuccessor?: boolean
  /** The document that supersedes it, if that was requested. */
  successor?: Wish
  /** The gateways that were asked to erase it; true for those that confirmed. */
  erasure?: Map<number, boolean>
}

/** `done` = it is revoked (200). `promised` = it will be (202). */
export type Revocation = 'done' | 'promised' | 'refused' | 'unanswered'

/** @returns The request body of a wish, which is the same each time. */
export function fieldsOf({ number }: Pick<Wish, 'number'>) {
  return {
    subjectName: `Person ${number}`,
    subjectId: number,
    category: 'fault_test',
    issuedAt: '2026-01-31',
    metadata: { number },
  }
}

/** @returns The publicIds that a gateway promised for a wish. */
export function promisesOf(wish: Wish): string[] {
  const ids = wish.told.flatMap((told) => (told.kind === 'issued' ? [told.publicId] : []))
  return [...new Set(ids)]
}

/** @returns Whether a gateway has promised to revoke or supersede the document, or has done so. */
export function isRevocationPromised({ revocation = [], successor }: Wish): boolean {
  const isSuperseded = successor !== undefined && promisesOf(successor).length > 0
  return isSuperseded || revocation.some((told) => told === 'done' || told === 'promised')
}
