import { randomBytes } from 'node:crypto'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { fingerprintOf, webhookSecretOf } from '#document/keys.ts'
import type { SecretSource, Webhook } from './webhook.ts'

/** The maximum number of secrets of one webhook. A delivery is signed with each of them. */
const MAX_SECRETS = 3

export type WebhookSecrets = {
  create(): SecretSource
  /** @returns The secret as a receiver gets it: `whsec_` followed by 32 bytes in base64. */
  reveal(source: SecretSource): string
  /** @returns The secrets that sign at this time, the newest first. */
  current(webhook: Pick<Webhook, 'secrets'>, now: number): string[]
}

/**
 * The secrets of webhooks. They are derived from the issuer secret, so that the database contains
 * none.
 *
 * @param issuerSecrets The issuer secrets, the newest first. New webhooks use the newest, older
 * ones keep theirs.
 */
export function createWebhookSecrets(issuerSecrets: readonly [Hex, ...Hex[]]): WebhookSecrets {
  const fingerprint = (secret: Hex) => toHex(fingerprintOf(fromHex(secret)))
  const byFingerprint = new Map(issuerSecrets.map((secret) => [fingerprint(secret), secret]))
  const newest = fingerprint(issuerSecrets[0])

  function reveal({ salt, fingerprint }: SecretSource): string {
    const issuerSecret = byFingerprint.get(fingerprint)
    // Without a secret that it knows, the data folder cannot be opened.
    if (!issuerSecret) throw new TypeError('the issuer secret that sealed the webhook is missing')
    const secret = webhookSecretOf(fromHex(issuerSecret), fromHex(salt))
    return `whsec_${Buffer.from(secret).toString('base64')}`
  }

  return {
    create: () => ({ salt: toHex(randomBytes(32)), fingerprint: newest, until: null }),
    reveal,
    current: ({ secrets }, now) =>
      secrets.filter(({ until }) => until === null || now < until).map(reveal),
  }
}

/**
 * @param overlap How long the earlier secrets also sign, in milliseconds.
 * @returns The secrets after a rotation.
 */
export function rotate(
  secrets: readonly SecretSource[],
  next: SecretSource,
  now: number,
  overlap: number,
): SecretSource[] {
  const end = now + overlap
  const before = secrets
    .map((source) => ({ ...source, until: Math.min(source.until ?? end, end) }))
    .filter(({ until }) => now < until)
  return [next, ...before].slice(0, MAX_SECRETS)
}
