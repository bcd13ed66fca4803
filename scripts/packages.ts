// Makes the two packages for npm in dist/packages: `document-registry`, which verifies documents and
// calls the service, and `docreg`, the command, which depends on it. Both are the same bytes
// wherever they are made.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildCommand } from './build-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, license, repository, dependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
/** The web page of the repository. */
const page = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

/** Paths in the package are those of the checkout, so that its code opens files alike in both. */
const COMMAND = 'apps/docreg/launch.mjs'
const CERTIFICATES = 'packages/certificates'

/** A package, made in `folder`. */
export type Package = { name: string; version: string; folder: string }

/** @param out Receives a folder for each package. */
export async function makePackages(out: string): Promise<Package[]> {
  const library = resolve(out, 'document-registry')
  const command = resolve(out, 'docreg')
  for (const folder of [library, command]) rmSync(folder, { recursive: true, force: true })
  makeLibrary(library)
  await makeCommand(command)
  return [
    { name: 'document-registry', version, folder: library },
    { name: 'docreg', version, folder: command },
  ]
}

function makeLibrary(folder: string): void {
  const args = ['-p', 'tsconfig.library.json', '--outDir', folder]
  const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), args, { cwd: root, stdio: 'inherit' })
  if (tsc.status !== 0) throw new Error('the library does not compile')
  for (const file of filesIn(folder, /\.d\.ts$/))
    edit(join(folder, file), (text) =>
      // tsc rewrites the endings of imports only in JavaScript, and not in declarations.
      text.replaceAll(/((?:from |import\()['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'),
    )
  const entry = (part: string) => ({
    types: `./${part}/index.d.ts`,
    default: `./${part}/index.js`,
  })
  complete(folder, {
    name: 'document-registry',
    description: 'Verify certificates of a document-registry straight from chain and IPFS.',
    keywords: ['certificate', 'credential', 'ethereum', 'ipfs', 'qr-code', 'verification'],
    sideEffects: false,
    exports: {
      '.': entry('verifier'),
      './client': entry('client'),
      './document': entry('document'),
      './verifier': entry('verifier'),
      // For `docreg` of the same version; may change with every version.
      './internal/*.js': './*.js',
    },
    dependencies: importedBy(folder),
  })
}

async function makeCommand(folder: string): Promise<void> {
  await buildCommand(folder)
  copyFileSync(join(root, COMMAND), join(folder, COMMAND))
  for (const name of ['templates', 'packs'])
    cpSync(join(root, CERTIFICATES, name), join(folder, CERTIFICATES, name), {
      recursive: true,
    })
  // The registries that the command trusts, by chain.
  for (const chain of readdirSync(join(root, 'deployments')).filter((name) => /^\d+$/.test(name)))
    cpSync(join(root, 'deployments', chain), join(folder, 'deployments', chain), {
      recursive: true,
    })
  complete(folder, {
    name: 'docreg',
    description: 'Issue, print, verify and audit certificates of a document-registry.',
    keywords: ['certificate', 'cli', 'credential', 'ethereum', 'qr-code', 'verification'],
    bin: { docreg: COMMAND },
    exports: { './package.json': './package.json' },
    dependencies: importedBy(folder),
  })
}

type Own = { name: string; description: string; [member: string]: unknown }

/** Writes what both packages have. */
function complete(folder: string, { name, description, ...rest }: Own): void {
  const readme = join(root, 'docs', 'npm', `${name}.md`)
  writeFileSync(join(folder, 'README.md'), withWholeAddresses(readFileSync(readme, 'utf8')))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const manifest = {
    name,
    version,
    description,
    license,
    repository,
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    type: 'module',
    // In these, `require` loads ES modules.
    engines: { node: '^20.19.0 || >=22.12.0' },
    files: readdirSync(folder)
      .filter((file) => !/^(README|LICENSE)/.test(file))
      .sort(),
    // npm publishes no prerelease without a tag of its own.
    ...(version.includes('-') && { publishConfig: { tag: 'next' } }),
    ...rest,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const file of filesIn(folder))
    chmodSync(join(folder, file), file.endsWith('launch.mjs') ? 0o755 : 0o644)
}

/** npm shows a README outside the repository, where its relative links lead nowhere. */
function withWholeAddresses(text: string): string {
  return text.replaceAll(
    /\]\((?!\w+:|#)([^)]+)\)/g,
    (_, target) => `](${new URL(target, `${page}/blob/v${version}/docs/npm/`)})`,
  )
}

/** @returns The packages that the code and types of a folder import, and their versions. */
function importedBy(folder: string): Record<string, string> {
  const packages = new Set<string>()
  for (const file of filesIn(folder, /\.(js|d\.ts)$/)) {
    const text = readFileSync(join(folder, file), 'utf8')
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
  const versions = { ...dependencies, 'document-registry': version }
  return Object.fromEntries(
    [...packages].sort().map((name) => {
      if (versions[name] === undefined) throw new Error(`${name} is not a dependency`)
      return [name, versions[name]]
    }),
  )
}

function filesIn(folder: string, pattern = /./): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => join(relative(folder, entry.parentPath), entry.name))
    .sort()
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

if (import.meta.main)
  for (const { folder } of await makePackages(join(root, 'dist', 'packages'))) console.log(folder)
