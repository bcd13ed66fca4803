// node scripts/image-files.ts <folder>
//
// Copies into a folder what the gateway reads at run time on a chain that somebody else runs: the
// modules that it imports, of each npm package too, and the files that it opens. Paths stay as in
// the checkout.
import { cpSync, globSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The command, and the modules that it starts as threads or processes. */
const ENTRIES = [
  'scripts/image.mjs',
  'apps/docreg-gateway/docreg-gateway.ts',
  'packages/anchoring/batches/sealing-work.ts',
  'packages/anchoring/store/drivers/sqlite/checkpoint-thread.ts',
  'packages/certificates/worker.ts',
]
/** What it reads besides modules. */
const DATA = [
  'package.json',
  'LICENSE',
  'packages/certificates/packs/*/*.json',
  'packages/certificates/templates/**/*.*',
  'deployments/[1-9]*/*.json',
  'dist/desk-reader.js',
  'dist/desk-texts.json',
  'dist/desk.html',
  'dist/verify.html',
  'gateway/http/pages/pages.css',
  'packages/anchoring/store/schema.sql',
  'apps/page/style.css',
]

/** @returns The paths from the root, sorted. */
export async function imageFiles(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'out',
    format: 'esm',
    platform: 'node',
    // Node knows neither `module` in a package.json nor a condition of that name.
    mainFields: ['main'],
    conditions: [],
    external: ['pg-native'],
    logLevel: 'error',
  })
  const modules = Object.keys(metafile.inputs)
  const packages = new Set(modules.flatMap((path) => packageOf(path) ?? []))
  // Node reads the manifest of each; their licences want to be handed on.
  const theirs = [...packages].flatMap((folder) => [
    `${folder}/package.json`,
    ...globSync(`${folder}/{LICEN[CS]E,license,licence,COPYING,NOTICE}*`, { cwd: ROOT }),
  ])
  const data = globSync(DATA, { cwd: ROOT })
  return [...new Set([...modules, ...theirs, ...data])].sort()
}

function packageOf(path: string): string | undefined {
  return path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? '')
  if (relative(ROOT, folder) === '') throw new Error('usage: image-files.ts <folder>')
  const files = await imageFiles()
  for (const path of files) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  console.log(`${files.length} files in ${folder}`)
}
