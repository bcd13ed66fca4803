import { FormatError } from './errors.ts'
import { decodePublicId, PUBLIC_ID_LENGTH } from './public-id.ts'

/** The contents of an address that leads to a document. */
export type VerifyLink = {
  /** The undecoded publicId. Warning: it contains a decryption key. */
  publicId: string
  /** A CAIP-10 account ID. It is only a hint, because whoever made the address chose it. */
  registry?: string
  /** Whether the address was made for the holder, to put the document into a wallet. */
  isForWallet?: true
}

/** Longer text is refused unread. A link has 150 characters, a wrapped one up to 2,000. */
const MAX_TEXT = 16 * 1024
/**
 * What breaks lines in mails, and marks quotes and broken lines there (RFC 2045), and invisible
 * letters; also percent-encoded, once or more often.
 */
const NOISE = /[\s\p{Cf}=>]|%(25)*(0[9AD]|20|3[DE]|[89A-F]\w)/giu
/** Every text of this length in base58, also inside a longer one. */
const CANDIDATES = new RegExp(`(?=([1-9A-HJ-NP-Za-km-z]{${PUBLIC_ID_LENGTH}}))`, 'g')
const REGISTRY = /eip155(:|[%-](?:25)*3A)(\d{1,32})\1(0x[\da-f]{40})/i
const FOR_WALLET = /[#?&;36]for(3D)?wallet/

/**
 * @param page The address of a verify page, without a fragment.
 * @param registry A CAIP-10 account ID.
 * @returns The address in a QR code. The publicId is in the fragment, which no browser sends.
 */
export function formatVerifyLink(
  page: string,
  { publicId, registry }: Required<Pick<VerifyLink, 'publicId' | 'registry'>>,
): string {
  return `${page}#publicId=${publicId}&registry=${registry}`
}

/**
 * @param link The address of a verify page, with or without a document.
 * @returns The same address, at which the page offers to put the document into a wallet. Unlike an
 * offer it does not expire, and it has no other secret than the publicId.
 */
export function formatWalletLink(link: string): string {
  return `${link}${link.includes('#') ? '&' : '#'}for=wallet`
}

/**
 * @param baseUrl The address of a gateway, without a slash at the end.
 * @returns The address at which it draws the QR code of a document.
 */
export function formatQrAddress(baseUrl: string, publicId: string): string {
  return `${baseUrl}/qr/${publicId}`
}

/**
 * Reads a link, also one in a sentence, encoded once more, broken into lines or inside the address
 * of a service that wraps links. The checksum of a publicId tells where it begins and ends.
 *
 * @returns `undefined` for text that names no publicId, or several.
 *
 * @example
 * ```ts
 * const link = readVerifyLink(`https://documents.example/verify#publicId=${publicId}`)
 * link.publicId === publicId // => true
 * ```
 */
export function readVerifyLink(text: string): VerifyLink | undefined {
  const [link, ...others] = readVerifyLinks(text)
  return others.length === 0 ? link : undefined
}

/** @returns What {@link readVerifyLink} finds, for each publicId; or else one that is mistyped. */
export function readVerifyLinks(text: string): VerifyLink[] {
  if (text.length > MAX_TEXT) return []
  const plain = withoutNoise(text)
  const candidates = Array.from(plain.matchAll(CANDIDATES), ([, publicId = '']) => publicId)
  const whole = new Set(candidates.filter(isWhole))
  const [, , chainId, address] = REGISTRY.exec(plain) ?? []
  return (whole.size > 0 ? [...whole] : candidates.slice(-1)).map((publicId) => ({
    publicId,
    ...(address && { registry: `eip155:${chainId}:${address}` }),
    ...(FOR_WALLET.test(plain) && { isForWallet: true }),
  }))
}

/**
 * @returns The text without what mail programs put into a link; base58 and base64url have no `=`.
 */
export function withoutNoise(text: string): string {
  return text.replace(NOISE, '')
}

function isWhole(publicId: string): boolean {
  try {
    decodePublicId(publicId)
    return true
  } catch (error) {
    return error instanceof FormatError && error.code === 'public_id_kind'
  }
}
