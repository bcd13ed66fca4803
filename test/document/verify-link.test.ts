import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import {
  formatQrAddress,
  formatVerifyLink,
  formatWalletLink,
  readVerifyFragment,
  readVerifyLink,
} from '#document/verify-link.ts'

const publicId = golden.documents[0]?.publicId ?? ''
const registry = `eip155:1:0x${'ab'.repeat(20)}`

describe('addresses that lead to a document', () => {
  test('default: reads both forms that it writes', () => {
    const page = 'https://a.example/verify?x=1'
    const link = formatVerifyLink(page, { publicId, registry })
    expect(readVerifyLink(link)).toEqual({ publicId, registry })
    const qr = formatQrAddress('https://a.example', publicId)
    expect(readVerifyLink(qr)).toEqual({ publicId })
  })

  test('behavior: the address for a wallet leads to the same document', () => {
    const page = 'https://a.example/verify'
    const link = formatWalletLink(formatVerifyLink(page, { publicId, registry }))
    expect(readVerifyLink(link)).toEqual({ publicId, registry, isForWallet: true })
    expect(readVerifyLink(formatWalletLink(page))).toBeUndefined()
  })

  test.each([
    `https://a.example/verify#${publicId}`,
    `https://a.example/verify#publicId=${publicId}`,
    `https://a.example/below/qr/${publicId}/?format=png`,
    `a.example/qr/${publicId}#`,
    // The fragment decides.
    `https://a.example/qr/other#publicId=${publicId}`,
  ])('behavior: reads %s', (address) => {
    expect(readVerifyLink(address)).toEqual({ publicId })
  })

  test.each([
    '',
    'https://a.example/verify',
    'https://a.example/verify#registry=x',
    'https://a.example/qr/',
    `https://a.example/qr/${publicId}/more`,
    `https://a.example/verify?next=#/qr/${publicId}`,
  ])('error: finds no publicId in %j', (address) => {
    expect(readVerifyLink(address)).toBeUndefined()
  })

  test('behavior: reads any text without an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        readVerifyLink(text)
        readVerifyLink(`https://a.example/qr/${text}#${text}`)
        readVerifyFragment(text)
      }),
    )
  })
})
