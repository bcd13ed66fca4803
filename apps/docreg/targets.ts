import { decodePublicId } from '#document/public-id.ts'
import { headerOf } from '#table/csv.ts'
import { isZip } from '#table/read.ts'
import { type Encoding, MAX_ROWS, type Row } from '#table/table.ts'
import type { CommandInput, Options } from './command.ts'
import { badTable, ENCODING_OPTION, readTable, readText } from './csv.ts'
import { UsageError } from './errors.ts'
import { readInputFile } from './files.ts'
import { readSubject } from './subject.ts'

/** A document to change. */
export type Target = {
  /** The line in its file. */
  line?: number
  /** A publicId or documentHash, as the REST API accepts it in a path. Never print it. */
  id: string
  /** The other columns of its line. */
  cells: Row['cells']
  notes?: Row['notes']
}

export const TARGET_ARGUMENT = {
  name: '[document]',
  about: 'a file (publicId, QR code as PNG or JPEG, bundle), an address, a documentHash, or -',
} as const

export const TARGET_OPTIONS = {
  from: {
    value: '<file>',
    about:
      'many: a table (CSV, .xlsx, .ods) with a column publicId or documentHash, such as issued.csv, or a file with one of them per line',
  },
  encoding: ENCODING_OPTION,
} as const satisfies Options

/** @throws {UsageError} unless there is exactly one source. @throws {InputError} */
export async function readTargets({
  args: [given],
  values: { from, encoding },
}: Pick<CommandInput<typeof TARGET_OPTIONS>, 'args' | 'values'>): Promise<Target[]> {
  if ((given === undefined) === (from === undefined))
    throw new UsageError('name one document, or give --from')
  if (given !== undefined) return [{ id: await idOf(given), cells: {} }]
  const bytes = await readInputFile(from ?? '')
  if (isZip(bytes)) return fromTable(bytes, encoding)
  const text = readText(bytes, encoding)
  const isTable = /(^|[,;\t"])(publicId|documentHash)(["]?[,;\t]|["]?$)/.test(headerOf(text))
  return isTable ? fromTable(bytes, encoding) : fromLines(text)
}

async function idOf(given: string): Promise<string> {
  if (isHash(given)) return given.toLowerCase()
  const { publicId } = await readSubject(given)
  decodePublicId(publicId)
  return publicId
}

function isHash(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

async function fromTable(bytes: Uint8Array, encoding: Encoding | undefined): Promise<Target[]> {
  const { rows } = await readTable(bytes, { encoding })
  return rows.map((row) => {
    const id = row.cells.publicId || row.cells.documentHash || ''
    return { ...row, id: checked(id, row.line) }
  })
}

function fromLines(text: string): Target[] {
  const lines = text.split(/\r?\n/).map((id, i) => ({ id: id.trim(), line: i + 1 }))
  const targets = lines.filter(({ id }) => id !== '')
  if (targets.length > MAX_ROWS) throw badTable(`more than ${MAX_ROWS} lines: split the file`)
  return targets.map(({ id, line }) => ({ line, id: checked(id, line), cells: {} }))
}

/**
 * @throws {InputError} before anything is changed. The message omits the text, which may open a
 * document.
 */
function checked(id: string, line: number): string {
  if (isHash(id)) return id.toLowerCase()
  try {
    decodePublicId(id)
    return id
  } catch (cause) {
    throw badTable(`line ${line} has neither a publicId nor a documentHash`, cause)
  }
}
