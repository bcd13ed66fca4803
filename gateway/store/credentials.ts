import { type CredentialStore, MAX_TRIES } from '#credentials/ports.ts'
import type { Database } from './database.ts'
import { all, first, statement } from './sql.ts'

const DELETE_SPENT = statement('DELETE FROM spent_nonce WHERE expires_at <= :now')
const SPEND = statement(`
  INSERT INTO spent_nonce (nonce, expires_at) VALUES (:value, :expiresAt)
  ON CONFLICT (nonce) DO NOTHING RETURNING nonce`)

const DELETE_EXPIRED = statement('DELETE FROM used_offer WHERE expires_at <= :now')
/** The update that changes nothing keeps other transactions from the row. */
const LOCK = statement(`
  INSERT INTO used_offer (offer, expires_at) VALUES (:digest, :expiresAt)
  ON CONFLICT (offer) DO UPDATE SET expires_at = excluded.expires_at RETURNING uses, tries`)
const COUNT_USE = statement('UPDATE used_offer SET uses = uses + 1 WHERE offer = :digest')
const COUNT_TRY = statement('UPDATE used_offer SET tries = tries + 1 WHERE offer = :digest')

/** Counts what wallets use. Nothing in it says for which document. */
export function createCredentialStore({ write }: Pick<Database, 'write'>): CredentialStore {
  const now = () => Math.floor(Date.now() / 1000)
  return {
    spend: (value, expiresAt) =>
      write(function* () {
        yield* all(DELETE_SPENT, { now: now() })
        return (yield* first(SPEND, { value, expiresAt })) !== undefined
      }),
    redeem: ({ digest, expiresAt, uses, isRight }) =>
      write(function* () {
        yield* all(DELETE_EXPIRED, { now: now() })
        const used = yield* first(LOCK, { digest, expiresAt })
        if (Number(used?.uses) >= uses || Number(used?.tries) >= MAX_TRIES) return 'used_up'
        yield* all(isRight ? COUNT_USE : COUNT_TRY, { digest })
        return isRight ? 'redeemed' : 'wrong'
      }),
  }
}
