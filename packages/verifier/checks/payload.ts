import { sha256 } from '@noble/hashes/sha2.js'
import { equalBytes } from '../../document/bytes.ts'
import type { Opener } from '../../document/sealed.ts'
import type { BlockRead, BlockSource, ReadOptions } from '../ports.ts'
import type { Check } from '../verdict.ts'

type PayloadOptions = ReadOptions & {
  opener?: Pick<Opener, 'sha256'> | undefined
}

/** The check `payload`, with the bytes when it passes. */
export type Payload = { check: Check; bytes?: Uint8Array }

/**
 * Reads a block from the first source that has it. If a source returns bytes with another hash, the
 * next one is tried.
 *
 * @param hash The block's sha-256, 32 bytes.
 * @param options.opener Provides the sha-256; absent = the library's own.
 */
export async function readPayload(
  hash: Uint8Array,
  sources: readonly BlockSource[],
  options: PayloadOptions = {},
): Promise<Payload> {
  const seen = new Set<string>()
  for (const source of sources) {
    options.signal?.throwIfAborted()
    const read = await readFrom(source, hash, options)
    if (read.status === 'found') return { check: readCheck(), bytes: read.bytes }
    seen.add(read.status)
  }
  if (seen.has('erased')) return { check: { check: 'payload', outcome: 'fail', code: 'erased' } }
  const code = (['wrong_bytes', 'unreachable'] as const).find((one) => seen.has(one)) ?? 'missing'
  return { check: { check: 'payload', outcome: 'unknown', code } }
}

/** @returns The check for a payload that was read, now or earlier. */
export function readCheck(): Check {
  return { check: 'payload', outcome: 'pass', code: 'read' }
}

/** @returns The source's answer; `unreachable` if it rejected. */
async function readFrom(
  source: BlockSource,
  hash: Uint8Array,
  { opener = { sha256 }, ...options }: PayloadOptions,
): Promise<BlockRead | { status: 'unreachable' } | { status: 'wrong_bytes' }> {
  try {
    const read = await source.get(hash, options)
    const good = read.status !== 'found' || equalBytes(opener.sha256(read.bytes), hash)
    return good ? read : { status: 'wrong_bytes' }
  } catch {
    return { status: 'unreachable' }
  }
}
