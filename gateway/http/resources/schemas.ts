import * as v from 'valibot'
import { EVENT_TYPES, parseEventId } from '#events/events.ts'
import { SCOPES } from '#keys/grant.ts'
import { FINALITIES } from '#verifier/ports.ts'
import { REASON_NAMES } from '#verifier/reasons.ts'
import type { CheckName, VerdictStatus } from '#verifier/verdict.ts'

// Schemas for /openapi.json that several routes share. They use `v.object`, because clients must
// accept members that a later version adds.

/**
 * The publicId of a test vector, for examples. It is well-formed, but no document was issued with
 * it.
 */
export const EXAMPLE_PUBLIC_ID =
  '7w73KCx2eDtP1xVYN9Dqd38swsTEGmWn4rqntr5SvjA1kwLLdpgdg9uT4zayJGu8iuNSF4DLzmt44'
export const EXAMPLE_HASH = '0x238b78d7722c0449944320f7c2f22490f31316fa174b8d073a41872072c5ee32'
export const EXAMPLE_TRANSACTION =
  '0x43b69afa67a04d04ed574c5df1b897a4427ab96ac40bda3be0a38f81bd5d6c82'
export const EXAMPLE_REGISTRY = 'eip155:31337:0xe7f24303d9fa85c704023d5ca6ada8a8c444c788'
export const EXAMPLE_WEBHOOK_ID = 'wh_0123456789abcdef01234567'
/** The host name can be resolved; a service refuses any other. */
export const EXAMPLE_RECEIVER = 'https://example.com/events'

export const publicId = v.pipe(
  v.string(),
  v.regex(/^[1-9A-HJ-NP-Za-km-z]{77}$/),
  v.description('Names a document and opens it, so it is as secret as the document itself.'),
)
/**
 * A publicId in a request. The schema only describes it: `decodePublicId` checks it and reports
 * `bad_public_id`.
 */
export const sentPublicId = v.pipe(
  v.string(),
  v.metadata({
    pattern: '^[1-9A-HJ-NP-Za-km-z]{77}$',
    description: 'The publicId of the document.',
    examples: [EXAMPLE_PUBLIC_ID],
  }),
)
/** A publicId or a documentHash. The handler finds out which of them it is and whose. */
export const documentName = v.pipe(
  v.string(),
  v.metadata({
    pattern: '^([1-9A-HJ-NP-Za-km-z]{77}|0x[0-9a-f]{64})$',
    description: 'The publicId of the document, or its documentHash.',
    examples: [EXAMPLE_PUBLIC_ID],
  }),
)
/** Who acted. */
export const actor = v.pipe(
  v.nullable(
    v.object({
      kind: v.picklist(['person', 'key']),
      id: v.string(),
      label: v.nullable(v.string()),
    }),
  ),
  v.description(
    'The person or API key that asked for it, with the name or label of that time; `null` for a command, for what is from before actors were recorded, and for an actor of another tenant.',
  ),
)
export const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/))
export const address = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{40}$/))
const hex = v.pipe(v.string(), v.regex(/^0x([0-9a-f]{2})*$/))
export const registry = v.pipe(
  v.string(),
  v.regex(/^eip155:[1-9][0-9]*:0x[0-9a-f]{40}$/),
  v.description('The CAIP-10 account ID of the registry, in lower case.'),
)
/** An RFC 3339 time in UTC, to the second. */
export const instant = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
/** An RFC 3339 time in UTC, to the millisecond. */
export const time = v.pipe(v.string(), v.isoTimestamp())
const day = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
/** The answer about what was removed. */
export const removed = v.object({ id: v.string(), deleted: v.literal(true) })
export const url = v.pipe(v.string(), v.url())
export const network = v.pipe(
  v.picklist(['test', 'live']),
  v.description(
    '`live`: a chain that is known to carry real documents, or that the operator named. A document on any other chain proves nothing.',
  ),
)
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const issuerId = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(0xffff_ffff),
  v.description("The issuer's number in the registry."),
)
export const finality = v.picklist(FINALITIES)
export const scope = v.picklist(SCOPES)
export const eventType = v.picklist(EVENT_TYPES)
export const reason = v.pipe(
  v.picklist([...REASON_NAMES, 'certificateHold']),
  v.description('The reason of RFC 5280 §5.3.1; `certificateHold` is a suspension.'),
)

const VERDICTS = [
  'valid',
  'expired',
  'suspended',
  'revoked',
  'superseded',
  'distrusted',
  'not_issued',
  'erased',
  'wrong_key',
  'tampered',
] satisfies VerdictStatus[]
export const status = v.pipe(
  v.picklist([...VERDICTS, 'pending']),
  v.description('`pending`: promised by this gateway but not on the chain yet.'),
)

const CHECKS = [
  'batch',
  'chain',
  'record',
  'issuer',
  'identity',
  'supersession',
  'revocation',
  'suspension',
  'payload',
  'key',
  'content',
  'expiry',
  'dating',
  'event',
] satisfies CheckName[]
export const check = v.object({
  check: v.picklist(CHECKS),
  outcome: v.picklist(['pass', 'fail', 'unknown']),
  code: v.pipe(v.string(), v.regex(/^[a-z_0-9]+$/), v.description('The reason, as a stable code.')),
})

/** The fields of an issued document, with its status now. */
const presented = {
  publicId,
  subjectName: v.string(),
  subjectId: v.string(),
  category: v.string(),
  metadata: v.exactOptional(v.record(v.string(), v.string())),
  supersedes: v.exactOptional(
    v.pipe(hash, v.description('The documentHash of the document that this one supersedes.')),
  ),
  supersededBy: v.exactOptional(
    v.pipe(hash, v.description('The documentHash of its successor, if this gateway issued it.')),
  ),
  issuedAt: day,
  expiresAt: v.exactOptional(v.pipe(day, v.description('The last valid day.'))),
  validUntil: v.exactOptional(
    v.pipe(instant, v.description('The first instant at which it is no longer valid.')),
  ),
  createdAt: v.exactOptional(
    v.pipe(
      instant,
      v.description(
        'When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved.',
      ),
    ),
  ),
  registry,
  issuerId,
  documentHash: v.pipe(hash, v.description('The key of its record and the digest of its CID.')),
  blockchainHash: v.pipe(
    v.nullable(hash),
    v.description(
      'The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`.',
    ),
  ),
  status,
  network,
  qrCodeUrl: url,
  verifyUrl: url,
}
export const documentSchema = v.object(presented)
/** The members of a document that a list omits when the document could not be opened. */
export const CONTENTS = [
  'publicId',
  'subjectName',
  'subjectId',
  'category',
  'metadata',
  'supersedes',
  'issuedAt',
  'expiresAt',
  'validUntil',
  'qrCodeUrl',
  'verifyUrl',
] as const

export const account = v.object({
  address,
  addedBlock: count,
  changedBlock: v.nullable(count),
  retiredBlock: v.nullable(count),
  distrustedFrom: v.pipe(
    v.nullable(count),
    v.description('From this block on, its actions are not trusted.'),
  ),
})
export const stateProof = v.object({
  header: hex,
  accountProof: v.array(hex),
  storageProof: v.array(v.object({ key: hash, value: hash, proof: v.array(hex) })),
})
export const blockchainProof = v.object({
  chainId: count,
  registry,
  documentHash: hash,
  batchRoot: v.nullable(hash),
  issuer: v.object({
    id: issuerId,
    account: address,
    name: v.string(),
    uri: v.string(),
    domain: v.nullable(v.string()),
    closedBlock: v.pipe(
      v.nullable(count),
      v.description("The block in which the registry's admin closed the issuer."),
    ),
    closedAt: v.pipe(
      v.nullable(instant),
      v.description('The time of that block; null also when it could not be read.'),
    ),
  }),
  account,
  transactionHash: v.nullable(hash),
  blockNumber: count,
  blockHash: v.nullable(hash),
  blockTime: instant,
  logIndex: v.nullable(count),
  finality: v.nullable(finality),
  validUntil: v.nullable(instant),
  revokedAt: v.nullable(instant),
  reason: v.nullable(reason),
  releasedAt: v.pipe(
    v.nullable(instant),
    v.description(
      'A release does not count if the revoker is distrusted from that block or an earlier one.',
    ),
  ),
  revoker: v.nullable(account),
  revokedBlock: v.pipe(
    v.nullable(count),
    v.description('The block in which the revoker revoked, suspended or released it.'),
  ),
  setAside: v.boolean(),
  stateProof: v.exactOptional(stateProof),
})
/** With `proof=full`, the proof for a document without a record. */
export const absenceProof = v.object({
  chainId: count,
  registry,
  documentHash: hash,
  stateProof,
})
/** A document as issued, with its data from the chain. */
export const retrieved = v.object({
  ...presented,
  blockchainProof: v.exactOptional(blockchainProof),
})

export const fieldProblem = v.object({ field: v.string(), message: v.string() })

/** Request headers of the routes that wait for a block. */
export const prefer = v.exactOptional(
  v.pipe(
    v.string(),
    v.metadata({
      description:
        '`respond-async` (RFC 7240): answer 202 as soon as the promise is durable, without waiting for a block.',
      examples: ['respond-async'],
    }),
  ),
)
export const idempotencyKey = v.exactOptional(
  v.pipe(
    v.string(),
    v.metadata({
      description:
        'The same key and body give the same document, at any time. 1 to 255 printable ASCII characters, in double quotes, or without quotes if it has no space. Send one if you retry.',
      examples: ['"order-4711"'],
      pattern: '^("[\\x20-\\x21\\x23-\\x7e]{1,255}"|[\\x21\\x23-\\x7e]{1,255})$',
    }),
  ),
)

/** A pattern for the month and day of a date in a request. It allows February 29 in every year. */
export const SENT_DAY =
  '((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-9])|(0[13-9]|1[0-2])-30|(0[13578]|1[02])-31)' +
  '(T00:00:00([.]0{1,9})?Z)?$'

/** The id of an event in a request. */
export const eventId = v.pipe(
  v.string('must be the id of an event'),
  v.check((text) => parseEventId(text) !== undefined, 'must be the id of an event'),
  v.metadata({ pattern: '^evt_(0|[1-9][0-9]{0,14})_[1-9][0-9]{0,14}$' }),
)

export const flag = v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false')

/** A whole number from 1 to `max` in a query, which OpenAPI describes as an integer. */
export function sentLimit(max: number, fallback: number) {
  return v.pipe(
    v.optional(
      v.pipe(
        v.string(),
        v.check(
          (text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= max,
          `must be a whole number from 1 to ${max}`,
        ),
        v.transform(Number),
      ),
      String(fallback),
    ),
    v.metadata({ type: 'integer', minimum: 1, maximum: max, default: fallback }),
  )
}

/** A body of lines. Generated clients accept a stream or bytes for it. */
export const ndjson = v.pipe(v.string(), v.metadata({ format: 'binary', minLength: 1 }))
