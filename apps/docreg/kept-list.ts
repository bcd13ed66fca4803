import type { Hex } from '#document/hex.ts'
import type { Listed, Listing } from '#verifier/proof/completeness.ts'
import type { IssuedList } from '#verifier/readers/issued-logs.ts'
import { InputError } from './errors.ts'
import type { Recount } from './manifest.ts'
import { time } from './report.ts'
import type { Terminal } from './terminal.ts'

/** Manifests and recounts of batches, which are not in the registry's state. */
export type BatchNotes = {
  manifests: ReadonlyMap<Hex, Hex>
  /** The recounts by root; empty when nothing was recounted. */
  recounts: ReadonlyMap<Hex, Recount>
}

const HASH = /^0x[0-9a-fA-F]{64}$/

/**
 * @returns The entries of a file, such as the output of {@link linesOf}. Other lines are ignored.
 * @throws {InputError} `unreadable` for a line without a hash.
 */
export function parseList(bytes: Uint8Array): IssuedList {
  const documentHashes = new Set<Hex>()
  const roots = new Set<Hex>()
  const manifests = new Map<Hex, Hex>()
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    const entry = parseEntry(line)
    if (!entry) continue
    const keys = entry.kind === 'batch' ? roots : documentHashes
    keys.add(entry.key)
    if (entry.manifest) manifests.set(entry.key, entry.manifest)
  }
  return { documentHashes: [...documentHashes], roots: [...roots], manifests }
}

/**
 * @returns The entry in a line of such a file; `undefined` for any other line.
 * @throws {InputError} `unreadable` for a line without a hash.
 */
export function parseEntry(
  line: string,
): { kind: 'document' | 'batch'; key: Hex; manifest: Hex | null } | undefined {
  const [, kind, text = '', rest = ''] = /^(document|batch)\s+(\S+)(.*)/.exec(line) ?? []
  if (kind === undefined) return undefined
  const [, manifest] = /\bmanifest (\S+?),?(?:\s|$)/.exec(rest) ?? []
  if (!HASH.test(text) || (manifest !== undefined && !HASH.test(manifest)))
    throw new InputError('unreadable', 'the file contains a line without a hash')
  return {
    kind: kind as 'document' | 'batch',
    key: text.toLowerCase() as Hex,
    manifest: (manifest?.toLowerCase() ?? null) as Hex | null,
  }
}

/** @returns The lines of a list for people, in the format of {@link parseList}. */
export function* linesOf(
  { status, issuerId, asOf, documents, batches }: Listing,
  { manifests, recounts }: BatchNotes,
  { paint }: Pick<Terminal, 'paint'>,
): Generator<string> {
  for (const { documentHash, record, ...one } of documents.listed)
    yield `document ${documentHash} ${one.status} block ${record.anchoredBlock}, ${time(record.anchoredAt)}, by ${one.account}`
  for (const { root, size, record, ...one } of batches.listed) {
    const manifest = manifests.get(root)
    const recount = recounts.get(root)
    const notes = [
      manifest && `, manifest ${manifest}`,
      recount === null && ', recounted',
      recount && `, not recounted: ${recount}`,
    ]
    yield `batch ${root} ${one.status} block ${record.anchoredBlock}, ${time(record.anchoredAt)}, by ${one.account}, ${size} documents${notes.filter(Boolean).join('')}`
  }
  for (const key of documents.notIssued) yield `not issued: document ${key}`
  for (const key of batches.notIssued) yield `not issued: batch ${key}`
  const isEmpty = documents.count + batches.count === 0
  const word = isEmpty
    ? paint('yellow', 'NOTHING ISSUED')
    : status === 'complete'
      ? paint('green', 'COMPLETE')
      : paint('red', 'INCOMPLETE')
  yield `${word}: ${tallyOf('documents', documents)}, ${tallyOf('batches', batches)}`
  if (recounts.size > 0) yield recountedOf([...recounts.values()])
  yield `issuer ${issuerId}, as of block ${asOf.blockNumber}, ${time(asOf.blockTime)}${asOf.blockHash ? `, ${asOf.blockHash}` : ''}`
}

function tallyOf(name: string, { count, listed }: Listed<unknown>): string {
  const missing = count - listed.length
  const tally = `${listed.length} of ${count} ${name}`
  return missing === 0 ? tally : `${tally} (${missing} missing)`
}

function recountedOf(recounts: Recount[]): string {
  const whole = recounts.filter((recount) => recount === null).length
  return `recounted: ${whole} of ${recounts.length} batches`
}
