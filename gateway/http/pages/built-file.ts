import { existsSync, readFileSync } from 'node:fs'

/** A page that is one HTML file, and its policy for a header. */
export type BuiltPage = { html: string; policy: string }

const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/

/**
 * @param name Names the page in the error.
 * @throws {Error} when the set-up has not built it.
 */
export function readBuilt(file: URL, name: string): BuiltPage {
  if (!existsSync(file)) throw new Error(`${name} is not built: node scripts/run.mjs`)
  const html = readFileSync(file, 'utf8')
  const policy = POLICY.exec(html)?.[1]
  if (policy === undefined) throw new Error(`${name} has no policy`)
  // A meta element cannot contain this directive.
  return { html, policy: `${policy}; frame-ancestors 'none'` }
}
