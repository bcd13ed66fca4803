import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { decodeBase64url } from '#document/base64url.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { Naming } from './credential.ts'

/** Who made an offer, and for whose documents; `null` = those of all tenants. */
export type Maker = { owner: string; tenant: string | null }

/** What a ticket says, by its kind. */
export type Contents = {
  /** The code of an offer. */
  offer: {
    publicId: string
    category: string
    /** Whether the document fits the kind of its category. */
    isTyped: boolean
    /** How the credential names its issuer. */
    naming: Naming
    /** How many wallets may use it. */
    uses: number
    /** What the holder must type, if the issuer wants that. */
    txCode?: string
    /** The key or person that made it; absent = whoever holds the publicId. */
    by?: Maker
  }
  /** An access token. */
  access: {
    publicId: string
    category: string
    /** As in the offer. */
    by?: Maker
    /** The thumbprint of the wallet's DPoP key; absent = anybody who has the token may use it. */
    jkt?: string
  }
  nonce: object
  notification: object
}

export type Ticket<K extends keyof Contents> = Contents[K] & {
  /** Seconds of the Unix epoch. */
  expiresAt: number
}

/** Texts that the gateway gives away sealed, so that it stores nothing about a document. */
export type Tickets = {
  seal<K extends keyof Contents>(kind: K, ticket: Ticket<K>): string
  /**
   * @returns The ticket, and a digest by which it can be counted; `undefined` when it is not one of
   * this kind, or has expired.
   */
  open<K extends keyof Contents>(
    kind: K,
    text: string,
  ): { ticket: Ticket<K>; digest: Uint8Array } | undefined
}

const SALT_BYTES = 16
const TAG_BYTES = 16
const MAX_TEXT = 1_024
/** Each key seals one ticket only. */
const IV = Buffer.alloc(12)

/** @param issuerSecrets Of all gateways, so that each opens the tickets of the others. */
export function createTickets(issuerSecrets: readonly [Hex, ...Hex[]]): Tickets {
  const keyOf = (secret: Hex, salt: Uint8Array, kind: string) =>
    Buffer.from(
      hkdfSync('sha256', fromHex(secret), salt, `document-registry/v1/wallet-${kind}`, 32),
    )

  function openWith(secret: Hex, kind: string, bytes: Uint8Array): string | undefined {
    const key = keyOf(secret, bytes.subarray(0, SALT_BYTES), kind)
    const opening = createDecipheriv('aes-256-gcm', key, IV, { authTagLength: TAG_BYTES })
    opening.setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = opening.update(bytes.subarray(SALT_BYTES, -TAG_BYTES))
    try {
      return Buffer.concat([opened, opening.final()]).toString()
    } catch {
      return undefined
    }
  }

  return {
    seal(kind, ticket) {
      const salt = randomBytes(SALT_BYTES)
      const sealing = createCipheriv('aes-256-gcm', keyOf(issuerSecrets[0], salt, kind), IV)
      const sealed = [sealing.update(JSON.stringify(ticket)), sealing.final()]
      return Buffer.concat([salt, ...sealed, sealing.getAuthTag()]).toString('base64url')
    },
    open(kind, text) {
      const bytes = text.length <= MAX_TEXT ? bytesOf(text) : undefined
      if (!bytes || bytes.length < SALT_BYTES + TAG_BYTES) return undefined
      for (const secret of issuerSecrets) {
        const json = openWith(secret, kind, bytes)
        if (json === undefined) continue
        const ticket = JSON.parse(json) as Ticket<typeof kind>
        if (ticket.expiresAt * 1000 <= clock.wall()) return undefined
        return { ticket, digest: hash('sha256', bytes, 'buffer') }
      }
      return undefined
    },
  }
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return decodeBase64url(text)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}
