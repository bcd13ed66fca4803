import { MOVED, type Table } from '#store/tables.ts'
import { assertPayload } from '../backup/compare.ts'
import { BackupError } from '../backup/contents.ts'
import { createSum, type Side, type Sum, type Target } from '../tables/rows.ts'

/** How often a long copy reports its progress. */
const REPORT_INTERVAL_MS = 10_000

/**
 * Copies all tables, reads the copy again, and compares the two.
 *
 * @param say Receives a line for each table that has rows.
 * @throws {BackupError} when a payload does not match its hash, or the copy differs.
 */
export async function copyAll(from: Side, to: Target, say: (line: string) => void): Promise<void> {
  const copied = new Map<Table, Sum>()
  for (const table of MOVED) {
    const sum = await copyTable(from, to, table, say)
    copied.set(table, sum)
    if (table.numbered) await to.setNextNumber(table, await from.nextNumber(table))
    if (sum.rows > 0) say(`copied    ${table.name}: ${sum.rows}`)
  }
  await to.setKeyVersion(await from.keyVersion())
  for (const [table, sum] of copied) await assertSame(to, table, sum)
}

async function copyTable(
  from: Side,
  to: Target,
  table: Table,
  say: (line: string) => void,
): Promise<Sum> {
  const { add, sum } = createSum()
  let reported = performance.now()
  for await (const rows of from.rows(table)) {
    if (table.name === 'payload') rows.forEach(assertPayload)
    await to.insert(table, rows)
    add(rows)
    if (performance.now() < reported + REPORT_INTERVAL_MS) continue
    say(`copying   ${table.name}: ${sum().rows} …`)
    reported = performance.now()
  }
  return sum()
}

async function assertSame(to: Side, table: Table, copied: Sum): Promise<void> {
  const { add, sum } = createSum()
  for await (const rows of to.rows(table)) add(rows)
  const written = sum()
  if (written.rows !== copied.rows || written.digest !== copied.digest)
    throw new BackupError(
      `the copy of ${table.name} differs: ${copied.rows} rows were copied, ${written.rows} are there`,
    )
}
