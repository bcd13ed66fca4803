import { createHmac } from 'node:crypto'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { BatchClaim, BatchLog } from '#promise/batch-log.ts'
import { IssueError } from '#promise/errors.ts'
import type { AllSubkeys } from '#promise/sealing.ts'
import type { BatchRequest } from './batch.ts'
import type { Checked } from './lines.ts'
import type { Upload } from './upload.ts'

/** Without a key, the content is the key. */
export function keyOf({ idempotencyKey }: BatchRequest, { sha256 }: Checked): string {
  return idempotencyKey ?? sha256.toString('hex')
}

/**
 * Whose keys a request shares. The categories decide which lines are documents, and so which batch
 * it is.
 */
export function tenantOf({ tenant, categories = [] }: BatchRequest): string {
  return JSON.stringify(['batch', tenant, categories])
}

/** Identifies a request. A keyed hash, since a client's key may be guessable. */
export function requestOf(subkeys: IssuerSubkeys, request: BatchRequest, checked: Checked): Buffer {
  return createHmac('sha256', subkeys.salt)
    .update(JSON.stringify(['batch-request', tenantOf(request), keyOf(request, checked)]))
    .digest()
}

/**
 * @returns The first use of a request's key, and the secret that sealed it.
 * @throws {IssueError} `idempotency_key_reused` when it was used for another body.
 */
export async function findClaim(
  { log, allSubkeys }: { log: BatchLog; allSubkeys: AllSubkeys },
  request: BatchRequest,
  checked: Checked,
): Promise<(BatchClaim & { subkeys: IssuerSubkeys }) | undefined> {
  for (const subkeys of allSubkeys) {
    const found = await log.find(requestOf(subkeys, request, checked))
    if (found) return { ...assertSame(found, checked), subkeys }
  }
  return undefined
}

/** @throws {IssueError} `idempotency_key_reused`, `overloaded`. */
export async function claim(log: BatchLog, id: Uint8Array, upload: Upload): Promise<void> {
  const { sha256: content, now } = upload
  const first = await log.claim(id, { content, checkedAt: now })
  assertSame(first, upload)
  // Another request came first, at this moment; a repeat finds its claim.
  if (first.checkedAt !== now) throw new IssueError('overloaded', 'the same batch is under way')
}

function assertSame(first: BatchClaim, { sha256 }: Checked): BatchClaim {
  if (sha256.equals(first.content)) return first
  throw new IssueError('idempotency_key_reused', 'the key was used for another body')
}
