import { inflateSync } from 'node:zlib'
import { decodeJwt } from 'jose'

/** @returns The status of each index in a status list token, whose signature is not checked. */
export function statusesIn(token: string): (index: number) => number {
  const { lst } = decodeJwt(token).status_list as { lst: string }
  const bytes = inflateSync(Buffer.from(lst, 'base64url'))
  return (index) => ((bytes[index >> 2] ?? 0) >> (2 * (index & 3))) & 3
}
