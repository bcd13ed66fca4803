import { existsSync } from 'node:fs'
import { type FileHandle, open, truncate } from 'node:fs/promises'
import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import { bytes32, issuerId } from '#document/members.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { InputError } from '../errors.ts'
import { readLines } from '../lines.ts'
import type { Ledger } from './ledger.ts'
import { ADMIN_EVENTS, type AdminEvent, type IssuedLog } from './registry-events.ts'

/**
 * The file of an audit's events, with one JSON value per line. It is the checkpoint of an
 * interrupted run and, with proofs after the events, the file of `docreg export`.
 */
const TYPE = 'document-registry-list'

/** The first line. */
export type JournalHead = {
  type: typeof TYPE
  v: 1
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  issuerId: number
  /** The first block that was read. */
  from: number
}

/** The last block of a part that was read, with its hash. */
export type Mark = { block: number; hash: Hex }

const quantity = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const address = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value),
)
const place = { block: quantity, transactionHash: bytes32 }
const line = v.union([
  v.object({ scanned: v.object({ block: quantity, hash: bytes32 }) }),
  v.object({
    kind: v.literal('document'),
    key: bytes32,
    account: address,
    validUntil: quantity,
    ...place,
  }),
  v.object({
    kind: v.literal('batch'),
    key: bytes32,
    account: address,
    size: quantity,
    manifest: bytes32,
    ...place,
  }),
  v.object({
    event: v.picklist(ADMIN_EVENTS),
    issuerId,
    account: v.nullable(address),
    by: v.nullable(address),
    permissions: v.optional(quantity),
    acceptFrom: v.optional(quantity),
    fromBlock: v.optional(quantity),
    name: v.optional(v.string()),
    uri: v.optional(v.string()),
    ...place,
  }),
])
type Line = IssuedLog | AdminEvent | { scanned: Mark }

/** Appends to a checkpoint. */
export type Journal = {
  append(lines: readonly Line[]): Promise<void>
  close(): Promise<void>
}

/** @returns The head of such a file; `undefined` for any other file, such as a plain list. */
export async function readHead(file: string): Promise<JournalHead | undefined> {
  for await (const { line } of readLines(file)) {
    const value = parse(line) as Partial<JournalHead> | undefined
    return value?.type === TYPE && value.v === 1 ? (value as JournalHead) : undefined
  }
  return undefined
}

/** @throws {InputError} `other_registry`, `other_issuer` */
export function assertHead(head: JournalHead, registry: RegistryId, issuer: number): void {
  if (head.registry !== registry)
    throw new InputError('other_registry', 'the file belongs to another registry')
  if (head.issuerId !== issuer)
    throw new InputError('other_issuer', `the file belongs to another issuer, ${head.issuerId}`)
}

/**
 * Reads a file into a ledger, up to the last mark that `isKnown` accepts. Lines after it come from
 * an interrupted run, or from blocks that a reorg has removed.
 *
 * @returns That mark, and the place in the file after it.
 * @throws {InputError} `unreadable` for a line that does not belong in such a file.
 */
export async function readJournal(
  file: string,
  ledger: Ledger,
  isKnown: (mark: Mark) => Promise<boolean>,
): Promise<{ mark: Mark | undefined; end: number }> {
  const marks: { mark: Mark; end: number }[] = []
  let headEnd = 0
  for await (const { line: text, end } of readLines(file)) {
    if (headEnd === 0) headEnd = end
    else if (text.startsWith('{"scanned":')) {
      const value = readLine(text)
      if ('scanned' in value) marks.push({ mark: value.scanned, end })
    }
  }
  while (marks.length > 0 && !(await isKnown((marks.at(-1) as { mark: Mark }).mark))) marks.pop()
  const last = marks.at(-1)
  const stop = last?.end ?? headEnd
  for await (const { line: text, end } of readLines(file)) {
    if (end > stop) break
    if (end === headEnd || text.startsWith('{"proof":')) continue
    const value = readLine(text)
    if ('kind' in value) ledger.addLog(value)
    else if ('event' in value) ledger.addAdminEvent(value)
  }
  return { mark: last?.mark, end: stop }
}

function readLine(text: string): Line {
  const read = v.safeParse(line, parse(text))
  if (!read.success)
    throw new InputError('unreadable', 'the file contains a line that does not belong in a list')
  return read.output as Line
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Opens a checkpoint to append to it.
 *
 * @param end Where to continue; the rest of the file is removed. 0 for a new file.
 * @throws {InputError} `unwritable`
 */
export async function openJournal(file: string, head: JournalHead, end: number): Promise<Journal> {
  let opened: FileHandle
  try {
    if (end > 0 && existsSync(file)) await truncate(file, end)
    opened = await open(file, end > 0 ? 'a' : 'w')
    if (end === 0) await opened.appendFile(`${JSON.stringify(head)}\n`)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
  return {
    async append(lines) {
      await opened.appendFile(lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
    },
    close: () => opened.close(),
  }
}

export function headOf(registry: RegistryId, issuer: number, from: number): JournalHead {
  return { type: TYPE, v: 1, registry, issuerId: issuer, from }
}
