import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileNameOf } from '#certificates/files.ts'
import type { Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { type Encoding, MAX_ROWS, type Row, type Table } from '#table/table.ts'
import { readBundle } from '#verifier/bundle.ts'
import { badTable, readTable } from '../csv.ts'
import { InputError, UsageError } from '../errors.ts'
import { readInputFile } from '../files.ts'
import { readBytes, readSubject } from '../subject.ts'
import type { PrintedRow } from './printing.ts'

const TABLE = 'issued.csv'

/**
 * @param given One document.
 * @param from Several documents: a table; `-` for a table on standard input; a folder of `docreg
 * issue` or of bundles.
 * @param page The verify page; absent = that of each row.
 * @param encoding The encoding of the table.
 * @throws {UsageError} unless there is exactly one source. @throws {InputError}
 */
export async function readPrintedRows(
  given: string | undefined,
  from: string | undefined,
  page: string | undefined,
  encoding?: Encoding,
): Promise<PrintedRow[]> {
  if (page !== undefined && !URL.canParse(page))
    throw new UsageError('--verify-url must be an http or https address')
  if (from !== undefined && given === undefined) return readMany(from, page, encoding)
  if (given === undefined || from !== undefined)
    throw new UsageError('name one document, or give --from')
  if (page === undefined) throw new UsageError('--verify-url is required')
  const { publicId, bundle } = await readSubject(given)
  decodePublicId(publicId)
  return [{ publicId, page, ...(bundle && { bundle: async () => bundle.bundle }) }]
}

async function readMany(
  from: string,
  page: string | undefined,
  encoding: Encoding | undefined,
): Promise<PrintedRow[]> {
  if (from === '-' || !existsSync(from) || !statSync(from).isDirectory())
    return fromTable(await readTable(await readInputFile(from), { encoding }), page)
  const table = join(from, TABLE)
  if (existsSync(table))
    return fromTable(await readTable(await readInputFile(table), { encoding }), page)
  if (page === undefined) throw new UsageError('--verify-url is required for a folder of bundles')
  const names = readdirSync(from).filter((name) => name.endsWith('.json'))
  if (names.length === 0)
    throw new InputError('unreadable', `${from} has neither ${TABLE} nor bundles (.json)`)
  if (names.length > MAX_ROWS) throw badTable(`more than ${MAX_ROWS} bundles: split the folder`)
  return Promise.all(names.sort().map((name) => ofBundle(join(from, name), page)))
}

/** Only the publicId is kept, because ten thousand bundles may not fit into memory. */
async function ofBundle(file: string, page: string): Promise<PrintedRow> {
  const read = async () => readBundle(await readBytes(file)).bundle
  try {
    return { publicId: (await read()).publicId, page, bundle: read }
  } catch (cause) {
    throw new InputError('unreadable', `${file} is not a bundle`, cause)
  }
}

function fromTable({ rows }: Table, page: string | undefined): PrintedRow[] {
  return rows.map((row) => ofLine(row, page))
}

function ofLine({ line, cells }: Row, page: string | undefined): PrintedRow {
  const { publicId = '', verifyUrl = '', subjectName = '', documentHash = '' } = cells
  const itsPage = page ?? (verifyUrl.split('#')[0] || undefined)
  if (itsPage === undefined || !URL.canParse(itsPage))
    throw badTable(`line ${line} has no verifyUrl: give --verify-url`)
  try {
    decodePublicId(publicId)
  } catch (cause) {
    throw badTable(`line ${line} has no publicId`, cause)
  }
  const isNamed = subjectName !== '' && /^0x[0-9a-f]{64}$/.test(documentHash)
  return {
    line,
    publicId,
    page: itsPage,
    ...(isNamed && { file: fileNameOf(subjectName, documentHash as Hex) }),
  }
}
