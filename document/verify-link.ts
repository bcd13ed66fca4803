/** The contents of an address that leads to a document. */
export type VerifyLink = {
  /** The undecoded publicId. Warning: it contains a decryption key. */
  publicId: string
  /**
   * A CAIP-10 account ID as written, unchecked. It is only a hint, because whoever made the address
   * chose it.
   */
  registry?: string
  /** Whether the address was made for the holder, to put the document into a wallet. */
  isForWallet?: true
}

/** The last part of the path to a document's QR code, which `?format=png` may follow. */
const QR_PATH = /\/qr\/([^/?#\s]+)\/?(?:\?|$)/
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/

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
 * Reads both kinds of address. If both fragment and path name a publicId, the fragment decides.
 *
 * @returns `undefined` for an address that names no publicId.
 */
export function readVerifyLink(address: string): VerifyLink | undefined {
  const at = address.indexOf('#')
  const before = at < 0 ? address : address.slice(0, at)
  const link = at < 0 ? undefined : readVerifyFragment(address.slice(at + 1))
  if (link) return link
  const publicId = QR_PATH.exec(before)?.[1]
  return publicId === undefined ? undefined : { publicId }
}

/**
 * @param fragment The text after `#`: `publicId=…` with or without `registry=…` and `for=wallet`, or
 * only the publicId.
 * @returns `undefined` for a fragment that names no publicId.
 */
export function readVerifyFragment(fragment: string): VerifyLink | undefined {
  if (BASE58.test(fragment)) return { publicId: fragment }
  const parameters = new URLSearchParams(fragment)
  const publicId = parameters.get('publicId')
  const registry = parameters.get('registry')
  if (publicId === null) return undefined
  return {
    publicId,
    ...(registry !== null && { registry }),
    ...(parameters.get('for') === 'wallet' && { isForWallet: true }),
  }
}
