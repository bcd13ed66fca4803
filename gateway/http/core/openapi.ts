import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema'
import * as v from 'valibot'
import * as schemas from '../resources/schemas.ts'
import { type ApiErrorCode, ERRORS } from './error-table.ts'
import {
  aliasOf,
  type Components,
  type DescribedResource,
  errorsOf,
  type Operation,
  type SecuritySchemes,
  type Success,
  scopesOf,
  TAGS,
} from './operation.ts'
import { NDJSON } from './request.ts'

type Json = Record<string, unknown>

const COMPONENT_PREFIX = '#/components/schemas/'

/** Describes a schema as JSON Schema, with references to the components. */
type Convert = (schema: v.GenericSchema) => Json

const configOf = (components: Components): ConversionConfig => ({
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'throw',
  // These rules are described by `v.metadata` or a description next to them.
  ignoreActions: ['check', 'partial_check', 'raw_check'],
  overrideRef: ({ referenceId }) => `${COMPONENT_PREFIX}${referenceId}`,
  overrideSchema: ({ valibotSchema, jsonSchema }) =>
    portable(components, valibotSchema, jsonSchema),
})

/**
 * Says the same in words that generators of clients understand. They trip over a constant without a
 * type, over `anyOf` with `null` for all but objects, and over sets of an enum without a name.
 */
function portable(
  components: Components,
  schema: v.GenericSchema,
  json: JsonSchema,
): JsonSchema | undefined {
  if (json.const !== undefined) return constantOf(json.const)
  if (schema.type === 'nullable')
    return nullableOf(components, schema as v.NullableSchema<v.GenericSchema, null>)
  const item = schema.type === 'array' ? (json.items as JsonSchema).enum : undefined
  const named =
    item && Object.entries(components).find(([, one]) => 'options' in one && one.options === item)
  return named && { ...json, items: { $ref: `${COMPONENT_PREFIX}${named[0]}` } }
}

/** A boolean without its only value, which generators make no type of. */
function constantOf(value: unknown): JsonSchema {
  if (typeof value === 'boolean') return { type: 'boolean' }
  return {
    type: typeof value === 'number' ? 'integer' : 'string',
    enum: [value as string | number],
  }
}

function nullableOf(
  components: Components,
  { wrapped }: v.NullableSchema<v.GenericSchema, null>,
): JsonSchema | undefined {
  const config = { ...configOf(components), definitions: {} }
  const { $schema: _, ...inner } = toJsonSchema(wrapped, config)
  if (typeof inner.type !== 'string' || inner.type === 'object') return undefined
  return {
    ...inner,
    type: [inner.type, 'null'],
    ...(inner.enum && { enum: [...inner.enum, null] }),
  }
}

/**
 * The schemas that /openapi.json names, and with them the types of generated clients. Each resource
 * brings those that are its own. Every other schema is written where it is used, and generators
 * invent a name for each place.
 */
const SHARED: Components = {
  Document: schemas.documentSchema,
  RetrievedDocument: schemas.retrieved,
  Check: schemas.check,
  BlockchainProof: schemas.blockchainProof,
  StateProof: schemas.stateProof,
  Account: schemas.account,
  EventType: schemas.eventType,
  Scope: schemas.scope,
  PublicId: schemas.publicId,
  Hash: schemas.hash,
  Instant: schemas.instant,
  Status: schemas.status,
  Reason: schemas.reason,
  Finality: schemas.finality,
  Network: schemas.network,
  FieldProblem: schemas.fieldProblem,
}

/** The envelope of every failure. */
const failure = v.object({
  success: v.literal(false),
  data: v.strictObject({}),
  error: v.object({
    code: v.pipe(
      v.picklist(Object.keys(ERRORS) as ApiErrorCode[]),
      v.description('Stable. `/docs#error-<code>` says what to do.'),
    ),
    message: v.pipe(v.string(), v.description('A text for people, which may change.')),
    details: v.exactOptional(v.array(v.union([schemas.fieldProblem, schemas.check]))),
    requestId: v.string(),
  }),
})

/**
 * @param service The address of the service, without a slash at the end, and its version.
 * @returns The OpenAPI 3.1 document of these resources, as JSON.
 */
export function describeApi(
  resources: readonly DescribedResource[],
  { baseUrl, version }: { baseUrl: string; version: string },
): Json {
  const operations = resources.flatMap((one) => one.operations)
  const components: Components = Object.assign(
    {},
    ...resources.map((one) => one.components),
    SHARED,
  )
  const config = configOf(components)
  const names = new Map<unknown, string>(
    Object.entries(components).map(([name, one]) => [one, name]),
  )
  const convert: Convert = (schema) => {
    const definitions = componentsIn(schema, names)
    const converted = toJsonSchema(schema, { ...config, definitions })
    const { $schema: _, $defs: __, ...json } = converted as Json
    return json
  }
  const added: SecuritySchemes = Object.assign(
    {},
    ...resources.map(({ security }) => security(baseUrl)),
  )
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(convert, operation, Object.keys(added)),
    }
  }
  const used = new Set<string>(operations.map(({ tag }) => tag))
  return {
    openapi: '3.1.0',
    info: {
      title: 'document-registry',
      version,
      summary: 'Issues documents with a QR code that anybody can check against a blockchain.',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer' },
        ...added,
      },
      schemas: { ...toJsonSchemaDefs(components, config), Failure: convert(failure) },
    },
  }
}

/**
 * The library converts all definitions again with each schema, which took ten times as long.
 *
 * @returns The components to which a schema refers by itself.
 */
function componentsIn(part: unknown, names: ReadonlyMap<unknown, string>): Components {
  if (typeof part !== 'object' || part === null) return {}
  const name = names.get(part)
  if (name !== undefined) return { [name]: part as v.GenericSchema }
  return Object.assign({}, ...Object.values(part).map((one) => componentsIn(one, names)))
}

const INTRODUCTION = `Send your API key as \`Authorization: Bearer <key>\`, and JSON as
\`Content-Type: application/json\`. (The desk has the cookie of a session instead, and sends its
token as \`X-CSRF-Token\` with everything but GET.) Give each request that issues an \`Idempotency-Key\`: then it can
be repeated. 429 and 503 say with \`Retry-After\` when.

Every JSON answer is an object with \`success\` and \`data\`. A failure has an empty
\`data\`, and an \`error\` with a stable \`code\`.

\`/v1\` is the version. \`/api\` is another name of it: each operation under \`/v1/\` is served under
\`/api/\` too. Within the version nothing is removed or changes its meaning; answers may gain members.
Every GET answers HEAD as well.`

function describeOperation(
  convert: Convert,
  operation: Operation,
  signIns: readonly string[],
): Json {
  const { operationId, tag, summary, description, body, path } = operation
  const alias = aliasOf(path)?.replaceAll(/:(\w+)/g, '{$1}')
  const text = [description, alias && `Alias: \`${alias}\`.`].filter(Boolean).join('\n\n')
  const parameters = [
    ...describeParameters(convert, 'path', operation.parameters),
    ...describeParameters(convert, 'query', operation.query),
    ...describeParameters(convert, 'header', operation.headers),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(text && { description: text }),
    ...(alias && { 'x-alias': alias }),
    security: securityOf(operation, signIns),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(convert, body) }),
    responses: {
      ...describeSuccesses(convert, operation),
      ...describeFailures(convert, operation),
    },
  }
}

/** @param signIns The security schemes for people. */
function securityOf(operation: Operation, signIns: readonly string[]): Json[] {
  if (operation.scope === 'public') return []
  if (operation.scope === 'session') return signIns.map((name) => ({ [name]: [] }))
  const scopes = scopesOf(operation)
  return ['apiKey', ...signIns].map((name) => ({ [name]: scopes }))
}

function describeBody(convert: Convert, body: NonNullable<Operation['body']>): Json {
  const { schema, lines, example, mediaType = 'application/json', isOptional, isNdjsonToo } = body
  return {
    required: !isOptional,
    content: {
      [mediaType]: { schema: convert(schema), ...(lines && itemsOf(convert(lines))), example },
      ...(isNdjsonToo && {
        [NDJSON]: {
          schema: convert(schemas.ndjson),
          ...itemsOf((convert(schema).items ?? {}) as Json),
          example: (example as unknown[]).map((one) => `${JSON.stringify(one)}\n`).join(''),
        },
      }),
    },
  }
}

/** The schema of one line, under the name that stands in for `itemSchema` of OpenAPI 3.2. */
const itemsOf = (schema: Json) => ({ 'x-itemSchema': schema })

function describeParameters(
  convert: Convert,
  place: 'path' | 'query' | 'header',
  entries: v.ObjectEntries = {},
) {
  const { properties = {}, required = [] } = convert(v.object(entries)) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
}

function describeSuccesses(convert: Convert, { responses }: Operation): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, success]) => [
      status,
      {
        description: success.description,
        ...(success.headers && {
          headers: Object.fromEntries(
            describeParameters(convert, 'header', success.headers).map(
              ({ name, in: _, ...header }) => [name, header],
            ),
          ),
        }),
        ...contentOf(convert, success),
      },
    ]),
  )
}

function contentOf(
  convert: Convert,
  { data, content, lines, example }: Success,
): { content?: Json } {
  if (data)
    return {
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { success: { type: 'boolean' }, data: convert(data) },
            required: ['success', 'data'],
          },
          ...(example !== undefined && { example: { success: true, data: example } }),
        },
      },
    }
  if (!content) return {}
  return {
    content: Object.fromEntries(
      Object.entries(content).map(([type, schema]) => [
        type,
        {
          ...(schema && { schema: convert(schema) }),
          ...(type === NDJSON && lines && itemsOf(convert(lineOf(lines)))),
          ...(example !== undefined && { example }),
        },
      ]),
    ),
  }
}

/** @returns The schema of an envelope with the number of its line. */
function lineOf(data: v.GenericSchema): v.GenericSchema {
  const line = v.pipe(v.number(), v.integer(), v.minValue(1))
  return v.union([
    v.object({ line, success: v.literal(true), data }),
    v.object({ line, ...failure.entries }),
  ])
}

/**
 * Makes one response for each status, with the codes that it can have. An answer without an
 * envelope that the operation declares for the status is added to it.
 */
function describeFailures(convert: Convert, operation: Operation): Json {
  const codes = [...new Set(errorsOf(operation))]
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort()
  return Object.fromEntries(
    statuses.map((status) => {
      const possible = codes.filter((code) => ERRORS[code].status === status)
      const named = possible.map((code) => `\`${code}\``).join(', ')
      const other = operation.responses[status]
      return [
        status,
        {
          description: other ? `${named}. ${other.description}` : named,
          'x-error-codes': possible,
          content: {
            ...(other && contentOf(convert, other).content),
            'application/json': {
              schema: { $ref: `${COMPONENT_PREFIX}Failure` },
            },
          },
        },
      ]
    }),
  )
}
