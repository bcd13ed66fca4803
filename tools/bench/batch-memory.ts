/**
 * `node tools/bench/batch-memory.ts [documents]`: measures building a batch in a process that does
 * nothing else. Memory is the maximum resident set (VmHWM) above that after a batch of 1,000;
 * processor time is that of all threads. Linux only.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { buildBatch } from '#document/batch/batch.ts'
import { metered, usageOf } from './processes.ts'
import { mebibytes } from './report.ts'

const documents = Number(process.argv[2] ?? 100_000)

const issuer = {
  registry: 'eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3' as const,
  issuerId: 1,
}

function* entries(count: number) {
  // The number is not encoded as text, because that would leave more garbage than the batch.
  const number = new Uint32Array(1)
  const bytes = new Uint8Array(number.buffer)
  for (let i = 0; i < count; i++) {
    number[0] = i
    yield { documentHash: sha256(bytes), validUntil: i }
  }
}

const peak = () => usageOf(process.pid)?.peak ?? Number.NaN

await buildBatch(issuer, entries(1_000))
const before = peak()
const { result, cpu } = await metered({ own: process.pid }, () =>
  buildBatch(issuer, entries(documents)),
)
const taken = peak() - before
console.log(`documents          ${result.size}
memory             ${mebibytes(taken)} MiB over ${mebibytes(before)} MiB
bytes a document   ${Math.round(taken / result.size)}
processor seconds  ${cpu.own.toFixed(1)}`)
