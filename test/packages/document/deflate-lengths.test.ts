import { constants, deflateRawSync, type InflateRaw, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deflateLengths } from '#document/deflate-lengths.ts'

const { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants

const text = fc
  .array(fc.tuple(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(400)), { maxLength: 30 })
  .map((parts) => parts.map(([part, times]) => part.repeat(times)).join(''))
const deflated = fc
  .tuple(
    text,
    fc.constantFrom(0, 1, 6, 9),
    fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE),
  )
  .map(([data, level, strategy]) => deflateRawSync(data, { level, strategy }))

/** As zlib counts them. */
function lengthsByZlib(bytes: Uint8Array) {
  const { buffer, engine } = inflateRawSync(bytes, { info: true }) as unknown as {
    buffer: Buffer
    engine: InflateRaw
  }
  return { deflated: engine.bytesWritten, inflated: buffer.length }
}

test('finds the lengths that zlib finds, whatever follows', () => {
  fc.assert(
    fc.property(deflated, fc.uint8Array({ maxLength: 20 }), (bytes, behind) => {
      const lengths = deflateLengths(Buffer.concat([bytes, behind]))
      expect(lengths).toEqual(lengthsByZlib(bytes))
      expect(lengths.deflated).toBe(bytes.length)
    }),
    { numRuns: 300 },
  )
})

test('refuses a stream that is cut', () => {
  fc.assert(
    fc.property(deflated, fc.nat(), (bytes, at) => {
      expect(() => deflateLengths(bytes.subarray(0, at % bytes.length))).toThrow(RangeError)
    }),
    { numRuns: 300 },
  )
})

test('agrees with zlib on all bytes that zlib accepts, and stops on others', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      let byZlib: ReturnType<typeof lengthsByZlib> | undefined
      try {
        byZlib = lengthsByZlib(bytes)
      } catch {}
      try {
        const lengths = deflateLengths(bytes)
        if (byZlib) expect(lengths).toEqual(byZlib)
      } catch (error) {
        if (byZlib || !(error instanceof RangeError)) throw error
      }
    }),
    { numRuns: 5_000 },
  )
})
