import type { Table } from '#table/table.ts'
import { hasWords, plain, wordsIn } from '#table/words.ts'
import { currentLanguage } from '#web/i18n.ts'
import { readTable } from './table/reader.ts'

/** A row of a table of results, such as `issued.csv` of `docreg` or the desk's own. */
export type NamedRow = { name: string; subjectId: string; documentHash: string; plainName: string }

/** The maximum bytes of a file, as of a table to issue. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_SHOWN = 50

/** @returns The rows with documents, and the names of files that could not be read. */
export async function readNamed(
  files: readonly File[],
): Promise<{ rows: NamedRow[]; unread: string[] }> {
  const rows: NamedRow[] = []
  const unread: string[] = []
  for (const file of files) {
    const answer =
      file.size <= MAX_BYTES &&
      (await readTable({
        bytes: new Uint8Array(await file.arrayBuffer()),
        language: currentLanguage(),
      }))
    if (answer && 'table' in answer) rows.push(...rowsOf(answer.table))
    else unread.push(file.name)
  }
  return { rows, unread }
}

function rowsOf(table: Table): NamedRow[] {
  return table.rows.flatMap(({ cells }) => {
    const { subjectName: name = '', subjectId = '', documentHash = '' } = cells
    if (!/^0x[0-9a-f]{64}$/.test(documentHash)) return []
    return [{ name, subjectId, documentHash, plainName: plain(name) }]
  })
}

/** @returns Some of the rows whose name has words that begin with those of the text. */
export function findNamed(rows: readonly NamedRow[], text: string): NamedRow[] {
  const words = wordsIn(text)
  if (words.length === 0) return []
  return rows.filter(({ plainName }) => hasWords(plainName, words)).slice(0, MAX_SHOWN)
}
