import type { Gateway } from '../gateway.ts'
import { refusalOf } from '../outcome.ts'
import { inParallel } from '../parallel.ts'
import type { Progress } from '../terminal.ts'
import type { Issued, Journal, SentRow } from './journal.ts'
import type { RefusedRow } from './outputs.ts'

export type Run = {
  gateway: Gateway
  journal: Journal
  progress: Progress
  isStopped: () => boolean
}

/**
 * Issues each row with its own request. A row that was sent before gives the same document.
 *
 * @returns The rows that the gateway refused.
 * @throws {InputError} `interrupted`
 */
export async function issueOneByOne(
  rows: readonly SentRow[],
  { gateway, journal, progress, isStopped }: Run,
  concurrency: number,
): Promise<RefusedRow[]> {
  const refused: RefusedRow[] = []
  let done = 0
  const send = async (row: SentRow) => {
    try {
      const answer = await gateway.client.issueDocument({
        body: row.fields,
        idempotencyKey: `docreg:${journal.id}:${row.key}`,
      })
      journal.issued(row.key, issuedOf(answer))
    } catch (error) {
      const problem = refusalOf(error)
      journal.refused(row.key)
      refused.push({ row, problem })
    }
    progress.update(++done)
  }
  const first = async (row: SentRow) => {
    if (!journal.rows.has(row.key)) journal.sent(row)
    await send(row)
  }
  await inParallel(rows, concurrency, first, isStopped)
  return refused
}

function issuedOf({ publicId, documentHash, status, verifyUrl, network }: Issued): Issued {
  return { publicId, documentHash, status, verifyUrl, network }
}
