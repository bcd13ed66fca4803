// node scripts/run.mjs scripts/release/make.ts FOLDER
//
// Writes the files of a release to the folder. scripts/release.mjs runs it in a clean clone; two
// runs on the same commit write the same bytes.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describeApi } from '#http/core/openapi.ts'
import { RESOURCES } from '#modules/all.ts'
import { makePackages } from '../packages.ts'
import { writeContract } from './contract.ts'
import { installedWith, type Lock, type Manifest, readLock, root } from './dependencies.ts'
import { formatLicences, packsOfCertificates, refusedLicences } from './licences.ts'
import { formatSbom } from './sbom.ts'
import { writeSums } from './sums.ts'

const [, , out = ''] = process.argv
if (out === '') throw new Error('name the folder')
mkdirSync(out, { recursive: true })
const { version, license, dependencies } = readJson('package.json') as Manifest
const lock = readLock()

const write = (name: string, content: string | Uint8Array) =>
  writeFileSync(join(out, name), content)

// The image has packages of these, and no others.
const gateway = { name: 'document-registry-gateway', version, license, dependencies } as Manifest
const installed = installedWith(gateway, lock)
const packs = packsOfCertificates()
const refused = refusedLicences({ ...installed, ...packs })
if (refused.length > 0) {
  console.error(refused.join('\n'))
  process.exit(1)
}
write(
  'THIRD-PARTY-LICENSES.txt',
  [
    formatLicences('Packages of the service, the command and the library', installed),
    formatLicences('Engine and fonts that docreg installs for certificates', packs),
  ].join('\n\n'),
)
write('gateway.cdx.json', formatSbom('application', gateway, installed))

for (const { name, folder } of await makePackages(join(root, 'dist', 'packages'))) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  execFileSync('npm', ['pack', folder, '--silent', '--pack-destination', out], { cwd: root })
  write(`${name}.cdx.json`, formatSbom('library', manifest, withLibrary(manifest)))
}

copyFileSync(join(root, 'dist', 'verify.html'), join(out, 'verify.html'))
const api = describeApi(RESOURCES, { baseUrl: '', version })
write('openapi.json', `${JSON.stringify(api, null, 2)}\n`)

await writeContract(out)

const corpusVersion = readFileSync(join(root, 'tools/corpus/VERSION'), 'utf8').trim()
const corpus = `document-registry-corpus-${corpusVersion}`
write(`${corpus}.tar.gz`, archive(corpus))

writeSums(out)
for (const name of readdirSync(out).sort())
  console.log(`${String(statSync(join(out, name)).size).padStart(9)}  ${name}`)

/** `docreg` depends on the library, which is in no lock file. */
function withLibrary(manifest: Manifest): Lock {
  const { 'document-registry': own, ...others } = manifest.dependencies ?? {}
  if (own === undefined) return installedWith(manifest, lock)
  const library = JSON.parse(
    readFileSync(join(root, 'dist/packages/document-registry/package.json'), 'utf8'),
  ) as Manifest
  const both = { dependencies: { ...others, ...library.dependencies } }
  return { 'node_modules/document-registry': library, ...installedWith(both, lock) }
}

/** The corpus with what its README names, without what needs the rest of the repository. */
function archive(folder: string): Uint8Array {
  const paths = [
    'tools/corpus',
    'docs/formats.md',
    'tools/examples/verify.py',
    'tools/examples/judge.py',
    'tools/examples/requirements.txt',
    'LICENSE',
    ':(exclude)tools/corpus/*.ts',
  ]
  const args = [
    '-c',
    'tar.umask=0022',
    'archive',
    '--format=tar',
    `--prefix=${folder}/`,
    'HEAD',
    ...paths,
  ]
  return gzipSync(execFileSync('git', args, { cwd: root, maxBuffer: 2 ** 28 }), { level: 9 })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}
