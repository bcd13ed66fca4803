/** Why a table cannot be read. */
export type TableProblem =
  | 'no_columns'
  | 'duplicate_column'
  | 'too_many_rows'
  | 'quotes'
  | 'row_too_long'
  | 'cell_count'
  /** The text is not UTF-8, and no encoding was named. */
  | 'not_utf8'
  /** The text is UTF-8, but another encoding was named. */
  | 'is_utf8'
  /** The text has bytes that the named encoding does not have. */
  | 'not_encoding'
  /** The file is no workbook of a spreadsheet program, or is protected by a password. */
  | 'no_workbook'
  /** The file is of Excel before 2007, or protected by a password. */
  | 'old_workbook'
  /** The file is HTML, as some programs write .xls. */
  | 'web_page'
  /** The workbook is larger than any table that people make. */
  | 'workbook_too_large'
  /** The workbook has what no spreadsheet program writes. */
  | 'workbook_strange'
  /** Ranges of more cells are merged than tables have. */
  | 'too_many_merged'

/** Thrown for a table that cannot be read. The message names the line and repeats no cell. */
export class TableError extends Error {
  override name = 'TableError'
  readonly problem: TableProblem
  /** The line of the file, from 1. */
  readonly line: number | undefined
  /** What else the file may have for a table. */
  choices: Choices | undefined

  constructor(
    problem: TableProblem,
    message: string,
    { line, cause }: { line?: number | undefined; cause?: unknown } = {},
  ) {
    super(line === undefined ? message : `line ${line}${message}`, { cause })
    this.problem = problem
    this.line = line
  }
}

/** What a cell of a workbook has beside its text. */
export type Note = {
  /** The number or day that it holds, if its text says something else. */
  value?: string
  /** It has an error or no result; or a number of which spreadsheets lose digits. */
  problem?: 'no_result' | 'digits_lost'
}

/** A line of a table, with the cells by the names of their columns. */
export type Row = {
  /** The line of the file in which it begins, from 1. Titles and header are lines too. */
  line: number
  cells: Record<string, string>
  notes?: Record<string, Note>
}
/** A line whose columns have no names yet. It may lack cells at its end. */
export type Line = {
  line: number
  cells: readonly string[]
  notes?: readonly (Note | undefined)[]
}
export type Table = { columns: string[]; rows: Row[]; dialect: Dialect; choices?: Choices }

/** How to read a file. Whatever is absent is detected. */
export type Reading = {
  /** Of a text that is not Unicode. */
  encoding?: Encoding | undefined
  /** Names the months of a workbook, and says which sign comes before decimals; default English. */
  language?: string | undefined
  /** The name of a sheet. */
  sheet?: string | undefined
  /** The line that names the columns. */
  header?: number | undefined
}

/** Which table of a file is read, and which ones there are. */
export type Choices = {
  header: number
  /** Lines that may name the columns. */
  lines: readonly Line[]
  sheet?: string
  sheets?: readonly string[]
}

/** How a table is written. A spreadsheet opens a table in its own dialect on a double click. */
export type Dialect = {
  delimiter: string
  lineEnd: '\n' | '\r\n'
  encoding: 'utf-8' | 'utf-16le'
  /** Whether the table begins with a byte order mark. */
  hasMark: boolean
}

/** The dialect of RFC 4180, except for its line ends. */
export const PLAIN: Dialect = {
  delimiter: ',',
  lineEnd: '\n',
  encoding: 'utf-8',
  hasMark: false,
}

/** Spreadsheets recognize UTF-8 in a table that they open on a double click by its mark. */
export const FOR_SPREADSHEETS: Dialect = { ...PLAIN, hasMark: true }

/**
 * Encodings that spreadsheets use besides UTF-8 and UTF-16, with their scripts (ISO 15924). A file
 * does not say which one it has.
 */
export const SCRIPTS = {
  'windows-1252': 'Latn',
  'windows-1250': 'Latn',
  'windows-1254': 'Latn',
  'windows-1257': 'Latn',
  'windows-1258': 'Latn',
  'iso-8859-2': 'Latn',
  macintosh: 'Latn',
  'windows-1251': 'Cyrl',
  'koi8-r': 'Cyrl',
  'iso-8859-5': 'Cyrl',
  ibm866: 'Cyrl',
  'x-mac-cyrillic': 'Cyrl',
  'windows-1253': 'Grek',
  'windows-1255': 'Hebr',
  'windows-1256': 'Arab',
  'windows-874': 'Thai',
  shift_jis: 'Jpan',
  'euc-jp': 'Jpan',
  gb18030: 'Hans',
  big5: 'Hant',
  'euc-kr': 'Kore',
} as const
export type Encoding = keyof typeof SCRIPTS
export const ENCODINGS = Object.keys(SCRIPTS) as Encoding[]

/** Columns that are added to tables besides those of a document and its `publicId`. */
export const OWN_COLUMNS = ['line', 'problem']

/** The columns that name documents. Which of two it is, nobody may guess. */
const NAMING = ['publicId', 'documentHash']

/** Files that spreadsheets and people make have fewer rows than this. */
export const MAX_ROWS = 100_000

/**
 * @param lines The first one names the columns.
 * @param width How many columns there are; absent = those up to the last one with a name.
 * @throws {TableError}
 */
export function tableOf(
  [header, ...lines]: readonly Line[],
  dialect: Dialect,
  choices: Choices,
  width = withoutEnd(header?.cells ?? []).length,
): Table {
  try {
    const { cells = [] } = header ?? {}
    if (withoutEnd(cells).length === 0)
      throw new TableError('no_columns', `line ${choices.header} must name the columns`)
    if (lines.length > MAX_ROWS)
      throw new TableError('too_many_rows', `more than ${MAX_ROWS} rows: split the file`)
    const columns = columnsOf(cells, lines, width)
    const rows = lines.map((line) => rowOf(line, columns, width))
    return { columns: columns.map(({ name }) => name), rows, dialect, choices }
  } catch (error) {
    if (error instanceof TableError) error.choices = choices
    throw error
  }
}

type Column = { name: string; index: number }

/**
 * A column without a name has the letters that spreadsheets give it, or is left out if it is empty.
 * The second of a name has a number.
 */
function columnsOf(header: readonly string[], lines: readonly Line[], width: number): Column[] {
  const isUsed: boolean[] = []
  for (const { cells, notes } of lines)
    for (const [i, text] of cells.entries()) if (text !== '' || notes?.[i]) isUsed[i] = true
  const taken = new Set<string>()
  const counts = new Map<string, number>()
  return Array.from({ length: width }, (_, index) => index).flatMap((index) => {
    if (!header[index] && !isUsed[index]) return []
    const wanted = header[index] || lettersOf(index)
    if (taken.has(wanted) && NAMING.includes(wanted))
      throw new TableError('duplicate_column', `duplicate column: "${wanted}"`)
    let name = wanted
    let count = counts.get(wanted) ?? 1
    while (taken.has(name)) name = `${wanted} (${++count})`
    counts.set(wanted, count)
    taken.add(name)
    return [{ name, index }]
  })
}

/** @returns A, …, Z, AA, … */
function lettersOf(column: number): string {
  const first = column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1)
  return first + String.fromCharCode(65 + (column % 26))
}

/** @returns The cells up to the last one that is not empty. */
function withoutEnd(cells: readonly string[]): string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
}

function rowOf({ line, cells, notes = [] }: Line, columns: readonly Column[], width: number): Row {
  const count = Math.min(cells.length, Math.max(withoutEnd(cells).length, width))
  if (count !== width)
    throw new TableError('cell_count', ` has ${count} cells, but there are ${width} columns`, {
      line,
    })
  const noted = columns.flatMap(({ name, index }) =>
    notes[index] ? [[name, notes[index]] as const] : [],
  )
  return {
    line,
    cells: Object.fromEntries(columns.map(({ name, index }) => [name, cells[index] ?? ''])),
    ...(noted.length > 0 && { notes: Object.fromEntries(noted) }),
  }
}
