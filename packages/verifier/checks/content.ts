import { type Document, validUntilOf } from '../../document/document.ts'
import { FormatError } from '../../document/errors.ts'
import { decodeOpened, type Opener, open } from '../../document/sealed.ts'
import type { ChainReading } from '../ports.ts'
import type { Check } from '../verdict.ts'

/** The result of the content check. */
export type Content<T> = {
  checks: Check[]
  /** Present only if all checks pass. */
  document?: T
  /** An error of this program that kept it from reading the content. */
  error?: unknown
}

/**
 * Opens a sealed document that has the right hash, and checks it against registry and record. Never
 * rejects, because a failure here must not hide what the chain says, such as a revocation.
 *
 * @param documentKey 16 bytes.
 * @param trusted The CAIP-10 account ID of the registry from which the record was read.
 * @returns `key` and `content` checks, and the document when both pass. If this program itself
 * fails, `content` is unknown, with the error.
 */
export async function checkContent(
  sealed: Uint8Array,
  documentKey: Uint8Array,
  trusted: string,
  reading: Pick<ChainReading, 'record' | 'issuer'>,
  opener: Pick<Opener, 'open' | 'decodeOpened'> = { open, decodeOpened },
): Promise<Content<Document>> {
  return contentOf(trusted, reading, async (checks) => {
    const opened = await opener.open(sealed, documentKey)
    checks.push(opens())
    return boundBy(opener.decodeOpened(opened, documentKey))
  })
}

/** Same as {@link checkContent}, for a document that was opened before. */
export function checkOpened(
  document: Document,
  trusted: string,
  reading: Pick<ChainReading, 'record' | 'issuer'>,
): Promise<Content<Document>> {
  return contentOf(trusted, reading, async (checks) => {
    checks.push(opens())
    return boundBy(document)
  })
}

function opens(): Check {
  return { check: 'key', outcome: 'pass', code: 'opens' }
}

function boundBy(document: Document): Bound<Document> {
  const { registry, issuerId } = document
  return { registry, issuerId, validUntil: validUntilOf(document), document }
}

/** Content, and the claims that bind it to its record. */
export type Bound<T> = Pick<Document, 'registry' | 'issuerId'> & {
  /** The expiry in the content; `undefined` = the content does not contain it. */
  validUntil: number | undefined
  document: T
}

/**
 * Reads the content, and checks the result against registry and record. Never rejects.
 *
 * @param read Adds the checks that pass on the way. It throws a FormatError for content that breaks
 * its format.
 */
export async function contentOf<T>(
  trusted: string,
  reading: Pick<ChainReading, 'record' | 'issuer'>,
  read: (checks: Check[]) => Promise<Bound<T>>,
): Promise<Content<T>> {
  const checks: Check[] = []
  try {
    const bound = await read(checks)
    const code = contradiction(bound, trusted, reading)
    if (code) {
      checks.push({ check: 'content', outcome: 'fail', code })
      return { checks }
    }
    checks.push({ check: 'content', outcome: 'pass', code: 'bound' })
    return { checks, document: bound.document }
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

/** @returns Why well-formed content does not match its record, or `undefined`. */
function contradiction(
  { registry, issuerId, validUntil }: Bound<unknown>,
  trusted: string,
  { record, issuer }: Pick<ChainReading, 'record' | 'issuer'>,
): string | undefined {
  if (registry !== trusted) return 'other_registry'
  if (issuerId !== issuer.id) return 'other_issuer'
  const fits = validUntil === undefined || validUntil === record.validUntil
  return fits ? undefined : 'other_expiry'
}
