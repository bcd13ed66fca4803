import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { scanLogs } from '#verifier/readers/log-scan.ts'
import { type Request, readStrictly } from '#verifier/readers/request.ts'
import { InputError } from '../errors.ts'
import { parseEntry } from '../kept-list.ts'
import { readLines } from '../lines.ts'
import { hashOfBlock } from './block-hash.ts'
import { assertHead, headOf, type Mark, openJournal, readHead, readJournal } from './journal.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Phases } from './phases.ts'
import { adminTopics, decodeAdminLog, decodeIssuedLog, issuedTopics } from './registry-events.ts'

export type CollectOptions = {
  request: Request
  registry: RegistryId
  issuerId: number
  /** The first block to read. */
  from: number
  /** The checkpoint from which an interrupted run continues. */
  checkpoint?: string | undefined
  /** A kept list to use instead of old events. */
  list?: string | undefined
  phases: Phases
  /** Receives the documents. */
  scratch: DatabaseSync
}

/** The documents of an issuer and the events of its accounts, up to a block. */
export type Collection = {
  ledger: Ledger
  /** Reads further events, up to this block. @returns `false` if the node has pruned them. */
  advance(to: number): Promise<boolean>
  close(): Promise<void>
}

/** Collects events from the chain, a checkpoint or a kept list. None of them is trusted. */
export async function openCollection(options: CollectOptions): Promise<Collection> {
  const { request, registry, issuerId, checkpoint, list, phases, scratch } = options
  const { address } = parseRegistry(registry)
  const ledger = createLedger(scratch)
  const isKnown = ({ block, hash }: Mark) => isBlock(request, block, hash)
  let next: number | null = options.from
  if (list !== undefined) {
    // A node that has pruned the block does not contradict the list.
    const isNotReplaced = async ({ block, hash }: Mark) =>
      [undefined, hash].includes(await hashOfBlock(request, block))
    const mark = await readKept(list, { ...options, ledger, isKnown: isNotReplaced })
    next = mark === undefined ? null : mark.block + 1
  }
  const head = headOf(registry, issuerId, options.from)
  let end = 0
  if (checkpoint !== undefined && list === undefined && existsSync(checkpoint)) {
    const known = await readHead(checkpoint)
    if (!known)
      throw new InputError('unreadable', `${checkpoint} is not the checkpoint of an audit`)
    assertHead(known, registry, issuerId)
    const read = await readJournal(checkpoint, ledger, isKnown)
    end = read.end
    next = read.mark === undefined ? known.from : read.mark.block + 1
  }
  const journal =
    checkpoint === undefined || list !== undefined
      ? undefined
      : await openJournal(checkpoint, head, end)

  const asked = { address, issuerId }
  const filters = [
    { address, topics: issuedTopics(issuerId) },
    { address, topics: adminTopics(issuerId) },
  ]

  async function scan(from: number, to: number): Promise<void> {
    phases.begin('Reading blocks', to - from + 1)
    for await (const part of scanLogs(request, filters, { from, to })) {
      const [issued = [], admin = []] = part.logs
      const lines = readStrictly('eth_getLogs', () => [
        ...issued.map((log) => decodeIssuedLog(log, asked)),
        ...admin.map((log) => decodeAdminLog(log, asked)),
      ])
      for (const line of lines)
        if ('kind' in line) ledger.addLog(line)
        else ledger.addAdminEvent(line)
      if (journal) {
        const hash = await hashOfBlock(request, part.to)
        if (hash === undefined)
          throw new ChainError('state_unavailable', `the node has no block ${part.to}`)
        await journal.append([...lines, { scanned: { block: part.to, hash } }])
      }
      next = part.to + 1
      phases.advance(part.to - part.from + 1)
    }
    phases.end()
  }

  return {
    ledger,
    async advance(to) {
      if (next === null || next > to) return true
      try {
        await scan(next, to)
        return true
      } catch (error) {
        const isPruned = error instanceof ChainError && error.code === 'pruned'
        if (!isPruned || list === undefined) throw error
        return false
      }
    },
    close: async () => journal?.close(),
  }
}

/** @returns The last mark of an export; `undefined` for a plain list. */
async function readKept(
  file: string,
  {
    registry,
    issuerId,
    ledger,
    isKnown,
  }: CollectOptions & { ledger: Ledger; isKnown: (mark: Mark) => Promise<boolean> },
): Promise<Mark | undefined> {
  const head = await readHead(file)
  if (head) {
    assertHead(head, registry, issuerId)
    const { mark } = await readJournal(file, ledger, isKnown)
    return mark
  }
  for await (const { line } of readLines(file, { unfinished: true })) {
    const entry = parseEntry(line)
    if (entry?.kind === 'document') ledger.addDocument(entry.key)
    else if (entry) ledger.addBatch(entry.key, entry.manifest)
  }
  return undefined
}

async function isBlock(request: Request, block: number, hash: Hex): Promise<boolean> {
  return (await hashOfBlock(request, block)) === hash
}
