import { decodeText } from '#table/csv.ts'
import { parseTable } from '#table/read.ts'
import {
  ENCODINGS,
  type Encoding,
  type Reading,
  type Table,
  TableError,
  type TableProblem,
} from '#table/table.ts'
import type { OptionSpec } from './command.ts'
import { InputError } from './errors.ts'

/** The option of every command that reads a table. */
export const ENCODING_OPTION = {
  value: '<name>',
  choices: ENCODINGS,
  about:
    'the encoding of a table that is not UTF-8, such as windows-1252 (Western Europe), windows-1250 (Central Europe) or windows-1251 (Cyrillic)',
} as const satisfies OptionSpec

/** What the user of a command can do, in addition to the message. */
type Advice = { [problem in TableProblem]?: string }
const ADVICE: Advice = {
  not_utf8: `, or give --encoding ${ENCODINGS.join(', ')}`,
  not_encoding: `: give another --encoding, one of ${ENCODINGS.join(', ')}`,
  is_utf8: ': leave out --encoding',
}

/**
 * @param advice What the user can do about some problems, if the command has options for it.
 * @throws {InputError} `bad_table`, naming the line.
 */
export async function readTable(
  bytes: Uint8Array,
  reading: Reading = {},
  advice: Advice = {},
): Promise<Table> {
  try {
    return await parseTable(bytes, reading)
  } catch (error) {
    throw inCommand(error, advice)
  }
}

/** @throws {InputError} `bad_table`. */
export function readText(bytes: Uint8Array, encoding?: Encoding): string {
  try {
    return decodeText(bytes, encoding)
  } catch (error) {
    throw inCommand(error)
  }
}

function inCommand(error: unknown, advice: Advice = {}): unknown {
  if (!(error instanceof TableError)) return error
  const more = advice[error.problem] ?? ADVICE[error.problem] ?? ''
  return badTable(error.message + more, error)
}

export function badTable(message: string, cause?: unknown): InputError {
  return new InputError('bad_table', message, cause)
}
