import fc from 'fast-check'

type Schema = {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
}

/**
 * @param components The schemas that a `$ref` may name.
 * @returns Values that a schema of the OpenAPI document describes; most of them satisfy it.
 */
export function valuesOf(
  schema: Schema,
  components: Record<string, Schema>,
): fc.Arbitrary<unknown> {
  const of = (inner: Schema) => valuesOf(inner, components)
  if (schema.$ref) return of(components[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(of))
  const { minimum: min = -10, maximum: max = 1_000, minItems, maxItems = 4 } = schema
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer({ min, max })
    case 'number':
      return fc.double({ min, max, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(of(schema.items ?? {}), {
        ...(minItems !== undefined && { minLength: minItems }),
        maxLength: Math.min(maxItems, 4),
      })
    case 'object':
      return objectOf(schema, of)
    default:
      return fc.jsonValue()
  }
}

function textOf({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  // fast-check limits text by code units, and accepts no pattern together with limits.
  if (pattern) return fc.stringMatching(new RegExp(pattern, 'u'), { size: '-1' })
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) })
}

function objectOf(
  { properties, required = [], additionalProperties }: Schema,
  of: (schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  if (!properties && typeof additionalProperties === 'object')
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), of(additionalProperties), {
      maxKeys: 4,
    })
  const members: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, inner]) => [name, of(inner)]),
  )
  return fc.record(members, { requiredKeys: required })
}
