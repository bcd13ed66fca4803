import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { keccak256 } from 'ethers'
import type { Anvil } from './anvil.ts'
import { idOf } from './carry-out.ts'
import { journalPath, putInPlace, removeBefore, statePath } from './generations.ts'
import { type Entry, lineOf, readJournal } from './journal.ts'
import type { Running } from './running.ts'

/** Writes what Anvil holds (accounts, blocks, transactions, receipts with their logs) as the state that a generation begins with. */
export const writeState = async (dir: string, generation: number, anvil: Anvil): Promise<void> => {
  const dump = (await anvil.call('anvil_dumpState')) as string
  await putInPlace(statePath(dir, generation), await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex')))
}

type PoolContent = Record<'pending' | 'queued', Record<string, Record<string, { hash: string }>>>

/** Accepted transactions that are in no block, as a rule because an earlier nonce is missing. A state does not hold them. */
const waiting = async (anvil: Anvil, path: string): Promise<Entry[]> => {
  const { pending, queued } = (await anvil.call('txpool_content')) as PoolContent
  const hashes = new Set([pending, queued].flatMap((part) => Object.values(part).flatMap((of) => Object.values(of).map(({ hash }) => hash))))
  if (hashes.size === 0) return []
  const { entries } = await readJournal(path)
  return entries
    .filter(({ method, params }) => method === 'eth_sendRawTransaction' && hashes.has(keccak256((params as [string])[0])))
    .map((entry, index) => ({ ...entry, n: index + 1, waiting: true }))
}

/**
 * Ends a generation: its state and an empty journal begin the next one. The generation that ends is kept, older ones go.
 * The journal is put in place first; without its state it adds nothing to the journal before it.
 */
export const checkpoint = async (dir: string, { anvil, header, head, offset }: Running): Promise<void> => {
  const { generation } = header
  const next = generation + 1
  const carried = await waiting(anvil, journalPath(dir, generation))
  const lines = [lineOf({ ...header, generation: next, head: idOf(head), offset }), ...carried.map(lineOf)]
  await putInPlace(journalPath(dir, next), lines.join(''))
  await writeState(dir, next, anvil)
  await removeBefore(dir, generation)
}
