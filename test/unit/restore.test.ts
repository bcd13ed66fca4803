import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isOutdated, openRestored } from '../../scripts/backup/compare.ts'
import { BackupError } from '../../scripts/backup/contents.ts'
import { RELEASED, SUSPENDED } from '../../verifier/reasons.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'restore-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

test.each([
  ['an older', 1],
  ['a newer', 1_000],
])('error: a backup of %s version is named as one', (which, version) => {
  const database = new DatabaseSync(join(dir, 'gateway.db'))
  database.exec(`CREATE TABLE bound_to (registry TEXT NOT NULL) STRICT;
    PRAGMA user_version = ${version}`)
  database.close()
  const attempt = () => openRestored(dir)
  expect(attempt).toThrow(BackupError)
  expect(attempt).toThrow(`the backup was written by ${which} version`)
  expect(attempt).not.toThrow('DATA_DIR')
})

test.each([
  ['release', SUSPENDED, true],
  ['suspend', RELEASED, true],
  ['revoke', 0, true],
  ['revoke', SUSPENDED, false],
  ['revoke', RELEASED, false],
  ['issue', 0, false],
] as const)(
  'behavior: of a document that was changed after the backup (%s waits, reason %i), dropped: %s',
  (kind, reason, dropped) => {
    const record = { revokedBlock: 11, reason }
    expect(isOutdated(kind, record, 10)).toBe(dropped)
    expect(isOutdated(kind, record, 11)).toBe(false)
    expect(isOutdated(kind, record, null)).toBe(false)
  },
)
