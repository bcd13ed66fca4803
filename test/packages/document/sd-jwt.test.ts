import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto'
import { SDJwtInstance } from '@sd-jwt/core'
import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { disclose } from '#document/disclosures.ts'
import { decodeDocument, validUntilOf } from '#document/document.ts'
import { choicesOf, createPresentation } from '#document/presentation.ts'
import { verifyPresentation } from '#verifier/presentation.ts'
import { createMemoryRegistry } from '../../support/memory-registry.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const sdJwt = new SDJwtInstance({
  hasher: (data, alg) => {
    expect(alg).toBe('sha-256')
    return createHash('sha256')
      .update(typeof data === 'string' ? data : new Uint8Array(data))
      .digest()
  },
  verifier: (data, signature) =>
    verify(null, Buffer.from(data), publicKey, Buffer.from(signature, 'base64url')),
})

/**
 * Signs claims of ours as an issuer of credentials would, and adds the disclosures that a holder
 * shows.
 */
function credential(claims: object, disclosures: readonly string[]): string {
  const [header, payload] = [{ alg: 'EdDSA' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signed = Buffer.from(`${header}.${payload}`)
  const signature = sign(null, signed, privateKey).toString('base64url')
  return [`${signed}.${signature}`, ...disclosures, ''].join('~')
}

describe.each(golden.documents)('an implementation of RFC 9901 reads: $name', (vector) => {
  const document = decodeDocument(new TextEncoder().encode(vector.canonical))
  const { claims, fields, metadata } = disclose(document, {
    salt: Buffer.from(vector.salt, 'hex'),
    documentKey: Buffer.from(vector.documentKey, 'hex'),
  })
  const { registry, issuerId } = document

  test('reads everything that is disclosed', async () => {
    const all = [...fields, ...metadata].map(({ text }) => text)
    const { payload } = await sdJwt.verify(credential(claims, all))
    expect(payload).toEqual({ metadata: {}, ...document })
  })

  test('reads each field alone, and an empty selection', async () => {
    for (const { text, name, value } of fields) {
      const { payload } = await sdJwt.verify(credential(claims, [text]))
      const shown = { registry, issuerId, metadata: {}, [name]: value }
      expect(payload).toEqual(shown)
    }
    for (const { text, name, value } of metadata) {
      const { payload } = await sdJwt.verify(credential(claims, [text]))
      const shown = { registry, issuerId, metadata: { [name]: value } }
      expect(payload).toEqual(shown)
    }
    const { payload } = await sdJwt.verify(credential(claims, []))
    expect(payload).toEqual({ registry, issuerId, metadata: {} })
  })

  test('reads a presentation with the same result', async () => {
    const memory = createMemoryRegistry(registry, issuerId)
    const documentHash = Buffer.from(vector.documentHash.slice(2), 'hex')
    memory.issue(documentHash, validUntilOf(document))
    const { fields, metadata } = choicesOf(document)
    const everySecond = (names: readonly string[]) => names.filter((_, i) => i % 2 === 0)
    const presentation = await createPresentation({
      publicId: vector.publicId,
      sealed: Buffer.from(vector.sealed),
      choose: {
        fields: everySecond(fields),
        metadata: everySecond(metadata),
      },
      includeSealed: true,
    })
    const { claims, disclosures } = presentation
    const { payload } = await sdJwt.verify(credential(claims, disclosures))
    const { disclosed } = await verifyPresentation(presentation, {
      chain: memory.reader,
      blocks: [],
    })
    expect(disclosed).not.toBeNull()
    expect(payload).toEqual({
      registry,
      issuerId,
      metadata: {},
      ...disclosed,
    })
  })
})
