import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { seal } from '../../document/sealed.ts'
import { sealWithNode } from '../../gateway/adapters/node-seal.ts'

for (const length of [1, 255, 256, 257, 40_000])
  test(`default: ${length} bytes are sealed as WebCrypto seals them`, async () => {
    const document = randomBytes(length)
    const keys = {
      salt: randomBytes(16),
      documentKey: randomBytes(16),
      iv: randomBytes(12),
    }
    const { bytes, documentHash } = await sealWithNode(document, keys)
    const expected = await seal(document, keys)
    expect(Buffer.from(bytes)).toEqual(Buffer.from(expected.bytes))
    expect(Buffer.from(documentHash)).toEqual(
      Buffer.from(expected.documentHash),
    )
  })
