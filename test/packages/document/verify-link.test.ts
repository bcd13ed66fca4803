import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import {
  formatQrAddress,
  formatVerifyLink,
  formatWalletLink,
  readVerifyLink,
  readVerifyLinks,
} from '#document/verify-link.ts'

const publicId = golden.documents[0]?.publicId ?? ''
const other = golden.documents[1]?.publicId ?? ''
const registry = `eip155:1:0x${'ab'.repeat(20)}`
const good = `https://a.example/verify#publicId=${publicId}&registry=${registry}`
const encoded = encodeURIComponent(good)
const everySeventySix = (end: string) => good.replace(/.{76}/g, `$&${end}`)

describe('addresses that lead to a document', () => {
  test('reads both forms that it writes', () => {
    const page = 'https://a.example/verify?x=1'
    const link = formatVerifyLink(page, { publicId, registry })
    expect(readVerifyLink(link)).toEqual({ publicId, registry })
    const qr = formatQrAddress('https://a.example', publicId)
    expect(readVerifyLink(qr)).toEqual({ publicId })
  })

  test('the address for a wallet leads to the same document', () => {
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
    `https://a.example/qr/other#publicId=${publicId}`,
    `https://a.example/qr/${publicId}/more`,
    `https://a.example/verify?next=#/qr/${publicId}`,
    `Your code: ${publicId.slice(0, 40)} ${publicId.slice(40)}, good luck`,
  ])('reads %s', (address) => {
    expect(readVerifyLink(address)).toEqual({ publicId })
  })

  test.each([
    ['a full stop', `${good}.`],
    ['angle brackets', `<${good}>`],
    ['a bracket', `(see ${good})`],
    ['quotation marks', `"${good}"`],
    ['a parameter of a mailing', `${good}?utm_source=mail`],
    ['another parameter', `${good}&utm_source=mail`],
    ['a sentence', `Check it at ${good}and keep it.`],
    ['twice', `${good} <${good}>`],
    ['a query for a fragment', good.replace('#', '?')],
    ['%23', good.replace('#', '%23')],
    ['a percent-encoded fragment', good.replace(/[^#]+$/, encodeURIComponent)],
    ['percent-encoded twice', encodeURIComponent(encoded)],
    ['HTML', `<a href="${good.replace('&', '&amp;')}">`],
    ['line breaks', everySeventySix('\r\n')],
    ['line breaks of a quoted mail', everySeventySix('\n> > ')],
    ['line breaks, percent-encoded', everySeventySix('%0D%0A')],
    ['quoted-printable', everySeventySix('=\r\n').replace(/=(?=\w)/g, '=3D')],
    ['quoted-printable in a field of one line', everySeventySix('=')],
    ['zero width spaces', everySeventySix('\u200b')],
    ['soft hyphens', everySeventySix('\u00ad')],
    ['soft hyphens of an address bar', everySeventySix('%C2%AD')],
    [
      'SafeLinks',
      `https://eur01.safelinks.protection.outlook.com/?url=${encoded}&data=05%7C01%7C&reserved=0`,
    ],
    [
      'URL Defense 2',
      `https://urldefense.proofpoint.com/v2/url?u=${encoded.replaceAll('%', '-').replaceAll('-2F', '_')}&d=DwMFAg`,
    ],
    ['URL Defense 3', `https://urldefense.com/v3/__${good.replace('#', '*')}__;Iw!!AbC$`],
    ['a redirect', `https://www.google.com/url?q=${encoded}&sa=D`],
    ['an upper-case registry', good.replace('ab', 'AB')],
  ])('reads a link with %s', (_, text) => {
    expect(text).not.toBe(good)
    expect(readVerifyLinks(text)).toEqual([
      { publicId, registry: expect.stringMatching(new RegExp(registry, 'i')) },
    ])
  })

  test('reads an offer to a wallet, encoded once more', () => {
    for (const text of [encodeURIComponent(`${good}&for=wallet`), `${good}&amp;for=3Dwallet`])
      expect(readVerifyLink(text)?.isForWallet).toBe(true)
    expect(readVerifyLink(`${good} for wallets`)?.isForWallet).toBeUndefined()
  })

  test('ignores an invalid registry', () => {
    const cut = good.slice(0, -1)
    for (const text of [cut, good.replace('eip155', 'x'), good.replace(':1:', ':1.')])
      expect(readVerifyLinks(text)).toEqual([{ publicId }])
  })

  test('finds each of several publicIds, and a mistyped one only without a valid one', () => {
    const text = `${good} and https://a.example/qr/${other}`
    expect(readVerifyLinks(text).map((link) => link.publicId)).toEqual([publicId, other])
    expect(readVerifyLink(text)).toBeUndefined()
    const mistyped = `${publicId.slice(0, -1)}${publicId.endsWith('2') ? '3' : '2'}`
    expect(readVerifyLinks(good.replace(publicId, mistyped))[0]?.publicId).toBe(mistyped)
    expect(readVerifyLinks(`${mistyped} ${good}`).map((link) => link.publicId)).toEqual([publicId])
  })

  test.each([
    '',
    'https://a.example/verify',
    'https://a.example/verify#registry=x',
    'https://a.example/qr/',
    publicId.slice(0, -1),
    'x'.repeat(16_384) + publicId,
  ])('finds no publicId in %j', (address) => {
    expect(readVerifyLink(address)).toBeUndefined()
  })

  test('reads any text without an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        readVerifyLink(text)
        readVerifyLink(`https://a.example/qr/${text}#${text}`)
      }),
    )
  })
})
