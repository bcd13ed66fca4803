// Makes a package of the library and the command `docreg`, dist/library: JavaScript and types of
// client/, document/ and verifier/, the command in one file, and only the dependencies that these
// import. `npm pack ./dist/library` makes the tarball.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildCommand } from './build-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'dist', 'library')

rmSync(out, { recursive: true, force: true })
const tsc = spawnSync('tsc', ['-p', 'tsconfig.library.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (tsc.status !== 0) throw new Error('the library does not compile')

await buildCommand(join(out, 'cli', 'docreg.js'))
// The registries that the command trusts, by chain id.
for (const folder of ['templates', 'packs'])
  cpSync(join(root, 'certificates', folder), join(out, 'certificates', folder), { recursive: true })
cpSync(join(root, 'deployments'), join(out, 'deployments'), { recursive: true })

const files = readdirSync(out, { recursive: true, encoding: 'utf8' })
for (const file of files.filter((name) => name.endsWith('.d.ts')))
  edit(join(out, file), (text) =>
    // tsc rewrites the endings of imports only in JavaScript, and not in declarations.
    text.replaceAll(/((?:from |import\()['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'),
  )

const { name, version, license, dependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const entry = (folder: string) => ({
  types: `./${folder}/index.d.ts`,
  default: `./${folder}/index.js`,
})
const manifest = {
  name,
  version,
  description:
    'Verifies documents of a document-registry straight from chain and IPFS; in Node, browsers and bundlers.',
  license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  bin: { docreg: './cli/docreg.js' },
  exports: {
    './client': entry('client'),
    './document': entry('document'),
    './verifier': entry('verifier'),
  },
  dependencies: Object.fromEntries(
    [...importedPackages()].sort().map((imported) => {
      const pinned = dependencies[imported]
      if (pinned === undefined) throw new Error(`${imported} is not a dependency`)
      return [imported, pinned]
    }),
  ),
}
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
copyFileSync(join(root, 'docs', 'verify.md'), join(out, 'README.md'))
console.log(out)

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

function importedPackages(): Set<string> {
  const packages = new Set<string>()
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const text = readFileSync(join(out, file), 'utf8')
    for (const [, specifier = ''] of text.matchAll(
      /(?:from |import\()['"](?!node:)([^.'"][^'"]*)['"]/g,
    ))
      packages.add(
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
  }
  return packages
}
