import { hash, randomBytes } from 'node:crypto'

/** The kinds of secrets. Scanners can find them by what they begin with. */
const PREFIXES = { key: 'drk_', session: 'drs_', invitation: 'dri_' } as const

/** @returns A new secret of 256 random bits. */
export function newSecret(kind: keyof typeof PREFIXES): string {
  return `${PREFIXES[kind]}${randomBytes(32).toString('base64url')}`
}

/**
 * @returns The sha-256 of a secret, 64 hexadecimal digits. A password hash is not needed, because a
 * secret has 256 random bits, and every request computes this.
 */
export const digestOf = (secret: string): string => hash('sha256', secret, 'hex')

/** @returns A new id, 12 hexadecimal digits. */
export const newId = (): string => randomBytes(6).toString('hex')
