import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = new URL('../', import.meta.url)

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, ROOT))],
    bundle: true,
    minify: true,
    // Refuses any import of a Node module.
    platform: 'browser',
    // The usual build needs Node's Buffer.
    alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' },
    format: 'iife',
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  return outputFiles[0]?.text.trim() ?? ''
}

/** @returns The source expression of the Content-Security-Policy for one inline element. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/**
 * Allows scripts and styles only by their hash, and no sink that turns text into markup or code.
 */
function policyOf(script: string, style: string, connect: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/**
 * @param folder Has `main.ts`, `style.css` and `page.html`.
 * @param connect The sources that the page may connect to, for its policy.
 * @returns The page as one HTML file.
 */
export async function buildPage(folder: 'web' | 'desk', connect: string): Promise<string> {
  const [script, style] = await Promise.all([
    bundle(`${folder}/main.ts`),
    bundle(`${folder}/style.css`),
  ])
  const parts: Record<string, string> = {
    policy: policyOf(script, style, connect),
    style,
    script,
  }
  return readFileSync(new URL(`${folder}/page.html`, ROOT), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_, name) => parts[name] ?? '',
  )
}
