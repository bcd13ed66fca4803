// Writes packages/client/api.ts, the types of the REST API, from its OpenAPI document. The file is
// committed, and CI checks that it is current. No generator is used, because openapi-typescript and
// @hey-api/openapi-ts need the API of a TypeScript compiler before version 7.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeApi } from '#http/core/openapi.ts'
import { RESOURCES } from '#modules/all.ts'

type Schema = {
  $ref?: string
  enum?: unknown[]
  anyOf?: Schema[]
  type?: string | string[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  description?: string
}
type Parameter = { name: string; in: string; required: boolean; schema: Schema }
/** `x-itemSchema` is one line of NDJSON. */
type Content = { schema?: Schema; 'x-itemSchema'?: Schema }
type Described = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Content & { schema: Schema }> }
  responses: Record<string, { content?: Record<string, Content> }>
}
type Api = {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

const NDJSON = 'application/x-ndjson'

const file = fileURLToPath(new URL('../packages/client/api.ts', import.meta.url))
const api = describeApi(RESOURCES, { baseUrl: '', version: '' }) as Api

/** @returns The schema as a TypeScript type. */
function typeOf(schema: Schema): string {
  const { $ref, anyOf, items, properties, required = [], additionalProperties } = schema
  if ($ref) return $ref.split('/').at(-1) ?? 'unknown'
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type
      .map((type) => typeOf(type === 'null' ? { type } : { ...schema, type }))
      .join(' | ')
  if (items) return `Array<${typeOf(items)}>`
  if (properties && Object.keys(properties).length > 0)
    return `{ ${Object.entries(properties)
      .map(([name, inner]) => member(name, inner, required.includes(name)))
      .join('\n')} }`
  if (schema.type === 'object') {
    if (additionalProperties === false) return 'Record<string, never>'
    return `Record<string, ${typeOf(additionalProperties === true ? {} : (additionalProperties ?? {}))}>`
  }
  if (schema.type === 'integer') return 'number'
  return schema.type ?? 'unknown'
}

function member(name: string, schema: Schema, isRequired: boolean): string {
  const comment = schema.description ? `/** ${schema.description.replaceAll('*/', '* /')} */\n` : ''
  return `${comment}${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeOf(schema)}`
}

/** @returns The parameters of one place as a member; empty when there are none. */
function parametersOf({ parameters = [] }: Described, place: 'path' | 'query'): string {
  const own = parameters.filter((one) => one.in === place)
  if (own.length === 0) return ''
  const isRequired = own.some(({ required }) => required)
  const members = own.map(({ name, schema, required }) => member(name, schema, required))
  return `${place}${isRequired ? '' : '?'}: { ${members.join('\n')} }`
}

function inputOf(described: Described, body: Schema | undefined): string {
  const members = [
    parametersOf(described, 'path'),
    parametersOf(described, 'query'),
    body ? `body${described.requestBody?.required ? '' : '?'}: ${typeOf(body)}` : '',
  ].filter(Boolean)
  return members.length > 0 ? `{ ${members.join('\n')} }` : 'object'
}

/** The type of an answer that is a file. */
const FILE = 'Uint8Array'

/**
 * @returns The type to which a call resolves: the data of every success; `undefined` with neither
 * JSON nor a PDF.
 */
function dataOf({ responses }: Described): string | undefined {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content)
  if (contents.every((content) => content?.['application/pdf'])) return FILE
  const schemas = contents.map((content) => content?.['application/json']?.schema)
  if (schemas.some((schema) => schema === undefined)) return undefined
  const types = schemas.map((schema) => typeOf(schema?.properties?.data ?? schema ?? {}))
  return [...new Set(types)].join(' | ')
}

const calls = Object.entries(api.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, described]) => {
    const data = dataOf(described)
    const { content } = described.requestBody ?? {}
    const line = content?.[NDJSON]?.['x-itemSchema']
    const body = content?.['application/json']?.schema ?? (line && { items: line })
    const isJson = data !== undefined && (body !== undefined || !described.requestBody)
    // Only operations that answer with an envelope, and the bundle, which is also JSON.
    const isOurs = path.startsWith('/v1/') || path === '/healthz' || path === '/readyz'
    return isJson && isOurs ? [{ path, method: method.toUpperCase(), described, data, body }] : []
  }),
)

/** @returns The types of the data of a line; `undefined` if the answer has no lines. */
function lineDataOf({ responses }: Described): string | undefined {
  const lines = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => content?.[NDJSON]?.['x-itemSchema']?.anyOf?.[0] ?? [])
  const types = lines.map(({ properties }) => typeOf(properties?.data ?? {}))
  return types.length > 0 ? [...new Set(types)].join(' | ') : undefined
}

const lineCalls = Object.entries(api.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, described]) => {
    const data = lineDataOf(described)
    const line = described.requestBody?.content[NDJSON]?.['x-itemSchema']
    return data && line ? [{ path, method: method.toUpperCase(), described, data, line }] : []
  }),
)

type Listed = { path: string; method: string; described: Described; data: string }

function targetsOf(listed: readonly Listed[]) {
  const targets = listed.map(({ method, path, described, data }) => {
    const hasKey = described.parameters?.some(({ name }) => name === 'idempotency-key') ?? false
    const file = data === FILE ? ', isFile: true' : ''
    const content = described.requestBody?.content ?? {}
    const lines = NDJSON in content && !('application/json' in content) ? ', isNdjson: true' : ''
    return `${described.operationId}: { method: '${method}', path: '${path}', hasIdempotencyKey: ${hasKey}${file}${lines} }`
  })
  return `{\n${targets.join(',\n')},\n} as const`
}

const text = `// Made by \`npm run generate\` from the OpenAPI document of the gateway. Do not edit.

${Object.entries(api.components.schemas)
  .map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  .join('\n\n')}

/** The parameters of each call, and the data that it resolves to. */
export type Calls = {
${calls
  .map(
    ({ described, body, data }) => `/** ${described.summary}. */
${described.operationId}: { input: ${inputOf(described, body)}; data: ${data} }`,
  )
  .join('\n')}
}

/** The parameters of each call about many documents, and the data of a line of its answer. */
export type LineCalls = {
${lineCalls
  .map(
    ({ described, line, data }) => `/** ${described.summary}. */
${described.operationId}: { input: ${inputOf(described, { items: line })}; data: ${data} }`,
  )
  .join('\n')}
}

/** Where each call goes, and whether it takes an Idempotency-Key. */
export const CALLS = ${targetsOf(calls)}

/** The same of calls about many documents. */
export const LINE_CALLS = ${targetsOf(lineCalls)}
`

writeFileSync(file, text)
const formatted = spawnSync('biome', ['check', '--write', file], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
if (formatted.status !== 0) throw new Error('the generated types cannot be formatted')
