import type { Anvil, Block } from './anvil.ts'
import type { Header, Journal } from './journal.ts'

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
