import type { Stats } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { tableText } from '#table/format.ts'
import { MAX_ROWS } from '#table/table.ts'
import { hasWords, plain, type Word, wordsIn } from '#table/words.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { readTable } from '../csv.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { readAll } from '../files.ts'
import { counted, printable, printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

const TABLE = 'issued.csv'
const MAX_FOLDERS = 10_000
/** The maximum length of a cell in a line for people. */
const MAX_SHOWN = 200

const OPTIONS = {
  name: { value: '<text>', about: 'only those whose subjectName has words that begin with these' },
  where: {
    value: '<column=text>',
    multiple: true,
    about:
      'only those whose column has words that begin with these, such as metadata.degree=history or issuedAt=2026-07; a subjectId must be complete',
  },
  csv: {
    about:
      'print a CSV table with publicIds, which other commands accept as --from; keep it private',
  },
} as const satisfies Options

export const findCommand = defineCommand({
  name: 'find',
  group: 'Issue',
  summary: `Find documents by name or another column in your folders of ${TABLE}`,
  about: [
    `The service stores no names in clear: only your own tables have them. Searches each ${TABLE} in the folders and all folders below, without the service. Case, accents and word order are ignored; Müller is also found as mueller.`,
    'Prints names and the documentHash, with which "docreg show", "revoke" and the like name a document. With --csv or --json, the publicIds are in it too, which open the documents.',
  ],
  args: [
    { name: '<folder...>', about: `folders of "docreg issue --out", or tables like ${TABLE}` },
  ],
  options: OPTIONS,
  examples: [
    ['By name', 'docreg find diplomas --name "lovelace ada"'],
    [
      'To revoke what was issued to somebody',
      'docreg find issued --where subjectId=18151210 --csv > theirs.csv && docreg revoke --from theirs.csv',
    ],
  ],
  exitCodes: '0 searched, 2 a table could not be read, 65 there is no table',
  run: find,
})

type Input = CommandInput<typeof OPTIONS>
/** The words that a cell must have, by the name of its column. */
type Wanted = ReadonlyMap<string, readonly Word[]>
type Hit = { file: string; line: number; cells: Record<string, string> }
type Search = { tables: number; found: Hit[]; problems: string[]; columns: Set<string> }

async function find({ args, values }: Input, terminal: Terminal): Promise<number> {
  const wanted = wantedOf(values)
  const search: Search = { tables: 0, found: [], problems: [], columns: new Set() }
  for (const path of args)
    for await (const file of tablesIn(path, search.problems))
      await searchTable(file, wanted, search)
  const { tables, found, problems, columns } = search
  if (tables === 0 && problems.length === 0)
    throw new InputError('unreadable', `there is no ${TABLE} in these folders or below`)
  for (const column of wanted.keys())
    if (tables > 0 && !columns.has(column)) problems.push(`no table has the column ${column}`)
  if (values.json) terminal.write(printableJson({ tables, found: found.map(entryOf), problems }))
  else if (values.csv) writeTable(found, terminal)
  else for (const hit of found) terminal.write(lineOf(hit))
  for (const problem of problems) terminal.warn(printable(problem))
  terminal.note(`${counted(found.length, 'document')} in ${counted(tables, 'table')}`)
  return problems.length > 0 ? EXIT.failed : EXIT.ok
}

/** @throws {UsageError} */
function wantedOf({ name, where = [] }: Input['values']): Wanted {
  const pairs = where.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError('--where must be <column>=<text>')
    return [text.slice(0, at).trim(), text.slice(at + 1)] as const
  })
  if (name !== undefined) pairs.push(['subjectName', name])
  if (pairs.length === 0) throw new UsageError('--name or --where is required')
  const wanted = new Map<string, Word[]>()
  for (const [column, text] of pairs) {
    const words = wordsIn(text)
    if (words.length === 0) throw new UsageError(`--where has no text to find in ${column}`)
    wanted.set(column, [...(wanted.get(column) ?? []), ...words])
  }
  return wanted
}

/**
 * Follows no symbolic links. Folders that cannot be read become problems.
 *
 * @throws {InputError} `unreadable` if there is no such path; `too_many`.
 */
async function* tablesIn(path: string, problems: string[]): AsyncGenerator<string> {
  if (!(await statOf(path)).isDirectory()) return yield path
  const folders = [path]
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at] as string
    const below: string[] = []
    try {
      for await (const entry of await opendir(folder)) {
        if (entry.isDirectory()) below.push(join(folder, entry.name))
        if (entry.isFile() && entry.name === TABLE) yield join(folder, TABLE)
      }
    } catch {
      problems.push(`${folder} cannot be read`)
    }
    folders.push(...below.sort())
    if (folders.length > MAX_FOLDERS)
      throw new InputError('too_many', `more than ${MAX_FOLDERS} folders: name the ones to search`)
  }
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (cause) {
    throw new InputError('unreadable', `${path} cannot be read`, cause)
  }
}

/**
 * A file that is not a table, or has a bad row among the matches, is reported as a problem. The
 * others still count.
 */
async function searchTable(file: string, wanted: Wanted, search: Search): Promise<void> {
  try {
    const { columns, rows } = await readTable(await readAll(file))
    search.tables++
    for (const column of columns) search.columns.add(column)
    for (const { line, cells } of rows) {
      if (!fits(cells, wanted)) continue
      if (/^0x[0-9a-f]{64}$/.test(cells.documentHash ?? ''))
        search.found.push({ file, line, cells })
      else search.problems.push(`${file}: line ${line} has no documentHash`)
      if (search.found.length + search.problems.length > MAX_ROWS)
        throw new RangeError(`more than ${MAX_ROWS} documents: narrow the search`)
    }
  } catch (error) {
    if (error instanceof RangeError) throw new InputError('too_many', error.message, error)
    if (!(error instanceof InputError)) throw error
    const isNamed = error.message.includes(file)
    search.problems.push(isNamed ? error.message : `${file}: ${error.message}`)
  }
}

function fits(cells: Hit['cells'], wanted: Wanted): boolean {
  for (const [column, words] of wanted) {
    const cell = plain(cells[column] ?? '')
    const isFound =
      column === 'subjectId' ? cell.trim() === words.flat().join(' ') : hasWords(cell, words)
    if (!isFound) return false
  }
  return true
}

const COLUMNS = ['subjectName', 'subjectId', 'category', 'issuedAt']

/** The line omits the publicId. The status in the table is that from the time of writing. */
function lineOf({ file, line, cells }: Hit): string {
  const parts = [...COLUMNS, 'documentHash'].map((column) => cells[column] ?? '')
  return [...parts, `${file}:${line}`]
    .filter((part) => part !== '')
    .map((part) => printable(part).slice(0, MAX_SHOWN))
    .join('  ')
}

/** `file` replaces a column of this name in the table. */
const entryOf = ({ file, cells }: Hit) => ({ ...cells, file })

function writeTable(found: readonly Hit[], terminal: Terminal): void {
  const rows = found.map(entryOf)
  const columns = new Set(['file', ...COLUMNS, ...rows.flatMap((row) => Object.keys(row))])
  terminal.write(tableText([...columns], rows).trimEnd())
}
