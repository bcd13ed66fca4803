import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = new URL('../', import.meta.url)

/** @param define Texts that stand for names in the source, by name. */
export async function bundle(entry: string, define: Record<string, string> = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, ROOT))],
    bundle: true,
    minify: true,
    // Refuses any import of a Node module.
    platform: 'browser',
    alias: {
      // The usual build needs Node's Buffer.
      'csv-parse/sync': 'csv-parse/browser/esm/sync',
      // The usual build cannot leave out what is not used.
      numfmt: fileURLToPath(new URL('node_modules/numfmt/dist/index.mjs', ROOT)),
    },
    define: Object.fromEntries(Object.entries(define).map(([k, v]) => [k, JSON.stringify(v)])),
    format: 'iife',
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  return outputFiles[0]?.text.trim() ?? ''
}

/** @returns The hash of a text as policies and `integrity` name it. */
export function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/**
 * Allows scripts and styles only by their hash, and no sink that turns text into markup or code.
 */
function policyOf(html: string, { connect, worker }: Allowed): string {
  const hashes = (tag: string) =>
    Array.from(
      html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs')),
      ([, text = '']) => ` '${hashOf(text)}'`,
    ).join('')
  return [
    "default-src 'none'",
    `script-src${hashes('script')}`,
    `style-src${hashes('style')}`,
    'img-src data:',
    `connect-src ${connect}`,
    ...(worker ? ['worker-src blob:'] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${worker ?? "'none'"}`,
  ].join('; ')
}

/** What a page may use besides its own script and style. */
type Allowed = {
  /** The sources that it may connect to. */
  connect: string
  /** The name of its policy of Trusted Types that gives the address of a worker. */
  worker?: string
}

/**
 * @param folder Has `main.ts`, `style.css` and `page.html`.
 * @param define Texts that stand for names in the source, by name.
 * @returns The page as one HTML file.
 */
export async function buildPage(
  folder: 'apps/page' | 'modules/desk/page',
  allowed: Allowed,
  define: Record<string, string> = {},
): Promise<string> {
  const [script, style] = await Promise.all([
    bundle(`${folder}/main.ts`, define),
    bundle(`${folder}/style.css`),
  ])
  const html = readFileSync(new URL(`${folder}/page.html`, ROOT), 'utf8')
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script)
  return html.replace('{{policy}}', policyOf(html, allowed))
}
