import { join } from 'node:path'
import { contentOf } from '#certificates/content.ts'
import { CertificateError } from '#certificates/errors.ts'
import { fileNameOf } from '#certificates/files.ts'
import type { Document } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { GoodRow } from '#table/rows.ts'
import { bundlesOfGateway } from '../certificates/bundles.ts'
import {
  kindIn,
  type Printed,
  type PrintedRow,
  type Printing,
  printAll,
} from '../certificates/printing.ts'
import { UsageError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { Terminal } from '../terminal.ts'
import type { SentRow } from './journal.ts'
import type { CheckedRows } from './rows.ts'

/** The subfolder of the run. */
export const CERTIFICATES = 'certificates'

/** A placeholder for values that are unknown before a row is issued. */
const NOWHERE: RegistryId = `eip155:1:0x${'0'.repeat(40)}`

/** @returns The rows, where a row that lacks a field of the template is bad. */
export function checkForTemplate(rows: CheckedRows, printing: Printing): CheckedRows {
  const checked: CheckedRows = { ...rows, good: [], bad: [...rows.bad] }
  for (const row of rows.good) {
    try {
      contentOf(sample(row), printing.settings, kindIn(printing, row.fields))
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
 * Prints the first row, to test engine and template before anything is issued.
 *
 * @throws {UsageError} if they do not work.
 */
export async function tryTemplate(rows: readonly GoodRow[], printing: Printing): Promise<void> {
  const [row] = rows
  if (row === undefined) return
  try {
    await printing.pool.print({
      document: sample(row),
      kind: kindIn(printing, row.fields),
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

/** @returns The path of the certificate in the folder of the run, whether or not it exists. */
export function certificateName({ fields, issued }: SentRow): string {
  return `${CERTIFICATES}/${fileNameOf(fields.subjectName, (issued?.documentHash ?? '') as Hex)}`
}

/** Prints what is issued and in a block, with the bundles of the gateway. */
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
