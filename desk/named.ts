import { parseCsv, TableError } from '#table/csv.ts'
import { hasWords, plain, wordsIn } from '#table/words.ts'

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
    try {
      if (file.size > MAX_BYTES) throw new TableError('too_many_rows', 'the file is too large')
      rows.push(...rowsOf(new Uint8Array(await file.arrayBuffer())))
    } catch {
      unread.push(file.name)
    }
  }
  return { rows, unread }
}

function rowsOf(bytes: Uint8Array): NamedRow[] {
  return parseCsv(bytes).rows.flatMap(({ cells }) => {
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
