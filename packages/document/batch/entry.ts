/** A document of a batch, with the data that the registry needs. */
export type BatchEntry = {
  /** 32 bytes. */
  documentHash: Uint8Array
  /** Seconds of the Unix epoch; 0 = never expires. */
  validUntil: number
}

const HASH = 32
const VALID_UNTIL = 5
export const MAX_VALID_UNTIL = 2 ** 40 - 1
/** The number of bytes of an entry in a manifest. */
export const ENTRY = HASH + VALID_UNTIL

/**
 * @returns documentHash ‖ validUntil (5 bytes, big-endian).
 * @throws {TypeError} for a documentHash of another length, or a validUntil of more than 40 bits.
 */
export function encodeEntry(entry: BatchEntry): Uint8Array {
  const { documentHash, validUntil } = entry
  if (documentHash.length !== HASH) throw new TypeError('documentHash must have 32 bytes')
  if (!Number.isInteger(validUntil) || validUntil < 0 || validUntil > MAX_VALID_UNTIL)
    throw new TypeError('validUntil must be a whole number of seconds below 2^40')
  const bytes = new Uint8Array(ENTRY)
  bytes.set(documentHash)
  // A DataView is not used, because it would give each of these small arrays memory outside of the
  // heap.
  let rest = validUntil
  for (let at = ENTRY - 1; at >= HASH; at--) {
    bytes[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return bytes
}

/** @param bytes 37 bytes, which are not kept. */
export function decodeEntry(bytes: Uint8Array): BatchEntry {
  let validUntil = 0
  for (let at = HASH; at < ENTRY; at++) validUntil = 256 * validUntil + (bytes[at] as number)
  return { documentHash: bytes.slice(0, HASH), validUntil }
}
