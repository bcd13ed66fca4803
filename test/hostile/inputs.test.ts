import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InputError } from '#cli/errors.ts'
import { readSubject } from '#cli/subject.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import stateProofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import { FormatError } from '#document/errors.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { ChainReader } from '#verifier/ports.ts'
import { verify } from '#verifier/verify.ts'
import { InputError as PageInputError, parseFile, parseSubject, textOfFile } from '#web/input.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'
import { REGISTRY } from '../support/corpus/payload.ts'

// Input that a reader types, pastes, scans or has in a file.

const publicId = golden.documents[0]?.publicId ?? ''
const link = `https://verify.example/verify#publicId=${publicId}&registry=${REGISTRY}`
const photo = readFileSync(new URL('../apps/docreg/images/photo.jpg', import.meta.url))
const bundle = {
  type: 'document-registry-bundle',
  v: 1,
  publicId,
  registry: REGISTRY,
  batch: null,
  sealed: golden.documents[0]?.sealed,
  stateProof: stateProofs.cases[0]?.stateProof,
  unprovenEvent: null,
}

let dir: string
let file: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hostile-inputs-'))
  file = join(dir, 'input')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const ofText = (text: string) =>
  mangled(Buffer.from(text)).map((bytes) => Buffer.from(bytes).toString())
const typed = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  ofText(publicId),
  ofText(link),
  fc
    .string({ unit: fc.constantFrom(...'%25EFau&=#publicIdregistry\0') })
    .map((fragment) => `https://verify.example/#${fragment}`),
)

describe('a publicId', () => {
  test('reads or refuses any text or value without a request', async () => {
    let asked = 0
    const ask = async () => {
      asked++
      throw new Error('asked')
    }
    const chain: ChainReader = {
      registry: REGISTRY,
      read: ask,
      issuedEvent: ask,
      finalityOf: ask,
      blockTime: ask,
    }
    await fc.assert(
      fc.asyncProperty(fc.oneof(typed, jsonValue), async (given) => {
        const error = await verify(given as string, {
          chain,
          blocks: [],
        }).catch((reason: unknown) => reason)
        // Mangling may leave the publicId unchanged; only then is the chain asked.
        if (given === publicId) asked = 0
        else expect(error).toBeInstanceOf(FormatError)
        expect(asked).toBe(0)
      }),
      { numRuns: 500 },
    )
    expect(decodePublicId(publicId).kind).toBe('single')
  })
})

describe('a verify link', () => {
  test('any text is read or refused, on the page', async () => {
    await fc.assert(
      fc.asyncProperty(typed, async (text) => {
        await parseSubject(text).catch((error: unknown) =>
          expect(error).toBeInstanceOf(PageInputError),
        )
      }),
      { numRuns: 500 },
    )
  })
})

describe('a proof file on the page', () => {
  const text = JSON.stringify(bundle)
  const read = async (bytes: Uint8Array) => parseFile(textOfFile(bytes))

  test('is read', async () => {
    expect(await read(Buffer.from(text))).toMatchObject({ publicId })
  })

  test.each<[string, Uint8Array]>([
    ['with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['in UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['with a byte that is not UTF-8 in it', Buffer.concat([Buffer.from(text), Buffer.of(0xff)])],
  ])('refuses one %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(PageInputError)
  })
})

const isTold = (error: unknown) => error instanceof InputError || error instanceof FormatError

describe('arguments of docreg', () => {
  test('any argument is read or refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        typed.filter((text) => text !== '-'),
        async (text) => {
          await readSubject(text).catch((error) => expect(error).toSatisfy(isTold))
        },
      ),
      { numRuns: 300 },
    )
  })

  const head = (bytes: readonly number[]) => (rest: Uint8Array) =>
    Buffer.concat([Uint8Array.from(bytes), rest])
  const contents: [string, fc.Arbitrary<Uint8Array>, number][] = [
    ['any bytes', fc.uint8Array({ maxLength: 300 }), 300],
    ['any text', typed.map((text) => Buffer.from(text)), 300],
    [
      'a bundle with anything in any place',
      mutated(bundle).map((value) => Buffer.from(JSON.stringify(value) ?? '{')),
      200,
    ],
    ['a bundle with bytes changed', mangled(Buffer.from(JSON.stringify(bundle))), 200],
    [
      'a malformed picture',
      fc.oneof(
        fc.uint8Array().map(head([0x89, 0x50, 0x4e, 0x47])),
        fc.uint8Array().map(head([0xff, 0xd8, 0xff])),
      ),
      100,
    ],
    ['a picture with bytes changed', mangled(photo), 5],
  ]

  test.each(contents)('a file of %s is read or refused', async (_, content, numRuns) => {
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        writeFileSync(file, bytes)
        await readSubject(file).catch((error) => expect(error).toSatisfy(isTold))
      }),
      { numRuns },
    )
  })
})
