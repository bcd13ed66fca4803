import { Ajv2020 } from 'ajv/dist/2020.js'
import { describeApi } from '#http/core/openapi.ts'
import { INSTANT } from '#keys/settings.ts'
import { OPERATIONS, RESOURCES } from '#modules/all.ts'

// Compares the answers of a gateway with its /openapi.json, using an independent JSON Schema
// validator.

type Json = Record<string, unknown>
type Described = {
  operationId: string
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<
    string,
    {
      'x-error-codes'?: string[]
      content?: Record<string, { schema?: Json; 'x-itemSchema'?: Json }>
    }
  >
}

/** The document that the gateway serves, with the parts that tests need. */
export type OpenApi = {
  paths: Record<string, Record<string, Described & Json>>
  components: { schemas: Record<string, Json> }
}

export const openapi = describeApi(RESOURCES, {
  baseUrl: 'http://gateway.example',
  version: '0',
}) as unknown as OpenApi

/** @returns The schema of the JSON body of an operation. */
export function bodySchemaOf(operationId: string): Json {
  const operations = Object.values(openapi.paths).flatMap((item) => Object.values(item))
  const found = operations.find((operation) => operation.operationId === operationId)
  const content = found?.requestBody?.content['application/json']
  if (!content) throw new Error(`${operationId} has no JSON body`)
  return content.schema
}

/** Clients accept unknown members, but a test does not, because each must be described. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]))
  const isOpen = inner.type === 'object' && inner.properties && !('additionalProperties' in inner)
  return isOpen ? { ...inner, additionalProperties: false } : inner
}

const formats = {
  'date-time': INSTANT,
  date: /^\d{4}-\d{2}-\d{2}$/,
  uri: URL.canParse,
  binary: true,
} as const
// openapi.test.ts validates the schemas, which takes a second.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats, validateSchema: false })
ajv.addVocabulary(['components'])
ajv.addSchema({ $id: 'api', ...(closed({ components: openapi.components }) as Json) })

const compiled = new Map<Json, ReturnType<typeof ajv.compile>>()

function compile(schema: Json) {
  const text = JSON.stringify(closed(schema)).replaceAll('"#/', '"api#/')
  return ajv.compile(JSON.parse(text))
}

/** @returns The problems of a value with a schema of the document; empty if there are none. */
export function problemsBySchema(schema: Json, value: unknown): string[] {
  const validate = compiled.get(schema) ?? compile(schema)
  compiled.set(schema, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  )
}

const templates = OPERATIONS.map(({ method, path }) => ({
  method: method,
  template: path.replaceAll(/:(\w+)/g, '{$1}'),
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** @returns The operation of a request; `undefined` when there is none. */
function operationOf(method: string, path: string): (Described & Json) | undefined {
  const [bare = ''] = path.replace(/^\/api\//, '/v1/').split('?')
  const isGet = method === 'HEAD' ? 'GET' : method
  const fitting = templates.filter(({ pattern }) => pattern.test(bare))
  // As in OpenAPI, a path without parameters takes precedence over one with them.
  const exact = fitting.filter(({ template }) => template === bare)
  const found = (exact.length > 0 ? exact : fitting).find((known) => known.method === isGet)
  return found && openapi.paths[found.template]?.[found.method.toLowerCase()]
}

/** @param body NDJSON as bytes. */
function linesOf(body: unknown): unknown[] {
  const text = Buffer.from(body as Uint8Array).toString()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/**
 * @param answer The answer, with `body` as parsed JSON or as bytes.
 * @returns The differences between an answer and the document; empty for requests that it does not
 * describe.
 */
export function departures(
  request: { method: string; path: string },
  answer: { status: number; contentType: string; body: unknown },
): string[] {
  const operation = operationOf(request.method, request.path)
  if (!operation || request.method === 'HEAD') return []
  const { status, contentType, body } = answer
  // A target or Host that no route can see is refused before an operation is known.
  const { code } = (body as { error?: Json }).error ?? {}
  if (code === 'bad_request') return []
  const described = operation.responses[status]
  const name = `${operation.operationId} ${status}`
  if (!described) return [`${name} is not described: ${JSON.stringify(body).slice(0, 300)}`]
  const [type = ''] = contentType.split(';')
  if (!described.content) return type === '' ? [] : [`${name} has a body of ${type}`]
  const content = described.content[type]
  if (!content) return [`${name} has no content of ${type}`]
  const lineSchema = content['x-itemSchema']
  if (lineSchema)
    return linesOf(body).flatMap((line) =>
      problemsBySchema(lineSchema, line).map((problem) => `${name}: ${problem}`),
    )
  const codes = described['x-error-codes']
  if (codes && type === 'application/json' && typeof code === 'string' && !codes.includes(code))
    return [`${name} has the code ${code}`]
  const { schema } = content
  if (!schema) return []
  // As its description says: generators understand no schema of an object or an array.
  const parts = operation.operationId === 'readChain' && Array.isArray(body) ? body : [body]
  return parts.flatMap((part) =>
    problemsBySchema(schema, part).map((problem) => `${name}: ${problem}`),
  )
}
