import type { Found } from '#promise/anchoring.ts'
import type { DocumentKey } from '#verifier/ports.ts'
import type { VerdictStatus } from '#verifier/verdict.ts'
import { HEAD_BEHIND, unverifiable } from './errors.ts'

/** The state of the action to issue this document; `undefined` when the outbox has none. */
export type FindIssue = (key: DocumentKey) => Promise<Found | undefined>

/**
 * @param status The status in the verdict. Only a document that reads as not issued can be
 * promised.
 * @returns Whether this gateway promised the document and it is not on the chain yet.
 * @throws {ApiError} `unverifiable` when this gateway has seen the document on the chain, because
 * the node is then behind.
 */
export async function isPromised(
  findIssue: FindIssue,
  key: DocumentKey,
  status: VerdictStatus,
): Promise<boolean> {
  if (status !== 'not_issued') return false
  const found = await findIssue(key)
  if (found?.outcome.status === 'anchored') throw unverifiable(HEAD_BEHIND)
  return found !== undefined
}
