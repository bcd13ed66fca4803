import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { fromHex, type Hex } from '#document/hex.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What is sealed: a row, or its result. */
type What = 'row' | 'result'

/**
 * Seals the rows of runs, which have names, and their results, which have publicIds. Each run has a
 * key of its own, derived from the issuer secret, so the database alone opens none of them.
 */
export type RowSealer = {
  seal(run: string, what: What, line: number, value: object): Uint8Array
  /** @throws {Error} when no issuer secret opens it. */
  open(run: string, what: What, line: number, sealed: Uint8Array): unknown
}

/** @param issuerSecrets The newest first. */
export function createRowSealer(issuerSecrets: readonly [Hex, ...Hex[]]): RowSealer {
  const keyOf = (secret: Hex, run: string) =>
    new Uint8Array(hkdfSync('sha256', fromHex(secret), run, 'document-registry/v1/run', 32))
  const placeOf = (what: What, line: number) => Buffer.from(`${what} ${line}`)

  return {
    seal(run, what, line, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, keyOf(issuerSecrets[0], run), nonce)
      cipher.setAAD(placeOf(what, line))
      const body = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()])
      return Buffer.concat([nonce, body, cipher.getAuthTag()])
    },
    open(run, what, line, sealed) {
      for (const secret of issuerSecrets) {
        const cipher = createDecipheriv(
          ALGORITHM,
          keyOf(secret, run),
          sealed.subarray(0, NONCE_BYTES),
        )
        cipher.setAAD(placeOf(what, line))
        cipher.setAuthTag(sealed.subarray(-TAG_BYTES))
        try {
          const body = cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
          return JSON.parse(Buffer.concat([body, cipher.final()]).toString())
        } catch {
          // It may have been sealed with an older secret.
        }
      }
      throw new Error('no issuer secret opens the row of a run')
    },
  }
}
