import { readFileSync } from 'node:fs'
import { InputError, UsageError } from '../errors.ts'

/** The maximum gas of a transaction (EIP-7825). */
const MAX_TRANSACTION_GAS = 16_777_216n

/**
 * @param text Hashes separated by commas, or `@` and the name of a file with one per line.
 * @returns Each hash once.
 * @throws {InputError} `bad_table` for a line that is not a hash, and for a file without hashes.
 * @throws {UsageError} for the same problems without a file.
 */
export function readHashes(text: string): string[] {
  const isFile = text.startsWith('@')
  const lines = isFile ? readFileSync(text.slice(1), 'utf8').split('\n') : text.split(',')
  const hashes = new Set<string>()
  for (const [i, line] of lines.entries()) {
    const hash = line.trim().toLowerCase()
    if (hash === '') continue
    const isHash = /^0x[0-9a-f]{64}$/.test(hash)
    const problem = 'is not a hash (0x followed by 64 hexadecimal digits)'
    if (!isHash && isFile)
      throw new InputError('bad_table', `line ${i + 1} of ${text.slice(1)} ${problem}`)
    if (!isHash) throw new UsageError(`${JSON.stringify(line)} ${problem}`)
    hashes.add(hash)
  }
  if (hashes.size === 0 && isFile)
    throw new InputError('bad_table', `${text.slice(1)} contains no hash`)
  if (hashes.size === 0) throw new UsageError(`${text} contains no hash`)
  return [...hashes]
}

/** The gas of a call, or why it would fail and whether the contract says so. */
export type Trial = { gas: bigint } | { failure: string; isReverted: boolean }

/**
 * Splits a list, in its order, into calls that fit in a transaction.
 *
 * @param trial Simulates the call of a part.
 * @param limits The limits of the registry, and the gas of a block.
 * @returns The parts, each simulated when it is requested. If one would fail, it is the last.
 */
export async function* fittingParts(
  hashes: readonly string[],
  trial: (part: readonly string[]) => Promise<Trial>,
  { length, blockGas }: { length: number; blockGas: bigint },
): AsyncGenerator<{ part: readonly string[]; trial: Trial }> {
  const gasLimit = blockGas < MAX_TRANSACTION_GAS ? blockGas : MAX_TRANSACTION_GAS
  // A reserve is left for the wallet that sends the call.
  const fits = (gas: bigint) => gas <= (gasLimit * 9n) / 10n
  let size = length
  for (let at = 0; at < hashes.length; ) {
    const part = hashes.slice(at, at + size)
    const tried = await trial(part)
    const isTooLong = 'gas' in tried ? !fits(tried.gas) : !tried.isReverted
    if (isTooLong && part.length > 1) {
      size = Math.ceil(part.length / 2)
      continue
    }
    yield { part, trial: tried }
    if ('failure' in tried) return
    at += part.length
  }
}
