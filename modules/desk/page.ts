import { readFileSync } from 'node:fs'
import { type BuiltPage, readBuilt } from '#http/pages/built-file.ts'

/** The desk as built by the set-up or `scripts/build-desk.ts`. */
export const DESK_FILE = new URL('../../dist/desk.html', import.meta.url)
/** The texts of each of its languages. */
export const DESK_TEXTS_FILE = new URL('desk-texts.json', DESK_FILE)
/** The script that reads tables for it. */
export const DESK_READER_FILE = new URL('desk-reader.js', DESK_FILE)

/** The desk, its reader of tables, and its texts in JSON by language. */
export type DeskPage = BuiltPage & { reader: string; texts: Readonly<Record<string, string>> }

/** @throws {Error} when the set-up has not built the desk. */
export function readDeskPage(): DeskPage {
  const page = readBuilt(DESK_FILE, 'the desk')
  const texts: Record<string, object> = JSON.parse(readFileSync(DESK_TEXTS_FILE, 'utf8'))
  return {
    ...page,
    reader: readFileSync(DESK_READER_FILE, 'utf8'),
    texts: Object.fromEntries(Object.entries(texts).map(([tag, of]) => [tag, JSON.stringify(of)])),
  }
}
