import { hash, randomBytes } from 'node:crypto'

/** @returns A new API key: 256 random bits in base64url, after a prefix that scanners can find. */
export function newSecret(): string {
  return `drk_${randomBytes(32).toString('base64url')}`
}

/**
 * @returns The sha-256 of an API key, 64 hexadecimal digits. Not a password hash: a key is 256
 * random bits, and every request computes this.
 */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}
