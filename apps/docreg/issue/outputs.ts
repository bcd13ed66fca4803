import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type QrOptions, qrPng, qrSvg } from '#certificates/qr-code.ts'
import { formatTable } from '#table/format.ts'
import { cellsOf } from '#table/rows.ts'
import type { Dialect } from '#table/table.ts'
import { certificateName } from './certificates.ts'
import type { Journal, SentRow } from './journal.ts'
import type { CheckedRows } from './rows.ts'

/** The mode of all files here, because they open documents or contain personal data. */
const PRIVATE = 0o600
const FIRST_COLUMNS = ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt']

export type QrFormat = 'svg' | 'png'

/** A row that the gateway refused. */
export type RefusedRow = { row: SentRow; problem: string }

/** Writes `issued.csv` with all documents of the folder, in the order of their lines. */
export function writeIssued(
  folder: string,
  { rows }: Journal,
  formats: readonly QrFormat[],
  dialect: Dialect,
): void {
  const issued = [...rows.values()].filter((row) => row.issued).sort((a, b) => a.line - b.line)
  const table = issued.map((row) => ({
    line: String(row.line),
    ...cellsOf(row.fields),
    ...row.issued,
    ...Object.fromEntries(formats.map((format) => [`qr.${format}`, qrName(row, format)])),
    ...certificateOf(folder, row),
  }))
  writeTable(join(folder, 'issued.csv'), table, ['line', ...FIRST_COLUMNS], dialect)
}

/** Only an existing certificate is named, also from an earlier run. */
function certificateOf(folder: string, row: SentRow): { certificate?: string } {
  const certificate = certificateName(row)
  return existsSync(join(folder, certificate)) ? { certificate } : {}
}

/** Writes `failed.csv`, which can be corrected and issued. It replaces an older one. */
export function writeFailed(
  folder: string,
  { bad, cells, dialect }: CheckedRows,
  refused: readonly RefusedRow[],
): void {
  const path = join(folder, 'failed.csv')
  // A repeated row is left out. In a table without the other one it would become a second document.
  const correctable = bad.filter(({ sameAs }) => sameAs === undefined)
  const table = [
    ...correctable.map(({ line, cells: own, problems }) => ({
      ...own,
      line: String(line),
      problem: problems.map(({ field, message }) => `${field} ${message}`.trim()).join('; '),
    })),
    ...refused.map(({ row, problem }) => ({
      // A row that is sent again may not be in the current table.
      ...(cells.get(row.key) ?? cellsOf(row.fields)),
      line: String(row.line),
      problem,
    })),
  ]
  if (table.length > 0 || existsSync(path)) writeTable(path, table, ['line', 'problem'], dialect)
}

function writeTable(
  path: string,
  rows: readonly Record<string, string | undefined>[],
  first: readonly string[],
  dialect: Dialect,
): void {
  const columns = [...new Set([...first, ...rows.flatMap((row) => Object.keys(row))])]
  replace(path, formatTable(columns, rows, dialect))
}

/** Replaces the file with a rename, so that a kill leaves either the old or the new one. */
function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.tmp`, content, { mode: PRIVATE })
  renameSync(`${path}.tmp`, path)
}

/** @returns A name that a person can find and that is different for each document. */
function qrName({ fields, issued }: SentRow, format: QrFormat): string {
  return `qr/${fields.subjectId}-${issued?.documentHash.slice(2, 10)}.${format}`
}

/** Draws the missing QR codes, which lead to the verify page. */
export async function drawQrCodes(
  folder: string,
  rows: readonly SentRow[],
  formats: readonly QrFormat[],
  drawn: (done: number) => void,
  isStopped: () => boolean,
): Promise<void> {
  if (formats.length === 0) return
  mkdirSync(join(folder, 'qr'), { recursive: true, mode: 0o700 })
  for (const [i, row] of rows.entries()) {
    if (isStopped()) return
    for (const format of formats) {
      const path = join(folder, qrName(row, format))
      if (!existsSync(path)) replace(path, draw(row.issued?.verifyUrl ?? '', format))
    }
    drawn(i + 1)
    // Gives Ctrl-C and the progress bar a turn.
    await setImmediate()
  }
}

const CODE: QrOptions = { ecc: 'medium', border: 4 }

function draw(link: string, format: QrFormat): string | Uint8Array {
  return format === 'svg' ? qrSvg(link, CODE) : qrPng(link, CODE)
}
