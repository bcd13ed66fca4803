import type { Anvil, Block } from './anvil.ts'
import type { Header, Journal, JournalContent } from './journal.ts'

export type Log = (line: string) => void

/** A chain that is where its journal is, ready for the next entry. */
export type Running = {
  anvil: Anvil
  journal: Journal
  header: Header
  /** The newest block. */
  head: Block
  /** The number of the next entry. */
  next: number
  /** Seconds by which the chain's clock is ahead of the wall clock. */
  offset: number
}

/** The chain of an Anvil that has got all that this journal holds. */
export const runningWith = (
  anvil: Anvil,
  journal: Journal,
  { header, entries }: JournalContent,
  head: Block,
): Running => ({
  anvil,
  journal,
  header,
  head,
  next: (entries.at(-1)?.n ?? 0) + 1,
  offset: entries.at(-1)?.offset ?? header.offset,
})
