import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import type { Hex } from '#document/hex.ts'
import type { ListedDocument, ListPage } from '#documents/list.ts'
import { type Grant, tenantOf } from '#keys/grant.ts'
import { dayOf } from '#promise/blind-index.ts'
import { LISTED_STATUSES } from '#promise/document-index.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { unverifiable } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { parseBody, readOptionalJson } from '../core/request.ts'
import type { AppDeps } from '../deps.ts'
import { type Addresses, createdAtOf, presentDocument } from './present.ts'
import * as schemas from './schemas.ts'

/** The maximum number of documents in one answer. */
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 20
const LIMIT_MESSAGE = `must be a whole number from 1 to ${MAX_LIMIT}`

/** A cursor contains a place in the index. Its form may change. */
const CURSOR = /^p[0-9a-z]{1,11}$/

const isDate = (text: string) => {
  const date = text.slice(0, 'YYYY-MM-DD'.length)
  return (
    /^\d{4}-\d{2}-\d{2}(T00:00:00(\.0{1,9})?Z)?$/.test(text) &&
    new Date(dayOf(date) * 86_400_000).toJSON()?.startsWith(date) === true
  )
}
const date = v.pipe(
  v.string('must be a string'),
  v.check(isDate, 'must be a real date, YYYY-MM-DD'),
  v.metadata({ pattern: `^[0-9]{4}-${schemas.SENT_DAY}` }),
  v.transform((text) => dayOf(text.slice(0, 'YYYY-MM-DD'.length))),
)

const createdDay = v.pipe(date, v.description('A day of `createdAt` in UTC, inclusive.'))

const FILTERS = {
  status: v.exactOptional(
    v.picklist(LISTED_STATUSES, `must be one of ${LISTED_STATUSES.join(', ')}`),
  ),
  category: v.exactOptional(v.pipe(v.string('must be a string'), v.maxLength(64, 'is too long'))),
  /** The first `issuedAt`, inclusive. */
  issuedFrom: v.exactOptional(date),
  issuedTo: v.exactOptional(date),
  createdFrom: v.exactOptional(createdDay),
  createdTo: v.exactOptional(createdDay),
  batchRoot: v.exactOptional(
    v.pipe(
      v.string('must be a string'),
      v.regex(/^0x[0-9a-f]{64}$/, 'must be 0x and 64 hexadecimal digits in lower case'),
      v.description('Only documents of the batch with this root.'),
      v.transform((root) => root as Hex),
    ),
  ),
  cursor: v.exactOptional(
    v.pipe(
      v.string('must be a string'),
      v.check(isCursor, 'must be the nextCursor of a page'),
      v.metadata({ pattern: CURSOR.source, description: 'The nextCursor of a page.' }),
    ),
  ),
}

const PARAMETERS = {
  ...FILTERS,
  limit: schemas.sentLimit(MAX_LIMIT, DEFAULT_LIMIT),
}

const BODY_FIELDS = {
  ...FILTERS,
  subjectId: v.exactOptional(
    v.pipe(v.string('must be a string'), v.regex(/^[0-9]{1,64}$/, 'must be 1 to 64 digits 0-9')),
  ),
  limit: v.optional(
    v.pipe(
      v.number(LIMIT_MESSAGE),
      v.integer(LIMIT_MESSAGE),
      v.minValue(1, LIMIT_MESSAGE),
      v.maxValue(MAX_LIMIT, LIMIT_MESSAGE),
    ),
    DEFAULT_LIMIT,
  ),
}
export const searchBody = v.strictObject(BODY_FIELDS, 'unknown field')

type Filters = v.InferOutput<typeof searchBody>

/** A document whose content could not be opened or was erased. */
export const unopened = v.omit(schemas.documentSchema, schemas.CONTENTS)
const PAGE = {
  description: 'A page.',
  data: v.object({
    documents: v.array(v.union([schemas.documentSchema, unopened])),
    nextCursor: v.pipe(
      v.nullable(v.string()),
      v.description('The cursor of the next page; null on the last page.'),
    ),
  }),
}

const NO_NAMES =
  'There is no search by name: the service stores no name in clear. Search by subjectId, or in your own tables.'

const LIST = operation({
  operationId: 'listDocuments',
  route: 'GET /v1/documents',
  tag: 'Documents',
  summary: 'List documents, the newest first',
  description: `Returns documents of the key's tenant; with the scope \`admin\`, of all tenants. They are in the order in which they were accepted; after a recovery, in the order of their blocks. ${NO_NAMES}`,
  scope: 'documents:read',
  query: PARAMETERS,
  answer: PAGE,
  errors: ['unverifiable', 'chain_unavailable', 'store_unavailable'],
})

const SEARCH = operation({
  operationId: 'searchDocuments',
  route: 'POST /v1/documents/search',
  tag: 'Documents',
  summary: 'Search documents, also by subjectId',
  description: `Same as the list. The subjectId is in the body, because proxies log addresses. ${NO_NAMES}`,
  scope: 'documents:read',
  body: { schema: searchBody, example: { subjectId: '18151210', limit: 10 }, isOptional: true },
  answer: PAGE,
  errors: ['unverifiable', 'chain_unavailable', 'store_unavailable'],
})

/** Serves lists of the documents of the key's tenant. */
export const listRoutes = resource(
  [LIST, SEARCH],
  (serve, deps) => {
    serve(LIST, async (c) => {
      const page = await listFor(deps, c.get('grant'), c.get('query'))
      return succeed(c, LIST, presentPage(deps.addresses, page))
    })

    serve(SEARCH, async (c) => {
      const filters = parseBody(searchBody, await readOptionalJson(c))
      const page = await listFor(deps, c.get('grant'), filters)
      return succeed(c, SEARCH, presentPage(deps.addresses, page))
    })
  },
  { Search: searchBody, UnopenedDocument: unopened },
)

/** @throws {ApiError} `unverifiable` when the newest block of the node is too old. */
async function listFor(
  { listing, verifyOptions, newDeadline }: AppDeps,
  grant: Grant,
  { cursor, batchRoot: batch, ...filters }: Filters,
): Promise<ListPage> {
  const before = cursor === undefined ? undefined : parseCursor(cursor)
  const page = await listing.list(
    { ...filters, batch, tenant: tenantOf(grant), before },
    newDeadline(),
  )
  const { maxHeadAge = Number.POSITIVE_INFINITY } = verifyOptions
  if (page.asOf !== null && clock.wall() / 1000 - page.asOf > maxHeadAge)
    throw unverifiable([{ check: 'chain', outcome: 'unknown', code: 'head_stale' }])
  return page
}

function presentPage(
  addresses: Addresses,
  { documents, next }: ListPage,
): AnswerOf<typeof PAGE.data> {
  return {
    documents: documents.map((one) => presentListed(addresses, one)),
    nextCursor: next === null ? null : formatCursor(next),
  }
}

/** @returns A listed document. Without its contents, it has only what is public. */
function presentListed(
  addresses: Addresses,
  { opened, ...listed }: ListedDocument,
): AnswerOf<typeof schemas.documentSchema | typeof unopened> {
  if (opened) return presentDocument(addresses, opened.document, { ...listed, ...opened })
  const { registry, issuerId, network } = addresses
  return {
    registry,
    issuerId,
    ...createdAtOf(listed),
    documentHash: listed.documentHash,
    blockchainHash: listed.transactionHash,
    status: listed.status,
    network,
  }
}

/** @returns The cursor of the next page, which begins below a place. */
function formatCursor(place: number): string {
  return `p${place.toString(36)}`
}

/** @returns Whether a text is a cursor. */
function isCursor(text: string): boolean {
  return CURSOR.test(text) && Number.isSafeInteger(parseCursor(text))
}

/** @param text A cursor. @returns The place that it contains. */
function parseCursor(text: string): number {
  return Number.parseInt(text.slice(1), 36)
}
