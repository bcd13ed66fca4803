import { createHmac, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { DocumentFields } from '#document/document.ts'
import { InputError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'

/** A document as the gateway returned it. */
export type Issued = {
  publicId: string
  documentHash: string
  status: string
  verifyUrl: string
  network: 'test' | 'live'
  batchRoot?: string
}
/** A row that was sent. Without an answer its result is unknown, so it is sent again. */
export type SentRow = { key: string; line: number; fields: DocumentFields; issued?: Issued }
/** A batch that was sent, as the keys of its rows in order. */
export type SentBatch = { number: number; keys: string[]; isDone: boolean }

type Entry =
  | { kind: 'run'; id: string; gateway: string; seal?: string }
  | { kind: 'sent'; key: string; line: number; fields: DocumentFields }
  | { kind: 'refused'; key: string }
  | { kind: 'batch'; number: number; rows: SentRow[] }
  | { kind: 'batchDone'; number: number }
  | { kind: 'issued'; key: string; issued: Issued }

/**
 * The rows that a run has sent, and the answers. Rows are written here before they are sent. The
 * Idempotency-Key of a row is derived from the run and the row, so that sending a row again after a
 * kill gives the same document.
 */
export type Journal = {
  /** The random id of the run. */
  id: string
  rows: ReadonlyMap<string, SentRow>
  batches: readonly SentBatch[]
  sent(row: Omit<SentRow, 'issued'>): void
  issued(key: string, issued: Issued): void
  /** Forgets a row, because nothing was issued. */
  refused(key: string): void
  batchSent(rows: readonly SentRow[]): SentBatch
  batchDone(batch: SentBatch): void
  close(): void
}

const NAME = 'journal.ndjson'

/**
 * @param folder Created if it is missing, for its owner only, because everything in it opens
 * documents.
 * @param gateway The gateway of the run. Another one would issue everything again.
 * @param isTrusted Whether the user vouches for a run of another API key. Otherwise somebody who
 * filled the folder could have their rows issued with the user's key.
 * @throws {InputError} `other_run`, `unwritable`
 */
export function openJournal(
  folder: string,
  gateway: Pick<Gateway, 'url' | 'apiKey'>,
  isTrusted = false,
): Journal {
  const path = join(folder, NAME)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (existsSync(path) && !statSync(path).isFile())
      throw new InputError('other_run', `${path} was not written by docreg`)
    const entries = existsSync(path) ? readEntries(path) : []
    const file = openSync(path, 'a', 0o600)
    return journalOf(entries, file, { ...gateway, folder, isTrusted })
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    throw new InputError('unwritable', `${folder} cannot be written`, cause)
  }
}

/** A kill may leave half a line at the end. */
function readEntries(path: string): Entry[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Entry]
      } catch {
        return []
      }
    })
}

/** @returns A seal for the id of a run that only a holder of the API key can make. */
function sealOf(id: string, { url, apiKey }: Pick<Gateway, 'url' | 'apiKey'>): string {
  return createHmac('sha256', apiKey).update(`docreg journal ${id} ${url}`).digest('hex')
}

type Owner = Pick<Gateway, 'url' | 'apiKey'> & { folder: string; isTrusted: boolean }

function journalOf(before: Entry[], file: number, owner: Owner): Journal {
  const rows = new Map<string, SentRow>()
  const batches: SentBatch[] = []
  // The line feed in front ends a line that a kill may have left unfinished.
  const write = (entry: Entry) => {
    try {
      writeFileSync(file, `\n${JSON.stringify(entry)}\n`)
    } catch (cause) {
      throw new InputError('unwritable', 'the journal cannot be written', cause)
    }
  }
  let run = before.find((entry) => entry.kind === 'run')
  if (!run) {
    const id = randomUUID()
    run = { kind: 'run', id, gateway: owner.url, seal: sealOf(id, owner) }
    write(run)
    // Everything that is sent depends on this entry.
    fsyncSync(file)
  }
  if (run.gateway !== owner.url)
    throw new InputError(
      'other_run',
      `${owner.folder} belongs to a run with another gateway, ${run.gateway}: use another folder`,
    )
  if (!owner.isTrusted && run.seal !== sealOf(run.id, owner))
    throw new InputError(
      'other_run',
      `${owner.folder} belongs to a run with another API key: if you started that run, give --resume`,
    )
  for (const entry of before) apply(entry)

  function apply(entry: Entry): void {
    if (entry.kind === 'sent') {
      const { kind, ...row } = entry
      rows.set(row.key, { ...rows.get(row.key), ...row })
    } else if (entry.kind === 'issued') {
      const row = rows.get(entry.key)
      if (row) row.issued = entry.issued
    } else if (entry.kind === 'batch') {
      const { number, rows: sent } = entry
      for (const row of sent) rows.set(row.key, row)
      batches.push({ number, keys: sent.map(({ key }) => key), isDone: false })
    } else if (entry.kind === 'refused') rows.delete(entry.key)
    else if (entry.kind === 'batchDone') {
      const batch = batches.find(({ number }) => number === entry.number)
      if (batch) batch.isDone = true
    }
  }
  const record = (entry: Entry) => {
    write(entry)
    apply(entry)
  }
  return {
    id: run.id,
    rows,
    batches,
    sent: (row) => record({ kind: 'sent', ...row }),
    issued: (key, issued) => record({ kind: 'issued', key, issued }),
    refused: (key) => record({ kind: 'refused', key }),
    batchSent: (sent) => {
      const number = batches.length + 1
      record({ kind: 'batch', number, rows: [...sent] })
      fsyncSync(file)
      return batches.at(-1) ?? { number, keys: [], isDone: false }
    },
    batchDone: ({ number }) => record({ kind: 'batchDone', number }),
    close: () => closeSync(file),
  }
}
