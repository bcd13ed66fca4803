import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Comparison } from './compare.ts'

// The report of a restore.

/** Lists documents that were issued after the backup and whose payload is lost. */
const LOST_FILE = 'missing-payloads.txt'
/** Lists the roots of batches that were issued after the backup and whose manifest is lost. */
const UNREAD_FILE = 'missing-batches.txt'

/** Writes lists of what is lost, if anything is, into a folder. */
export function writeLists(folder: string, { lost, batches }: Comparison): void {
  writeList(join(folder, LOST_FILE), [...lost, ...batches.lost])
  writeList(join(folder, UNREAD_FILE), batches.unread)
}

function writeList(path: string, lines: readonly string[]): void {
  if (lines.length > 0) writeFileSync(path, `${lines.join('\n')}\n`)
}

export function linesOf(compared: Comparison, erasureList: string): string[] {
  return [
    existsSync(erasureList)
      ? `erased    ${compared.erased} erasures in ${erasureList} are newer than the backup, and were repeated`
      : `erased    there is no list at ${erasureList} (ERASURE_LIST): documents erased after the backup are restored`,
    ...linesOfDocuments(compared),
    ...linesOfBatches(compared),
    ...linesOfLost(compared),
  ]
}

function linesOfDocuments({
  payloads,
  anchored,
  waiting,
  arrived,
  outdated,
  later,
  fetched,
  lost,
}: Omit<Comparison, 'erased' | 'anchoredBatches' | 'batches'>): string[] {
  return [
    `payloads  ${payloads} are whole`,
    `history   ${anchored} documents were anchored, and the chain has all of them`,
    `outbox    ${waiting + arrived} promised: ${arrived} have reached the chain, ${waiting} will be sent at the start`,
    ...(outdated > 0 ? [`          ${outdated} changes dropped: newer ones are on the chain`] : []),
    ...(later > 0
      ? [
          `later     ${later} documents of the issuer are on the chain but not in the backup: ${fetched} payloads fetched, ${lost.length} lost`,
        ]
      : []),
  ]
}

function linesOfBatches({ anchoredBatches, batches }: Comparison): string[] {
  const { documents, lost, unread } = batches
  return [
    ...(anchoredBatches > 0
      ? [`batches   ${anchoredBatches} were anchored, and the chain has all of them`]
      : []),
    ...(batches.batches > 0
      ? [
          `          ${batches.batches} batches are on the chain but not in the backup, ${unread.length} of them without a manifest: of ${documents} documents, ${documents - lost.length} payloads fetched, ${lost.length} lost`,
        ]
      : []),
  ]
}

function linesOfLost({ lost, batches }: Comparison): string[] {
  const files = [
    ...(lost.length + batches.lost.length > 0 ? [LOST_FILE] : []),
    ...(batches.unread.length > 0 ? [UNREAD_FILE] : []),
  ]
  if (files.length === 0) return []
  return [
    `          listed in ${files.join(' and ')}. Repeat their requests with the same Idempotency-Key (a batch without one: the same body), or set IPFS_GATEWAYS to a source that has them and restore again`,
  ]
}
