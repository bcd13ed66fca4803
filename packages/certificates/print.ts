import { type Document, metadataOf } from '#document/document.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { Kind } from '#document/kind.ts'
import { formatWalletLink } from '#document/verify-link.ts'
import { contentOf } from './content.ts'
import type { Engine } from './engine.ts'
import { CertificateError } from './errors.ts'
import { packsFor } from './packs.ts'
import { qrSvg } from './qr-code.ts'
import { rosetteOf } from './rosette.ts'
import type { Settings } from './settings.ts'

export type Certificate = {
  document: Document
  documentHash: Hex
  /** The verify link, for the QR code. */
  link: string
  /** What the issuer calls the fields. */
  kind?: Kind | undefined
  /** The text of the bundle to attach. */
  bundle: string
  /** Whether it shows how a certificate would look, and says so across the page. */
  isSpecimen?: true
}

/**
 * Text that may be wider than its place, between marks of JSON. The marks are those of lib.typ, in
 * any script.
 */
const LONG_WORDS = /[^\s"/-]{20,}/gu
/** The letters of one long word, and of all, beyond which typesetting takes half a minute. */
const MAX_WORD = 500
const MAX_LETTERS = 5_000
/** Scripts that are written without spaces. */
const UNSPACED = [
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
]
const LETTERS = new RegExp(
  `[^\\s/${UNSPACED.map((name) => `\\p{Script=${name}}`).join('')}-]{20,}`,
  'gu',
)
/** Each place where a word may break costs time, and more than these are of no use. */
const MAX_BREAKS = 500
/** The letters that stay together at most, so that they are not wider than a line. */
const MAX_UNBROKEN = 32

/** The paper around it is the rest of the quiet zone. */
const QR_CODE = { ecc: 'low', border: 2 } as const

/** @returns The PDF. @throws {CertificateError} */
export async function printCertificate(
  engine: Engine,
  settings: Settings,
  { document, documentHash, kind, link, bundle, isSpecimen }: Certificate,
  keywords: string[] = [],
): Promise<Buffer> {
  assertBreakable(document)
  const content = contentOf(document, settings, kind)
  const text = JSON.stringify(content)
  const walletLink = settings.walletCode ? formatWalletLink(link) : null
  return engine.print(packsFor(settings.languages, text), (fonts) => ({
    'data.json': JSON.stringify({
      ...content,
      ...pictures(settings),
      fonts: {
        serif: [...settings.fonts, ...fonts.serif],
        sans: [...settings.fonts, ...fonts.sans],
      },
      colours: settings.colours,
      keywords,
      isSpecimen: isSpecimen === true,
      link,
      walletLink,
      host: new URL(link).host,
      breakEvery: breakEvery(text),
      fingerprint: fingerprintOf(documentHash),
    }),
    'rosette.svg': rosetteSvg(documentHash, settings.colours),
    'qr.svg': qrSvg(link, QR_CODE),
    ...(walletLink !== null && { 'wallet.svg': qrSvg(walletLink, QR_CODE) }),
    'bundle.json': bundle,
  }))
}

/** @throws {CertificateError} `unprintable` for words that take too long to break into lines. */
function assertBreakable(document: Document): void {
  const texts = [document.subjectName, ...metadataOf(document).flat()]
  const lengths = texts.flatMap((text) => text.match(LETTERS) ?? []).map((word) => word.length)
  if (lengths.some((length) => length > MAX_WORD))
    throw new CertificateError('unprintable', `it has a word of more than ${MAX_WORD} letters`)
  if (lengths.reduce((sum, length) => sum + length, 0) > MAX_LETTERS)
    throw new CertificateError(
      'unprintable',
      `its words of 20 letters and more have more than ${MAX_LETTERS} letters in all`,
    )
}

/** @returns After how many letters a long word may break; 0 = there is none. */
function breakEvery(text: string): number {
  const letters = [...text.matchAll(LONG_WORDS)].reduce((sum, [word]) => sum + word.length, 0)
  return Math.min(Math.ceil(letters / MAX_BREAKS), MAX_UNBROKEN)
}

function pictures({ logo, seal, issuer }: Settings) {
  const name = Object.values(issuer)[0] ?? ''
  return {
    logo: logo === undefined ? null : `/${logo}`,
    seal: seal === undefined ? null : `/${seal}`,
    alt: {
      logo: `Logo: ${name}`,
      seal: `Seal: ${name}`,
      qr: 'QR code: the link that checks this document',
      wallet: 'QR code: the link that puts this document into a wallet',
      bundle: 'The document, its key, and the proof that it was issued',
    },
  }
}

/** @returns The first 16 hexadecimal digits, in groups of four. */
function fingerprintOf(hash: Hex): string {
  return hash.slice(2, 18).replace(/(.{4})(?!$)/g, '$1 ')
}

function rosetteSvg(hash: Hex, { ink, accent }: Settings['colours']): string {
  const paths = rosetteOf(fromHex(hash)).map(
    (path, i) => `<path d="${path}" stroke="${i === 1 ? ink : accent}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1000 -1000 2000 2000" width="100" height="100"><g fill="none" stroke-width="6">${paths.join('')}</g></svg>`
}
