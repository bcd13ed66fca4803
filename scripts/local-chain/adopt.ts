import type { Anvil, Block } from './anvil.ts'
import { endAnvil, leftOverAnvil } from './anvil-process.ts'
import { markReady } from './anvil-record.ts'
import { carryOut, idOf } from './carry-out.ts'
import { journalPath } from './generations.ts'
import { type BlockId, type Entry, Journal, type JournalContent, readJournal } from './journal.ts'
import { type Log, type Running, runningWith } from './running.ts'

const lastBlockOf = ({ header, entries, outcomes }: JournalContent): BlockId | null =>
  entries.reduce<BlockId | null>((head, { n }) => outcomes.get(n)?.block ?? head, header.head)

/**
 * Takes over an Anvil that outlived an earlier run in this folder if it is where the journal is, or one entry behind; else ends it.
 * Call it with the folder's lock.
 */
export const adopt = async (
  dir: string,
  newest: number,
  log: Log,
): Promise<Running | undefined> => {
  const anvil = await leftOverAnvil(dir, log)
  if (anvil === undefined) return undefined
  const taken = anvil.process.ready ? await goOnWith(anvil, journalPath(dir, newest)) : undefined
  if (taken !== undefined) {
    markReady(dir, anvil)
    log(
      `Took over the Anvil that an earlier run left behind (process ${anvil.process.pid}, block ${taken.head.number}).`,
    )
    return taken
  }
  log(
    `An earlier run left an Anvil behind (process ${anvil.process.pid}) that is not where the journal is; it is ended.`,
  )
  await endAnvil(dir, anvil)
  return undefined
}

const goOnWith = async (anvil: Anvil, path: string): Promise<Running | undefined> => {
  const content = await readJournal(path)
  const known = lastBlockOf(content) ?? (await anvil.block(0))
  const journal = await Journal.open(path, content.size)
  const head = await takeOver(
    anvil,
    journal,
    known,
    content.entries.filter(({ n }) => !content.outcomes.has(n)),
  )
  if (head !== undefined) return runningWith(anvil, journal, content, head)
  await journal.close()
  return undefined
}

const takeOver = async (
  anvil: Anvil,
  journal: Journal,
  known: BlockId,
  open: Entry[],
): Promise<Block | undefined> => {
  const head = await anvil.block('latest')
  const [entry, ...more] = open
  if (entry === undefined) return head.hash === known.hash ? head : undefined
  if (more.length > 0) return undefined
  // The kill came between writing the entry down and noting its outcome: before or after Anvil had done it.
  if (head.hash === known.hash) {
    // It fails if Anvil is still at work on what the killed process asked for; the journal then brings all of it back.
    const carried = await carryOut(anvil, head, entry).catch(() => undefined)
    if (carried !== undefined) await journal.note(carried.outcome)
    return carried?.head
  }
  if (
    head.parentHash !== known.hash ||
    head.time !== entry.time ||
    entry.method !== 'eth_sendRawTransaction' ||
    head.transactions < (entry.params as unknown[]).length
  )
    return undefined
  await journal.note({ of: entry.n, block: idOf(head) })
  return head
}
