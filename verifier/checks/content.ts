import { type Document, validUntilOf } from '../../document/document.ts'
import { FormatError } from '../../document/errors.ts'
import { decodeOpened, open } from '../../document/sealed.ts'
import type { ChainReading } from '../ports.ts'
import type { Check } from '../verdict.ts'

/**
 * Opens a sealed document that has the right hash, and checks it against registry and record. It never rejects: what the chain
 * says of the document, a revocation above all, must not be lost with it.
 *
 * @param documentKey 16 bytes.
 * @param registry The registry that the record was read from, CAIP-10.
 * @returns `key` and `content` checks, and the document when both pass. Of content that this program could not read, for whatever
 * reason of its own, `content` is unknown, with the error.
 */
export async function checkContent(
  sealed: Uint8Array,
  documentKey: Uint8Array,
  registry: string,
  reading: Pick<ChainReading, 'record' | 'issuer'>,
): Promise<{ checks: Check[]; document?: Document; error?: unknown }> {
  const checks: Check[] = []
  try {
    const opened = await open(sealed, documentKey)
    checks.push({ check: 'key', outcome: 'pass', code: 'opens' })
    const document = decodeOpened(opened, documentKey)
    const code = contradiction(document, registry, reading)
    if (code) {
      checks.push({ check: 'content', outcome: 'fail', code })
      return { checks }
    }
    checks.push({ check: 'content', outcome: 'pass', code: 'bound' })
    return { checks, document }
  } catch (error) {
    if (!(error instanceof FormatError)) {
      const code = 'internal_error'
      checks.push({ check: 'content', outcome: 'unknown', code })
      return { checks, error }
    }
    const { code } = error
    const check = code === 'wrong_key' ? 'key' : 'content'
    checks.push({ check, outcome: 'fail', code })
    return { checks }
  }
}

/** @returns What in an otherwise good document does not fit its record, or `undefined`. */
function contradiction(
  document: Document,
  registry: string,
  { record, issuer }: Pick<ChainReading, 'record' | 'issuer'>,
): string | undefined {
  if (document.registry !== registry) return 'other_registry'
  if (document.issuerId !== issuer.id) return 'other_issuer'
  if (validUntilOf(document) !== record.validUntil) return 'other_expiry'
  return undefined
}
