import { existsSync, readFileSync } from 'node:fs'
import type { BuiltPage } from './built-page.ts'

/** The desk as built by the set-up or `scripts/build-desk.ts`. */
export const DESK_FILE = new URL('../../../dist/desk.html', import.meta.url)
/** The texts of each of its languages. */
export const DESK_TEXTS_FILE = new URL('desk-texts.json', DESK_FILE)

/** The desk, and its texts in JSON by language. */
export type DeskPage = BuiltPage & { texts: Readonly<Record<string, string>> }

const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/

/** @throws {Error} when the set-up has not built the desk. */
export function readDeskPage(): DeskPage {
  if (!existsSync(DESK_TEXTS_FILE)) throw new Error('the desk is not built: node scripts/run.mjs')
  const html = readFileSync(DESK_FILE, 'utf8')
  const policy = POLICY.exec(html)?.[1]
  if (policy === undefined) throw new Error('the desk has no policy')
  // A meta element cannot contain this directive.
  const texts: Record<string, object> = JSON.parse(readFileSync(DESK_TEXTS_FILE, 'utf8'))
  return {
    html,
    policy: `${policy}; frame-ancestors 'none'`,
    texts: Object.fromEntries(Object.entries(texts).map(([tag, of]) => [tag, JSON.stringify(of)])),
  }
}
