import * as v from 'valibot'
import { WRITE_ERRORS } from '../core/errors.ts'
import { operation } from '../core/operation.ts'
import { released, revoked, suspended } from './document-operations.ts'
import { CHANGES, revocationReason } from './revisions.ts'
import * as schemas from './schemas.ts'

/** Maximum documents in one request. */
export const MAX_ENTRIES = 10_000

const hex = v.pipe(
  v.string('must be a string'),
  v.regex(/^0x[0-9a-f]{64}$/, 'must be 0x and 64 lower-case hexadecimal digits'),
)

const NAME = {
  publicId: v.exactOptional(
    v.pipe(v.string('must be a string'), v.metadata({ pattern: '^[1-9A-HJ-NP-Za-km-z]{77}$' })),
  ),
  documentHash: v.exactOptional(v.pipe(hex, v.description('In place of the publicId.'))),
  batchRoot: v.exactOptional(
    v.pipe(hex, v.description('Beside the documentHash of a document in a batch.')),
  ),
}
const change = v.strictObject(NAME)
const revocation = v.strictObject({ ...NAME, reason: revocationReason })

/** The check that an entry names one document. */
function oneDocument<T extends v.InferOutput<typeof change>>(entry: v.GenericSchema<unknown, T>) {
  return v.pipe(
    entry,
    v.check(
      ({ publicId, documentHash }) => (publicId === undefined) !== (documentHash === undefined),
      'must have either publicId or documentHash',
    ),
    v.check(
      ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== undefined,
      'must have batchRoot only beside documentHash',
    ),
    v.check(
      ({ documentHash, batchRoot }) => batchRoot === undefined || documentHash !== batchRoot,
      'must name a document of the batch, not the batch',
    ),
  )
}

const MANY = {
  method: 'post',
  tag: 'Documents',
  scope: 'documents:revoke',
  query: {},
  headers: { prefer: schemas.prefer },
  errors: WRITE_ERRORS,
} as const

/** @param changed The data of the same change of one document. */
function answers(changed: typeof revoked | typeof suspended | typeof released) {
  const { publicId: _, ...entries } = changed.entries
  return {
    200: {
      description:
        'One envelope for each entry. Entries that were read are carried out even if the client leaves.',
      content: { 'application/x-ndjson': null },
      lines: v.object({ publicId: v.exactOptional(schemas.publicId), ...entries }),
    },
  }
}

const about = `A JSON array of up to ${MAX_ENTRIES} entries, or NDJSON (\`application/x-ndjson\`). The answer is NDJSON: one envelope for each entry, in order, with its number as \`line\`. A bad entry stops no other.`
const example = { publicId: schemas.EXAMPLE_PUBLIC_ID }

const changes = v.pipe(v.array(change), v.minLength(1))

const REVOKE_MANY = operation({
  ...MANY,
  operationId: 'revokeDocuments',
  path: '/v1/revocations',
  summary: 'Revoke many documents',
  description: about,
  body: {
    schema: v.pipe(v.array(revocation), v.minLength(1)),
    example: [{ ...example, reason: 'keyCompromise' }],
    isNdjsonToo: true,
  },
  responses: answers(revoked),
})
const SUSPEND_MANY = operation({
  ...MANY,
  operationId: 'suspendDocuments',
  path: '/v1/suspensions',
  summary: 'Suspend many documents',
  description: about,
  body: { schema: changes, example: [example], isNdjsonToo: true },
  responses: answers(suspended),
})
const RELEASE_MANY = operation({
  ...MANY,
  operationId: 'releaseDocuments',
  path: '/v1/releases',
  summary: 'Release many suspended documents',
  description: about,
  body: { schema: changes, example: [example], isNdjsonToo: true },
  responses: answers(released),
})

/** The changes of many documents, and what one entry is. */
export const BULK_CHANGES = [
  { operation: REVOKE_MANY, ...CHANGES.revoke, entry: oneDocument(revocation) },
  { operation: SUSPEND_MANY, ...CHANGES.suspend, entry: oneDocument(change) },
  { operation: RELEASE_MANY, ...CHANGES.release, entry: oneDocument(change) },
] as const

export const bulkChangeOperations = [REVOKE_MANY, SUSPEND_MANY, RELEASE_MANY]
