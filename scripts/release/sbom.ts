import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lock, Manifest } from './dependencies.ts'

/**
 * @param packages What is installed with it.
 * @returns A CycloneDX document, which npm makes, as text. It depends on nothing but its input and
 * the version of npm, which it names.
 */
export function formatSbom(
  type: 'library' | 'application',
  { name, version, license, dependencies }: Manifest,
  packages: Lock,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-sbom-'))
  try {
    const manifest = { name, version, license, dependencies }
    const lock = { name, version, lockfileVersion: 3, packages: { '': manifest, ...packages } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', type]
    const made = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }))
    // Both are optional, and differ with each run; npm takes the name from the folder.
    const { serialNumber: _, ...sbom } = made
    const { timestamp: __, ...metadata } = made.metadata
    metadata.component.name = name
    return `${JSON.stringify({ ...sbom, metadata }, null, 2)}\n`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
