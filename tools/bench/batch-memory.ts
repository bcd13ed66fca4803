/**
 * `node tools/bench/batch-memory.ts [documents]`: measures building a batch in a process that does
 * nothing else. Memory is the maximum resident set (VmHWM) above that after a batch of 1,000;
 * processor time is that of all threads. Linux only.
 */
import { readFileSync } from 'node:fs'
import { sha256 } from '@noble/hashes/sha2.js'
import { buildBatch } from '#document/batch/batch.ts'

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

/** @returns The maximum resident set in bytes. */
function peak(): number {
  const status = readFileSync('/proc/self/status', 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024
}

await buildBatch(issuer, entries(1_000))
const before = peak()
const started = process.cpuUsage()
const batch = await buildBatch(issuer, entries(documents))
const { user, system } = process.cpuUsage(started)
const taken = peak() - before
process.stdout.write(
  [
    `documents          ${batch.size}`,
    `memory             ${(taken / 2 ** 20).toFixed(1)} MiB over ${(before / 2 ** 20).toFixed(1)} MiB`,
    `bytes a document   ${Math.round(taken / batch.size)}`,
    `processor seconds  ${((user + system) / 1e6).toFixed(1)}`,
    '',
  ].join('\n'),
)
