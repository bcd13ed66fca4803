import { existsSync } from 'node:fs'
import { adopt } from './adopt.ts'
import type { Anvil, Block } from './anvil.ts'
import { endAnvil, startAnvil } from './anvil-process.ts'
import { markReady } from './anvil-record.ts'
import { type CarriedOut, carryOut } from './carry-out.ts'
import { writeState } from './checkpoint.ts'
import { LocalChainError } from './errors.ts'
import { generationsIn, journalPath, putInPlace, statePath } from './generations.ts'
import {
  type Entry,
  Journal,
  type JournalContent,
  lineOf,
  type Outcome,
  readJournal,
} from './journal.ts'
import { type Log, type Running, runningWith } from './running.ts'

const failed = (path: string, { n }: Entry, what: string, cause?: unknown): LocalChainError =>
  new LocalChainError(
    'replay_failed',
    `Entry ${n} of ${path} ${what}. The file was changed, or Anvil is another version than the one that wrote it: install that version, or move the directory away to begin with a new chain.`,
    { cause },
  )

const replayOne = async (
  anvil: Anvil,
  head: Block,
  entry: Entry,
  known: Outcome | undefined,
  path: string,
): Promise<CarriedOut> => {
  const carried = await carryOut(anvil, head, entry, undefined, known?.refused).catch(
    (cause: Error) => {
      throw failed(path, entry, `cannot be replayed: ${cause.message}`, cause)
    },
  )
  const { block } = carried.outcome
  if (known === undefined || known.block?.hash === block?.hash) return carried
  const now =
    block === undefined
      ? `is refused now: ${carried.answers.join(' ')}`
      : `makes ${block.number} (${block.hash}) now`
  throw failed(path, entry, `made block ${known.block?.number} (${known.block?.hash}) and ${now}`)
}

/** Does to Anvil what the journal says. What was refused then is left out; a block that was mined must come back as it was. */
const replay = async (
  anvil: Anvil,
  path: string,
  content: JournalContent,
  log: Log,
): Promise<Running> => {
  const began = performance.now()
  const journal = await Journal.open(path, content.size)
  let head = await anvil.block('latest')
  try {
    for (const entry of content.entries) {
      const known = content.outcomes.get(entry.n)
      const carried = await replayOne(anvil, head, entry, known, path)
      if (known === undefined) await journal.note(carried.outcome)
      head = carried.head
    }
  } catch (error) {
    await journal.close()
    throw error
  }
  const count = content.entries.length
  if (count > 0)
    log(
      `Replayed ${count} journal entries in ${Math.round(performance.now() - began)} ms; the chain is at block ${head.number}.`,
    )
  return runningWith(anvil, journal, content, head)
}

/** Starts Anvil from a state, if that loads and holds the block that its journal goes on from. */
const load = async (
  dir: string,
  generation: number,
  content: JournalContent,
  log: Log,
): Promise<Anvil | undefined> => {
  const path = statePath(dir, generation)
  const { genesisTime, head } = content.header
  if (head === null) return startAnvil({ dir, genesisTime })
  if (!existsSync(path)) return undefined
  // Twice: its port may have been taken between choosing and using it.
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      const anvil = await startAnvil({ dir, genesisTime, statePath: path })
      if ((await anvil.block('latest')).hash === head.hash) return anvil
      await endAnvil(dir, anvil)
      log(`${path} does not end with the block that it should.`)
      return undefined
    } catch (error) {
      if (!(error instanceof LocalChainError) || error.code !== 'anvil_failed') throw error
      log(`${path} cannot be loaded. ${error.message}`)
    }
  }
  return undefined
}

const rebuild = async (dir: string, journals: number[], log: Log): Promise<Running> => {
  for (const generation of journals.toReversed()) {
    const content = await readJournal(journalPath(dir, generation))
    const anvil = await load(dir, generation, content, log)
    if (anvil === undefined) continue
    return goOn(dir, anvil, content, journals, log)
  }
  throw new LocalChainError(
    'no_usable_state',
    `None of the chain's states in ${dir} can be loaded. Put a copy of them back, or move the directory away to begin with a new chain.`,
  )
}

/** Replays the journal of a state; while a newer one follows it, writes the state between the two again and goes on from there. */
const goOn = async (
  dir: string,
  anvil: Anvil,
  content: JournalContent,
  journals: number[],
  log: Log,
): Promise<Running> => {
  const { generation } = content.header
  try {
    const chain = await replay(anvil, journalPath(dir, generation), content, log)
    if (!journals.includes(generation + 1)) {
      markReady(dir, anvil)
      return chain
    }
    await chain.journal.close()
    await writeState(dir, generation + 1, anvil)
  } catch (error) {
    await endAnvil(dir, anvil)
    throw error
  }
  await endAnvil(dir, anvil)
  const path = journalPath(dir, generation + 1)
  const next = await readJournal(path)
  const restarted = await load(dir, generation + 1, next, log)
  if (restarted === undefined)
    throw new LocalChainError(
      'replay_failed',
      `${journalPath(dir, generation)} does not lead to the block that ${path} goes on from.`,
    )
  return goOn(dir, restarted, next, journals, log)
}

/**
 * Brings the chain to where its journal is: by taking over an Anvil that lives, or from the newest state that loads.
 * @throws if the journal cannot be read or does not lead to the same blocks again
 */
export const recover = async (dir: string, log: Log): Promise<Running> => {
  let { journals } = await generationsIn(dir)
  if (journals.length === 0) {
    const genesisTime = Math.floor(Date.now() / 1000)
    await putInPlace(
      journalPath(dir, 0),
      lineOf({ journal: 1, generation: 0, genesisTime, head: null, offset: 0 }),
    )
    journals = [0]
  }
  return (await adopt(dir, journals.at(-1) ?? 0, log)) ?? rebuild(dir, journals, log)
}
