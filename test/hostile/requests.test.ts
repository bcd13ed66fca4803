import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonValue, mutated } from '../support/arbitraries.ts'
import { openapi } from '../support/described.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'
import { valuesOf } from './from-schema.ts'

// Right and wrong requests for every operation, made from /openapi.json. None is answered with a
// bug, or with anything that the document does not describe.

type Schema = Parameters<typeof valuesOf>[0]
type Parameter = { name: string; in: string; required: boolean; schema: Schema }
type Described = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
}
type Sent = { path: string; headers: Record<string, string>; body?: string }

const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, described]) => {
    const operation = described as unknown as Described
    return { name: operation.operationId, method: method.toUpperCase(), path, operation }
  }),
)
const { schemas } = openapi.components as unknown as { schemas: Record<string, Schema> }

describe('requests made from the schemas', () => {
  let stack: Stack
  const publicIds: string[] = []
  beforeAll(async () => {
    stack = await startStack({ RATE_LIMIT: 'off' })
    for (let i = 0; i < 3; i++) publicIds.push((await stack.issue(ADA)).body.data.publicId)
  })
  afterAll(() => stack.stop())

  /** A header cannot contain every character, so some are omitted. */
  const headerText = (value: unknown) => String(value).replaceAll(/[^\x20-\x7e]/g, '')

  /** `fetch` resolves the segments `.` and `..`, so that the request would have another path. */
  const pathText = (value: string) =>
    encodeURIComponent(/^\.\.?$/.test(value) ? `${value}x` : value)

  function requestsFor(path: string, operation: Described): fc.Arbitrary<Sent> {
    const { parameters = [], requestBody } = operation
    const values = parameters.map(({ name, schema, required, in: place }) => {
      const right = valuesOf(schema, schemas)
      const known = name === 'publicId' ? fc.nat(2).map((i) => publicIds[i] ?? '') : right
      const value = fc.oneof(known, known, right, fc.string({ unit: 'grapheme', minLength: 1 }))
      // A path has all of its parameters; the others may be missing, even if they are required.
      const all = place === 'path' ? value : fc.option(value, { nil: undefined })
      return required ? fc.oneof(value, value, value, all) : all
    })
    const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
    const right = content && valuesOf(content.schema, schemas)
    const body = right
      ? fc
          .oneof(right, right, right.chain(mutated), mutated(content?.example ?? {}), jsonValue)
          .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      : fc.constant(undefined)
    return fc.tuple(fc.tuple(...values), body).map(([given, text]) => {
      const query = new URLSearchParams()
      const headers: Record<string, string> = { authorization: `Bearer ${API_KEY}` }
      let target = path
      parameters.forEach(({ name, in: place }, i) => {
        const value = given[i]
        if (value === undefined) return
        if (place === 'query') query.append(name, String(value))
        else if (place === 'header') headers[name] = headerText(value)
        else target = target.replace(`{${name}}`, pathText(String(value)))
      })
      if (type !== undefined) headers['content-type'] = type
      const search = query.size > 0 ? `?${query}` : ''
      return { path: target + search, headers, ...(text !== undefined && { body: text }) }
    })
  }

  test.each(operations)('$name answers as described', async ({ method, path, operation }) => {
    await fc.assert(
      fc.asyncProperty(requestsFor(path, operation), async ({ path: target, ...init }) => {
        // `request` compares the answer with the document.
        const { status } = await stack.request(target, { method, ...init })
        expect(status === 503 || status < 500).toBe(true)
      }),
      { numRuns: 30, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
    )
  })
})
