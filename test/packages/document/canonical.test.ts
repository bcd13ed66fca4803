import canonicalize from 'canonicalize'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toCanonical } from '#document/canonical.ts'

const textOf = (value: unknown) => new TextDecoder().decode(toCanonical(value))

describe('toCanonical', () => {
  test('writes any JSON value as the library of an author of RFC 8785 does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4, stringUnit: 'binary' }), (json) => {
        const value = JSON.parse(json)
        expect(textOf(value)).toBe(canonicalize(value))
      }),
      { numRuns: 2_000 },
    )
  })

  test('sorts names by UTF-16 code units, and numbers as text', () => {
    const value = { '\ufb33': 1, '\u{1f600}': 2, 10: 3, 9: 4, '': -0, e: 1e21 }
    expect(textOf(value)).toBe('{"":0,"10":3,"9":4,"e":1e+21,"\u{1f600}":2,"\ufb33":1}')
  })

  test('leaves out members that are undefined', () => {
    expect(textOf({ a: undefined, b: [] })).toBe('{"b":[]}')
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined, 1n, { '\udc00': 1 }])(
    '%s has no canonical form',
    (value) => {
      expect(() => toCanonical(value)).toThrow(TypeError)
    },
  )
})
