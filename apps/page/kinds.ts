import { readAtMost } from '#document/bytes.ts'
import { decodeJsonText, parseStrictJson } from '#document/json.ts'
import { type Kind, MAX_KIND_BYTES, readKind, wordsIn } from '#document/kind.ts'
import { withTimeout } from '#verifier/signal.ts'
import type { PageVerdict } from './findings.ts'
import { currentLanguage } from './i18n.ts'
import type { State } from './state.ts'

// What an issuer calls the fields of its documents. These are its words, which decide nothing.

const TIMEOUT_MS = 5_000

/**
 * Asks the service behind the page for the kind of a document. A reader who does not read documents
 * there does not ask it for this either.
 *
 * @returns `undefined` without an answer, or when the answer is not a kind. Never rejects.
 */
export async function askKind(
  { fields, blockchainProof: proof }: PageVerdict,
  { config, sources }: State,
  signal: AbortSignal,
): Promise<Kind | undefined> {
  const { service, registry } = config ?? {}
  const { category } = fields ?? {}
  const mayAsk = service !== undefined && sources.ipfs.includes(service)
  if (!mayAsk || category === undefined || proof?.registry !== registry) return undefined
  try {
    const { body, ok } = await fetch(`${service}/v1/types/${proof?.issuer.id}/${category}`, {
      signal: withTimeout(TIMEOUT_MS, signal),
      credentials: 'omit',
      redirect: 'error',
    })
    if (!ok) return undefined
    const bytes = await readAtMost(body, MAX_KIND_BYTES)
    const read = readKind(parseStrictJson(decodeJsonText(bytes)), category)
    return 'kind' in read ? read.kind : undefined
  } catch {
    return undefined
  }
}

/** @returns The issuer's name of a field in the page's language; `undefined` if it has none. */
export function labelOf(kind: Kind | undefined, name: string): string | undefined {
  const field = kind?.fields.find((one) => one.name === name)
  return field && wordsIn(field.display, currentLanguage())?.name
}

/** @returns The issuer's name of a kind in the page's language. */
export function nameOf(kind: Kind | undefined): string | undefined {
  return kind && wordsIn(kind.display, currentLanguage())?.name
}
