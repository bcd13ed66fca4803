import { randomBytes } from 'node:crypto'
import { sealWithNode } from '#base/node-crypto.ts'
import { registryAbi } from '#base/registry-abi.ts'
import { decodeRecords, encodeIssueMany } from '#chain/registry-codec.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { seal } from '#document/sealed.ts'
import { MAX_BATCH } from '#engine/planner.ts'
import { type Columns, tenths } from './report.ts'

/**
 * The processor time of one step of issuing in microseconds per document, with the usual library
 * and in the gateway.
 */
type Part = { name: string; usual: number; ours: number }

export const PART_COLUMNS: Columns<Part> = {
  step: ({ name }) => name,
  usual: ({ usual }) => tenths(usual),
  gateway: ({ ours }) => tenths(ours),
}

const ROUNDS = 30

export async function measureParts(): Promise<Part[]> {
  const document = {
    subjectName: 'Ada Lovelace',
    subjectId: '18151210',
    category: 'birth_certificate',
    issuedAt: '2026-01-31',
    registry: 'eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3' as const,
    issuerId: 1,
  }
  const keys = {
    salt: randomBytes(16),
    documentKey: randomBytes(16),
    iv: randomBytes(12),
  }
  const hashes: Hex[] = Array.from({ length: MAX_BATCH }, () => toHex(randomBytes(32)))
  const expiries = hashes.map(() => 4_102_444_800)
  const record = [1, 30_000, 1_800_000_000, 4_102_444_800, 0, 0, 0, 0, false]
  const records = registryAbi.encodeFunctionResult('recordsOf', [hashes.map(() => record)])
  return [
    {
      name: 'seal: jose on WebCrypto, node:crypto',
      usual: await time(() => Promise.all(hashes.map(() => seal(document, keys)))),
      ours: await time(() => hashes.map(() => sealWithNode(document, keys))),
    },
    {
      name: 'calldata of a batch: ethers, by hand',
      usual: await time(() => registryAbi.encodeFunctionData('issueMany', [1, hashes, expiries])),
      ours: await time(() => encodeIssueMany(1, hashes, expiries)),
    },
    {
      name: 'records of a batch: ethers, by hand',
      usual: await time(() =>
        [...registryAbi.decodeFunctionResult('recordsOf', records)[0]].map((one) => [...one]),
      ),
      ours: await time(() => decodeRecords(records, MAX_BATCH)),
    },
  ]
}

/** @param work The step for {@link MAX_BATCH} documents. */
async function time(work: () => unknown): Promise<number> {
  for (let i = 0; i < ROUNDS; i++) await work()
  const start = process.cpuUsage()
  for (let i = 0; i < ROUNDS; i++) await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / ROUNDS / MAX_BATCH
}
