import { sha256 } from '@noble/hashes/sha2.js'
import type { BlockSource, ReadOptions } from '../ports.ts'
import type { Check } from '../verdict.ts'

/**
 * Gets a block from the first source that has it. Bytes that do not hash to what was asked for are that source's fault: the
 * next one is tried.
 *
 * @param hash The block's sha-256, 32 bytes.
 */
export async function readPayload(
  hash: Uint8Array,
  sources: readonly BlockSource[],
  options: ReadOptions = {},
): Promise<{ check: Check; bytes?: Uint8Array }> {
  const seen = new Set<string>()
  for (const source of sources) {
    options.signal?.throwIfAborted()
    const read = await source.get(hash, options).catch(() => undefined)
    if (read?.status === 'found' && equal(sha256(read.bytes), hash))
      return {
        check: { check: 'payload', outcome: 'pass', code: 'read' },
        bytes: read.bytes,
      }
    seen.add(read?.status ?? 'unreachable')
  }
  if (seen.has('erased'))
    return { check: { check: 'payload', outcome: 'fail', code: 'erased' } }
  const code = seen.has('found')
    ? 'wrong_bytes'
    : seen.has('unreachable')
      ? 'unreachable'
      : 'missing'
  return { check: { check: 'payload', outcome: 'unknown', code } }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
