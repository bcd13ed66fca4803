import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Anvil } from './anvil.ts'
import { idOf } from './carry-out.ts'
import { journalPath, putInPlace, removeBefore, statePath } from './generations.ts'
import { type Entry, Journal, lineOf, readJournal } from './journal.ts'
import type { Running } from './running.ts'

/** Writes what Anvil holds (accounts, blocks, transactions, receipts with their logs) as the state that a generation begins with. */
export const writeState = async (dir: string, generation: number, anvil: Anvil): Promise<void> => {
  const dump = (await anvil.call('anvil_dumpState')) as string
  await putInPlace(
    statePath(dir, generation),
    await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex')),
  )
}

const transactionHash = (raw: unknown): string =>
  `0x${Buffer.from(keccak_256(Buffer.from(String(raw).slice(2), 'hex'))).toString('hex')}`

type PoolContent = Record<'pending' | 'queued', Record<string, Record<string, { hash: string }>>>

/** Accepted transactions that are in no block, as a rule because an earlier nonce is missing. A state does not hold them. */
const waiting = async (anvil: Anvil, path: string): Promise<Entry[]> => {
  const { pending, queued } = (await anvil.call('txpool_content')) as PoolContent
  const hashes = new Set(
    [pending, queued].flatMap((part) =>
      Object.values(part).flatMap((of) => Object.values(of).map(({ hash }) => hash)),
    ),
  )
  if (hashes.size === 0) return []
  const { entries } = await readJournal(path)
  return entries
    .filter(({ method }) => method === 'eth_sendRawTransaction')
    .map((entry) => ({
      ...entry,
      params: (entry.params as unknown[]).filter((raw) => hashes.has(transactionHash(raw))),
    }))
    .filter(({ params }) => params.length > 0)
    .map((entry, index) => ({ ...entry, n: index + 1, waiting: true }))
}

/**
 * Begins a generation: the state that Anvil has now, and a journal of what comes after. Nothing may change the chain meanwhile.
 * The journal comes last, so that a generation is there whole or not at all. The one before it is kept, older ones go.
 */
export const checkpoint = async (
  dir: string,
  { anvil, journal, header, head, offset }: Running,
): Promise<Running> => {
  const generation = header.generation + 1
  const path = journalPath(dir, generation)
  const carried = await waiting(anvil, journalPath(dir, header.generation))
  const nextHeader = { ...header, generation, head: idOf(head), offset }
  const content = [nextHeader, ...carried.flatMap((entry) => [entry, { of: entry.n }])]
    .map(lineOf)
    .join('')
  let next: Journal
  try {
    await writeState(dir, generation, anvil)
    await putInPlace(path, content)
    next = await Journal.open(path, Buffer.byteLength(content))
  } catch (error) {
    // Else the old journal would go on beside it, and the state take room that it needs.
    await rm(path, { force: true })
    await rm(statePath(dir, generation), { force: true })
    throw error
  }
  await journal.close()
  await removeBefore(dir, header.generation)
  return {
    anvil,
    journal: next,
    header: nextHeader,
    head,
    offset,
    next: carried.length + 1,
  }
}
