import { existsSync, readFileSync } from 'node:fs'
import type { BuiltPage } from './built-page.ts'

/** The desk as built by the set-up or `scripts/build-desk.ts`. */
export const DESK_FILE = new URL('../../../dist/desk.html', import.meta.url)

const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/

/** @throws {Error} when the set-up has not built the desk. */
export function readDeskPage(): BuiltPage {
  if (!existsSync(DESK_FILE)) throw new Error('the desk is not built: node scripts/run.mjs')
  const html = readFileSync(DESK_FILE, 'utf8')
  const policy = POLICY.exec(html)?.[1]
  if (policy === undefined) throw new Error('the desk has no policy')
  // A meta element cannot contain this directive.
  return { html, policy: `${policy}; frame-ancestors 'none'` }
}
