import type { Context } from 'hono'
import * as v from 'valibot'
import { fromCanonical } from '#document/canonical.ts'
import { category } from '#document/document.ts'
import { readKind, typeMetadata } from '#document/kind.ts'
import type { AnswerOf } from '#http/core/answers.ts'
import type { Env } from '#http/core/env.ts'
import { succeed } from '#http/core/envelope.ts'
import { ApiError, invalid } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeAddress } from '#http/core/rate-limits.ts'
import { readJson } from '#http/core/request.ts'
import type { AppDeps } from '#http/deps.ts'
import * as schemas from '#http/resources/schemas.ts'
import type { Kinds, KnownKind } from './kinds.ts'

const version = v.pipe(v.number(), v.integer(), v.minValue(1))
const kindSchema = v.object({
  category: v.string(),
  version: v.pipe(version, v.description('Grows by one with each change.')),
  updatedAt: schemas.time,
  metadata: v.pipe(
    v.record(v.string(), v.unknown()),
    v.description('The SD-JWT VC Type Metadata, as wallets read it at its `vct`.'),
  ),
})

const EXAMPLE_METADATA = {
  display: [
    { locale: 'en', name: 'Diploma' },
    { locale: 'de', name: 'Zeugnis' },
  ],
  claims: [
    {
      path: ['metadata', 'degree'],
      display: [
        { locale: 'en', label: 'Degree' },
        { locale: 'de', label: 'Studienabschluss' },
      ],
      mandatory: true,
      document_registry: { type: 'choice', choices: ['Bachelor', 'Master'] },
    },
  ],
  document_registry: { template: 'diploma' },
}
const EXAMPLE = {
  category: 'diploma',
  version: 1,
  updatedAt: '2026-11-21T08:36:39.000Z',
  metadata: { vct: 'https://documents.example/v1/types/1/diploma/1', ...EXAMPLE_METADATA },
}

const KINDS = { tag: 'Kinds' } as const
const ofPath = v.pipe(v.string(), v.metadata({ examples: [EXAMPLE.category] }))
/** The common part of changes. The version keeps people from overwriting each other's changes. */
const CHANGE = {
  ...KINDS,
  scope: 'admin',
  parameters: { category: ofPath },
  query: {
    version: v.exactOptional(
      v.pipe(
        v.string(),
        v.regex(/^(0|[1-9][0-9]{0,8})$/, 'must be a version'),
        v.description('The version that must hold before the change; 0 = none. Absent = any.'),
      ),
    ),
  },
} as const

const LIST = operation({
  ...KINDS,
  operationId: 'listKinds',
  route: 'GET /v1/kinds',
  scope: 'documents:issue',
  summary: 'List the kinds of documents',
  answer: {
    description: 'The kinds that hold now, by category.',
    data: v.object({ kinds: v.array(kindSchema) }),
    example: { kinds: [EXAMPLE] },
  },
  errors: ['store_unavailable'],
})

const PUT = operation({
  ...CHANGE,
  operationId: 'putKind',
  route: 'PUT /v1/kinds/:category',
  summary: 'Define a kind of documents',
  description:
    'From then on, documents of this category are issued only if they fit. Issued documents stay as they are. `vct` is set by the service.',
  body: { schema: typeMetadata, example: EXAMPLE_METADATA },
  answer: {
    description: 'The kind that holds now. Without a change, its version stays.',
    data: kindSchema,
    example: EXAMPLE,
  },
  errors: ['kind_changed', 'too_many_kinds', 'store_unavailable'],
})

const REMOVE = operation({
  ...CHANGE,
  operationId: 'removeKind',
  route: 'DELETE /v1/kinds/:category',
  summary: 'Remove a kind of documents',
  description:
    'Documents of this category are free again. The versions stay at their addresses for wallets.',
  answer: {
    description: 'The kind is removed.',
    data: v.object({ category: v.string(), deleted: v.literal(true) }),
    example: { category: EXAMPLE.category, deleted: true },
  },
  errors: ['not_found', 'kind_changed', 'store_unavailable'],
})

/** The common part of the public routes. */
const TYPE = {
  tag: 'Public',
  scope: 'public',
  anyOrigin: true,
  parameters: {
    issuerId: v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,9}$/), v.metadata({ examples: ['1'] })),
    category: ofPath,
  },
  answer: {
    description: 'The file in canonical form.',
    content: { 'application/json': v.objectWithRest({ vct: v.string() }, v.unknown()) },
  },
  errors: ['not_found', 'store_unavailable'],
} as const

const VERSION = /^[1-9][0-9]{0,8}$/

const CURRENT_TYPE = operation({
  ...TYPE,
  operationId: 'retrieveType',
  route: 'GET /v1/types/:issuerId/:category',
  summary: 'Retrieve the type metadata of a category',
  description:
    "What the issuer says about the documents of a category (SD-JWT VC Type Metadata): the names of its fields. It is the issuer's statement and proves nothing.",
})

const TYPE_VERSION = operation({
  ...TYPE,
  operationId: 'retrieveTypeVersion',
  route: 'GET /v1/types/:issuerId/:category/:version',
  summary: 'Retrieve a version of type metadata',
  description: 'The address is the `vct` of credentials. Its bytes never change.',
  parameters: {
    ...TYPE.parameters,
    version: v.pipe(v.string(), v.regex(VERSION), v.metadata({ examples: ['1'] })),
  },
})

const OPERATIONS = [LIST, PUT, REMOVE, CURRENT_TYPE, TYPE_VERSION]

type Deps = Pick<AppDeps, 'addresses' | 'log'> & { kinds: Kinds }

/** Serves the kinds of documents: to issuers for the desk and docreg, and to everybody as files. */
export const kindRoutes = resource<Deps>(OPERATIONS, (serve, { kinds, addresses, log }) => {
  serve(LIST, async (c) => succeed(c, LIST, { kinds: (await kinds.list()).map(present) }))

  serve(PUT, async (c) => {
    const named = categoryOf(c.req.param('category'))
    const read = readKind(await readJson(c), named)
    if ('problems' in read) throw invalid('bad_fields', read.problems)
    const put = await kinds.put(read.kind, basedOn(c.get('query')))
    log.info('kind_put', { version: put.version, by: c.get('grant').id })
    return succeed(c, PUT, present(put))
  })

  serve(REMOVE, async (c) => {
    const named = c.req.param('category')
    await kinds.remove(named, basedOn(c.get('query')))
    log.info('kind_removed', { by: c.get('grant').id })
    return succeed(c, REMOVE, { category: named, deleted: true })
  })

  const serveFile = async (c: Context<Env>, issuerId: string, named: string, version?: string) => {
    await chargeAddress(c)
    const isOwn = issuerId === String(addresses.issuerId) && v.is(category, named)
    const isVersion = version === undefined || VERSION.test(version)
    const number = version === undefined ? undefined : Number(version)
    const file = isOwn && isVersion ? await kinds.file(named, number) : undefined
    if (!file) throw new ApiError('not_found', 'no such type')
    return c.body(new Uint8Array(file), 200, {
      'Content-Type': 'application/json',
      'Cache-Control': version === undefined ? 'public, max-age=60' : IMMUTABLE,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'",
    })
  }
  serve(CURRENT_TYPE, (c) => serveFile(c, c.req.param('issuerId'), c.req.param('category')))
  serve(TYPE_VERSION, (c) =>
    serveFile(c, c.req.param('issuerId'), c.req.param('category'), c.req.param('version')),
  )
})

const IMMUTABLE = 'public, max-age=31536000, immutable'

function basedOn({ version }: { version?: string }): number | undefined {
  return version === undefined ? undefined : Number(version)
}

/** @throws {ApiError} `bad_fields` */
function categoryOf(named: string): string {
  const read = v.safeParse(category, named)
  if (read.success) return read.output
  throw invalid('bad_fields', [{ field: 'category', message: read.issues[0].message }])
}

function present({ category, version, bytes, begunAt }: KnownKind): AnswerOf<typeof kindSchema> {
  const metadata = fromCanonical(bytes) as Record<string, unknown>
  return { category, version, updatedAt: new Date(begunAt).toISOString(), metadata }
}
