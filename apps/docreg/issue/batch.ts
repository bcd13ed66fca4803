import { CallError } from '#client/index.ts'
import { InputError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import { refusalOf } from '../outcome.ts'
import { counted } from '../printable.ts'
import type { Issued, SentBatch, SentRow } from './journal.ts'
import type { Run } from './one-by-one.ts'
import type { RefusedRow } from './outputs.ts'

/** The costs in a dry run, with amounts in wei as text. */
export type Quote = {
  batch: { size: number; gas: string; fee: string; maxFee: string }
  /** The cost without a batch. */
  unbatched: { alone: string; grouped: string }
}

type Line = {
  success: boolean
  data: Partial<Issued> & Partial<Quote>
  error?: { code: string; message: string; details?: { field: string; message: string }[] }
}

/** Enough for an upload of 100,000 rows and a block. */
const TIMEOUT_MS = 10 * 60_000
const MAX_ATTEMPTS = 5
const BACK_OFF_MS = 2_000

/**
 * Issues rows with one Merkle root.
 *
 * @returns The rows that the gateway refused.
 * @throws {InputError} `interrupted`
 */
export async function issueBatch(rows: readonly SentRow[], run: Run): Promise<RefusedRow[]> {
  if (rows.length === 0 || run.isStopped()) return []
  return sendBatch(run.journal.batchSent(rows), run)
}

/** Sends batches without an answer again, unchanged, so that they are the same batches. */
export async function resumeBatches(run: Run): Promise<RefusedRow[]> {
  const refused: RefusedRow[] = []
  for (const batch of run.journal.batches)
    if (!batch.isDone && !run.isStopped()) refused.push(...(await sendBatch(batch, run)))
  return refused
}

/** Asks for the status of batches that were promised but in no block when the answer came. */
export async function refreshBatches({ gateway, journal }: Run): Promise<void> {
  const waiting = [...journal.rows.values()].filter(
    ({ issued }) => issued?.status === 'pending' && issued.batchRoot !== undefined,
  )
  for (const root of new Set(waiting.map(({ issued }) => issued?.batchRoot ?? ''))) {
    const { status } = await gateway.client.retrieveBatch({ path: { root } })
    for (const { key, issued } of status === 'pending' ? [] : waiting)
      if (issued?.batchRoot === root) journal.issued(key, { ...issued, status })
  }
}

async function sendBatch(
  batch: SentBatch,
  { gateway, journal, progress }: Run,
): Promise<RefusedRow[]> {
  const refused: RefusedRow[] = []
  const sent = batch.keys.flatMap((key) => journal.rows.get(key) ?? [])
  const lines = await upload(gateway, bodyOf(sent), {
    'idempotency-key': `"docreg:${journal.id}:batch-${batch.number}"`,
  })
  for (const [i, row] of sent.entries()) {
    const line = lines[i]
    if (line?.success) journal.issued(row.key, issuedOf(line.data))
    else {
      refused.push({ row, problem: problemOf(line) })
    }
    progress.update(i + 1)
  }
  // This is written only now, because a batch that is sent again must have all its rows.
  journal.batchDone(batch)
  for (const { row } of refused) journal.refused(row.key)
  return refused
}

/**
 * Asks the gateway to check all rows and to estimate the cost of one transaction for them.
 *
 * @returns The quote, unless all rows are refused, and the refused rows.
 */
export async function quoteBatch(
  rows: readonly SentRow[],
  gateway: Gateway,
): Promise<{ quote: Quote | undefined; refused: RefusedRow[] }> {
  const lines = await upload(gateway, bodyOf(rows), {}, '?dry_run=true')
  const refused = rows.flatMap((row, i) =>
    lines[i]?.success ? [] : [{ row, problem: problemOf(lines[i]) }],
  )
  const { batch, unbatched } = lines.find(({ success }) => success)?.data ?? {}
  return { quote: batch && unbatched && { batch, unbatched }, refused }
}

function bodyOf(rows: readonly SentRow[]): string {
  return rows.map(({ fields }) => `${JSON.stringify(fields)}\n`).join('')
}

/** @throws {InputError} `interrupted` after several attempts; the batch may have been issued. */
async function upload(
  { url, apiKey }: Gateway,
  body: string,
  headers: Record<string, string>,
  query = '',
): Promise<Line[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(`${url}/v1/batches${query}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/x-ndjson',
          ...headers,
        },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return await linesOf(response)
    } catch (cause) {
      const isBusy = !(cause instanceof CallError) || cause.status === 503 || cause.status === 429
      if (!isBusy) throw new InputError('interrupted', refusalOf(cause), cause)
      if (attempt === MAX_ATTEMPTS)
        throw new InputError('interrupted', 'the gateway does not answer', cause)
      await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS * 2 ** attempt))
    }
  }
}

/** @throws {CallError} for an answer about the whole request. */
async function linesOf(response: Response): Promise<Line[]> {
  const text = await response.text()
  const isNdjson = response.headers.get('content-type')?.startsWith('application/x-ndjson')
  if (isNdjson)
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const { status } = response
  const failure = JSON.parse(text).error
  throw new CallError(failure.code, failure.message, { status, failure })
}

function issuedOf(data: Partial<Issued>): Issued {
  const { publicId = '', documentHash = '', status = '', verifyUrl = '', network = 'live' } = data
  const issued = { publicId, documentHash, status, verifyUrl, network }
  return data.batchRoot === undefined ? issued : { ...issued, batchRoot: data.batchRoot }
}

function problemOf(line: Line | undefined): string {
  if (!line?.error) return 'the gateway did not answer for this row'
  const { code, message, details = [] } = line.error
  const fields = details.map(({ field, message }) => `${field} ${message}`.trim())
  return fields.length > 0 ? fields.join('; ') : `${code}: ${message}`
}

/** How many times cheaper a batch is when it is recommended. */
const WORTH_SAYING = 2n
const WEI_PER_GWEI = 10n ** 9n
const WEI_PER_ETHER = 10n ** 18n

/**
 * @returns The cost of issuing at the current price, in the chain's coin, and whether a batch is
 * cheaper. The gateway estimates both. The cost one by one depends on how many documents share a
 * transaction, so it is a range.
 */
export function costLines({ batch, unbatched }: Quote): string[] {
  const [gas, fee, maxFee] = [batch.gas, batch.fee, batch.maxFee].map(BigInt) as [
    bigint,
    bigint,
    bigint,
  ]
  const [grouped, alone] = [BigInt(unbatched.grouped), BigInt(unbatched.alone)]
  const price = gas === 0n ? 0n : fee / gas
  const times = fee === 0n ? 0n : grouped / fee
  return [
    `Cost of ${counted(batch.size, 'document')}, at ${decimals(price, WEI_PER_GWEI)} gwei:`,
    `  one by one  about ${ether(grouped)} to ${ether(alone)} ether`,
    `  --batch     about ${ether(fee)}, at most ${ether(maxFee)} ether`,
    ...(times >= WORTH_SAYING ? [`Use --batch: it is at least ${times} times cheaper.`] : []),
  ]
}

function ether(wei: bigint): string {
  return decimals(wei, WEI_PER_ETHER)
}

const THREE_DIGITS = new Intl.NumberFormat('en', {
  maximumSignificantDigits: 3,
  useGrouping: false,
})

function decimals(amount: bigint, unit: bigint): string {
  return THREE_DIGITS.format(Number(amount) / Number(unit))
}
