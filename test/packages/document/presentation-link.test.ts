import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import type { Presentation } from '#document/presentation.ts'
import {
  decodePresentationLink,
  encodePresentationLink,
  hasPresentationLink,
  isPresentationLink,
  readPresentationLink,
} from '#document/presentation-link.ts'
import { mangled } from '../../support/arbitraries.ts'
import { REGISTRY } from '../../support/corpus/payload.ts'
import { createMemoryRegistry } from '../../support/memory-registry.ts'
import { type Held, hold, present } from '../../support/presented.ts'

const PAGE = 'https://example.org/verify'
const registry = createMemoryRegistry(REGISTRY)
const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  metadata: { thesis: '\u0001'.repeat(12_000) },
  registry: REGISTRY,
  issuerId: 1,
}

let held: Held
let shown: Presentation
beforeAll(async () => {
  const salt = new Uint8Array(16).fill(1)
  held = await hold(document, { salt, inBatch: true }, registry)
  const choose = { fields: ['subjectName'], metadata: [] }
  shown = await present(held, choose, false)
})

const linkOf = (bytes: string | Uint8Array) =>
  `${PAGE}#presentation=${deflateRawSync(bytes).toString('base64url')}`
const refused = async (link: string) => {
  const error = await decodePresentationLink(link).catch((error) => error)
  expect(error).toBeInstanceOf(FormatError)
  expect(error.code).toBe('presentation_malformed')
}

describe('a link', () => {
  test('returns the presentation, compressed by this or another DEFLATE', async () => {
    const link = (await encodePresentationLink(PAGE, shown)) ?? ''
    expect(link).toMatch(/^https:\/\/example.org\/verify#presentation=[\w-]+$/)
    expect(isPresentationLink(link)).toBe(true)
    expect(await decodePresentationLink(link)).toEqual(shown)
    const other = linkOf(JSON.stringify(shown, null, 1))
    expect(await decodePresentationLink(other)).toEqual(shown)
  })

  test('is limited to 64 KiB', async () => {
    const all = await present(held, undefined, false)
    expect(JSON.stringify(all).length).toBeGreaterThan(64 * 1024)
    expect(await encodePresentationLink(PAGE, all)).toBeUndefined()
  })

  test('is refused for a presentation with its sealed document', async () => {
    const { sealed } = await present(held)
    await expect(encodePresentationLink(PAGE, { ...shown, sealed })).rejects.toThrow(TypeError)
  })

  test('stops decompressing after 64 KiB', async () => {
    await refused(linkOf(`${JSON.stringify(shown)}${' '.repeat(64 * 1024)}`))
    // 40 MiB in 40 KiB.
    await refused(linkOf(new Uint8Array(40 * 1024 * 1024)))
  })

  test('refuses anything but a presentation', async () => {
    const good = linkOf(JSON.stringify(shown))
    await refused(good.slice(0, -8))
    await refused(`${PAGE}#presentation=`)
    await refused(`${PAGE}#presentation=${'A'.repeat(90_001)}`)
    await refused(`${PAGE}#presentation=a+b`)
    await refused(`${PAGE}#publicId=x`)
    await refused(PAGE)
    expect(isPresentationLink(`${PAGE}#publicId=x`)).toBe(false)
    await refused(linkOf('{}'))
  })

  describe('in surrounding text', () => {
    const broken = (link: string, end: string) => link.replace(/.{76}/g, `$&${end}`)
    test.each<[string, (link: string) => string]>([
      ['as it is', (link) => link],
      ['in a sentence', (link) => `See ${link} and keep it.`],
      ['in angle brackets', (link) => `<${link}>`],
      ['with a parameter of a mailing', (link) => `${link}?utm_source=mail`],
      ['percent-encoded', encodeURIComponent],
      ['wrapped', (link) => `https://w.example/?url=${encodeURIComponent(link)}&data=05`],
      ['with line breaks', (link) => broken(link, '\r\n')],
      ['with zero width spaces', (link) => broken(link, '\u200b')],
      ['quoted-printable', (link) => broken(link, '=\r\n').replace('n=', 'n=3D')],
      ['quoted-printable, on one line', (link) => broken(link, '=')],
    ])('is read %s', async (_, change) => {
      const text = change(linkOf(JSON.stringify(shown)))
      expect(hasPresentationLink(text)).toBe(true)
      expect(await readPresentationLink(text)).toEqual(shown)
    })

    test('is refused if a part is missing, and if the text is something else', async () => {
      const link = linkOf(JSON.stringify(shown))
      for (const text of [link.slice(0, -8), 'presentation', `${PAGE}#presentation=`])
        await expect(readPresentationLink(text)).rejects.toMatchObject({
          code: 'presentation_malformed',
        })
      expect(hasPresentationLink('"type":"document-registry-presentation"')).toBe(false)
    })
  })

  describe('on a platform whose inflate accepts other input', () => {
    // As Node 20 does with bytes behind it, and Deno with one that is cut.
    class Loose extends TransformStream<Uint8Array, Uint8Array> {
      constructor() {
        super({
          transform: (chunk, controller) =>
            controller.enqueue(inflateRawSync(chunk, { finishFlush: constants.Z_SYNC_FLUSH })),
        })
      }
    }
    afterEach(() => vi.unstubAllGlobals())

    test.each([1, 2, 3, 4, 5, 6, 7, 8])('refuses it (%i)', async (shift) => {
      vi.stubGlobal('DecompressionStream', Loose)
      const text = JSON.stringify(shown) + ' '.repeat(shift)
      const bytes = deflateRawSync(text)
      const link = (some: Uint8Array) =>
        `${PAGE}#presentation=${Buffer.from(some).toString('base64url')}`
      expect(await decodePresentationLink(link(bytes))).toEqual(shown)
      await refused(link(bytes.subarray(0, -1)))
      for (const behind of [[0], [1, 2, 3], [...bytes]])
        await refused(link(Buffer.concat([bytes, Uint8Array.from(behind)])))
    })
  })

  test('refuses any change, or reads the same presentation, or no JSON', async () => {
    const deflated = deflateRawSync(JSON.stringify(shown))
    await fc.assert(
      fc.asyncProperty(mangled(deflated), async (bytes) => {
        const text = Buffer.from(bytes).toString('base64url')
        const read = await decodePresentationLink(`${PAGE}#presentation=${text}`).catch(
          (error) => error,
        )
        if (!(read instanceof FormatError)) expect(read.type).toBe(shown.type)
      }),
      { numRuns: 300 },
    )
  })
})
