import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureCredentialKey } from '#operate/secrets.ts'

/** @returns The path of a new key that signs credentials, and a function that deletes it. */
export function makeCredentialKey(): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-key-'))
  return {
    path: ensureCredentialKey(folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
