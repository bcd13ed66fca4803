import { join } from 'node:path'
import { contentOf } from '#certificates/content.ts'
import { CertificateError } from '#certificates/errors.ts'
import { fileNameOf } from '#certificates/files.ts'
import type { Document } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { bundlesOfGateway } from '../certificates/bundles.ts'
import { type Printed, type PrintedRow, type Printing, printAll } from '../certificates/printing.ts'
import { UsageError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { Terminal } from '../terminal.ts'
import type { SentRow } from './journal.ts'
import type { CheckedRows, GoodRow } from './rows.ts'

/** In the folder of the run. */
export const CERTIFICATES = 'certificates'

/** For what is not known before a row is issued. */
const NOWHERE: RegistryId = `eip155:1:0x${'0'.repeat(40)}`

/** @returns The rows, those with bad ones that lack a field of the template. */
export function checkForTemplate(rows: CheckedRows, { settings }: Printing): CheckedRows {
  const checked: CheckedRows = { ...rows, good: [], bad: [...rows.bad] }
  for (const row of rows.good) {
    try {
      contentOf(sample(row), settings)
      checked.good.push(row)
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error
      const problems = [{ field: '', message: error.message }]
      checked.bad.push({ line: row.line, cells: rows.cells.get(row.key) ?? {}, problems })
    }
  }
  checked.bad.sort((a, b) => a.line - b.line)
  return checked
}

/**
 * Prints the first row, to see that engine and template work before anything is issued.
 *
 * @throws {UsageError} if they do not.
 */
export async function tryTemplate(rows: readonly GoodRow[], { pool }: Printing): Promise<void> {
  const [row] = rows
  if (row === undefined) return
  try {
    await pool.print({
      document: sample(row),
      documentHash: `0x${row.key}`,
      link: 'https://example.invalid/verify',
      bundle: '{}',
    })
  } catch (error) {
    if (error instanceof CertificateError)
      throw new UsageError(`--certificates: line ${row.line}: ${error.message}`)
    throw error
  }
}

function sample({ fields }: GoodRow): Document {
  return { ...fields, registry: NOWHERE, issuerId: 1 } as Document
}

/** @returns The certificate's path in the folder of the run, whether it is there or not. */
export function certificateName({ fields, issued }: SentRow): string {
  return `${CERTIFICATES}/${fileNameOf(fields.subjectName, (issued?.documentHash ?? '') as Hex)}`
}

/** Prints what is issued and in a block, from the bundles of the gateway. */
export function printIssued(
  rows: readonly SentRow[],
  task: {
    gateway: Gateway
    out: string
    printing: Printing
    terminal: Terminal
    isStopped: () => boolean
  },
): Promise<Printed> {
  const { gateway, out, ...rest } = task
  const ready = rows.filter((row) => row.issued?.status !== 'pending')
  return printAll(ready.map(printedRow), {
    ...rest,
    folder: join(out, CERTIFICATES),
    bundles: bundlesOfGateway(gateway),
  })
}

function printedRow(row: SentRow): PrintedRow {
  const { publicId = '', verifyUrl = '' } = row.issued ?? {}
  const file = certificateName(row).slice(CERTIFICATES.length + 1)
  return { line: row.line, publicId, page: verifyUrl.split('#')[0] ?? '', file }
}
