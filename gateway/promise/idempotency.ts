import { createHmac } from 'node:crypto'
import type { Hex } from '#document/hex.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import { IssueError } from './errors.ts'
import type { IdempotencyLog } from './ports.ts'

/**
 * Claims a request's idempotency key for its document. The documentHash stands for the whole body:
 * it comes from the key and the exact bytes that were sealed.
 *
 * @throws {IssueError} `idempotency_key_reused` when the key was used for another document.
 */
export async function claimKey(
  log: IdempotencyLog,
  subkeys: IssuerSubkeys,
  request: { tenant: string; idempotencyKey?: string },
  documentHash: Hex,
): Promise<void> {
  const key = keyOf(subkeys, request)
  if (key === undefined) return
  const first = await log.claim(key, documentHash)
  if (first !== documentHash)
    throw new IssueError(
      'idempotency_key_reused',
      'the idempotency key was used for another document',
    )
}

/** @returns Whether a request's idempotency key was claimed while this secret was the newest. */
export async function isClaimed(
  log: IdempotencyLog,
  subkeys: IssuerSubkeys,
  request: { tenant: string; idempotencyKey?: string },
): Promise<boolean> {
  const key = keyOf(subkeys, request)
  return key !== undefined && log.has(key)
}

/** A keyed hash, since a client's key may be guessable: an order number, a name. */
function keyOf(
  subkeys: IssuerSubkeys,
  { tenant, idempotencyKey }: { tenant: string; idempotencyKey?: string },
): Buffer | undefined {
  if (idempotencyKey === undefined) return undefined
  return createHmac('sha256', subkeys.salt)
    .update(JSON.stringify(['idempotency-log', tenant, idempotencyKey]))
    .digest()
}
