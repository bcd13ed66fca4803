import { decodeText, parseCsv } from '#table/csv.ts'
import { ENCODINGS, type Encoding, type Table, TableError } from '#table/table.ts'
import type { OptionSpec } from './command.ts'
import { InputError } from './errors.ts'

/** The option of every command that reads a table. */
export const ENCODING_OPTION = {
  value: '<name>',
  choices: ENCODINGS,
  about:
    'the encoding of a table that is not UTF-8, such as windows-1252 (Western Europe), windows-1250 (Central Europe) or windows-1251 (Cyrillic)',
} as const satisfies OptionSpec

/** What the user of the command can do, in addition to the message. */
const ADVICE: Record<string, string> = {
  not_utf8: `, or give --encoding ${ENCODINGS.join(', ')}`,
  not_encoding: `: give another --encoding, one of ${ENCODINGS.join(', ')}`,
  is_utf8: ': leave out --encoding',
}

/** @throws {InputError} `bad_table`, naming the line. */
export function readTable(bytes: Uint8Array, encoding?: Encoding): Table {
  return inCommand(() => parseCsv(bytes, encoding))
}

/** @throws {InputError} `bad_table`. */
export function readText(bytes: Uint8Array, encoding?: Encoding): string {
  return inCommand(() => decodeText(bytes, encoding))
}

function inCommand<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TableError)) throw error
    throw badTable(`${error.message}${ADVICE[error.problem] ?? ''}`, error)
  }
}

export function badTable(message: string, cause?: unknown): InputError {
  return new InputError('bad_table', message, cause)
}
