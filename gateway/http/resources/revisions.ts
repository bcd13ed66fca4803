import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import type { JsonValue } from '#document/json.ts'
import type { RevisionIntent } from '#promise/intent.ts'
import type { Revised } from '#promise/revise.ts'
import { REASON_NAMES, REVOCATION_REASONS, reasonName } from '#verifier/reasons.ts'
import { parseBody } from '../core/request.ts'
import { type Addresses, instant } from './present.ts'

/** The reason of a revocation. certificateHold is not allowed, because it is a suspension. */
export const revocationReason = v.optional(
  v.picklist(REASON_NAMES, `must be one of ${REASON_NAMES.join(', ')}`),
  'unspecified',
)
export const revocation = v.strictObject({ reason: revocationReason })
export const nothing = v.strictObject({})

/** How the body of each revision is read, and the name of its time in the response. */
export const REVISIONS = {
  revoke: {
    timeName: 'revokedAt',
    read: (documentHash: Hex, body: JsonValue): RevisionIntent => ({
      kind: 'revoke',
      documentHash,
      reason: REVOCATION_REASONS[parseBody(revocation, body).reason],
    }),
  },
  suspend: {
    timeName: 'suspendedAt',
    read: (documentHash: Hex, body: JsonValue): RevisionIntent => {
      parseBody(nothing, body)
      return { kind: 'suspend', documentHash }
    },
  },
  release: {
    timeName: 'releasedAt',
    read: (documentHash: Hex, body: JsonValue): RevisionIntent => {
      parseBody(nothing, body)
      return { kind: 'release', documentHash }
    },
  },
} as const
type TimeName = (typeof REVISIONS)[keyof typeof REVISIONS]['timeName']

/** @returns The result of a revision, as the REST API returns it. */
export function presentRevised(
  { status, reason, revisedAt, transactionHash }: Revised,
  timeName: TimeName,
  { network }: Addresses,
): object {
  return {
    status,
    ...(timeName !== REVISIONS.release.timeName && { reason: reasonName(reason) }),
    [timeName]: instant(revisedAt),
    network,
    blockchainHash: transactionHash,
  }
}
