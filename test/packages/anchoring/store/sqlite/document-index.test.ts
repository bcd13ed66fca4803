import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { IndexQuery } from '#promise/document-index.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createDocumentIndex } from '#store/records.ts'

/**
 * Two documents that have a status: one alone, which waits, and one in a batch, which has it too.
 */
const ROWS = `
  INSERT INTO batch (root, size, manifest, tenant, promised, status)
  VALUES (x'01', 1, x'02', 'one', 1, 2);
  INSERT INTO record (hash, batch, issued_on, valid_until, status, subject, category, tenant)
  VALUES (x'03', 1, 1, 0, 2, 1, 1, 'one'), (x'04', NULL, 1, 0, 2, 1, 1, 'one');
  INSERT INTO waiting (record) VALUES (2)`

/** @returns The steps in which SQLite runs the statements of a page. */
async function stepsOf(query: Partial<IndexQuery>): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'document-index-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  onTestFinished(async () => {
    prepared.mockRestore()
    await database.close()
    rmSync(dir, { recursive: true })
  })
  database.sqlite.exec(ROWS)
  await createDocumentIndex(database).page({ limit: 9, ...query })
  const statements = [...new Set(prepared.mock.calls.map(([sql]) => sql))]
  return statements.flatMap((sql) =>
    database.sqlite
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  )
}

const PAGES: [string, Partial<IndexQuery>, string][] = [
  ['of all', {}, 'PRIMARY KEY'],
  ['of a subject', { subject: [1n] }, 'record_by_subject'],
  ['of a category', { category: [1n], issuedFrom: 1 }, 'record_by_category'],
  ['of a tenant', { tenant: 'one', issuedTo: 9 }, 'record_by_tenant'],
  ['of those that are pending', { status: 'pending' }, 'PRIMARY KEY'],
  ['of those that are revoked', { status: 'revoked' }, 'record_by_status'],
  ['of those that are valid', { status: 'valid' }, 'PRIMARY KEY'],
  ['of a batch', { batch: '0x01', status: 'revoked' }, 'record_by_batch'],
  ['of a day', { createdFrom: 20_000 }, 'record_by_day'],
]

test.each(PAGES)('a page %s is read by an index, without sorting', async (_, query, name) => {
  const steps = await stepsOf(query)
  const ofRecords = steps.filter((step) => /^(SEARCH|SCAN) record\b/.test(step))
  expect(ofRecords.join('\n')).toContain(name)
  expect(ofRecords.filter((step) => step.startsWith('SCAN'))).toEqual([])
  // Only some batches with a status are sorted.
  const sorted = steps.filter((step) => /TEMP B-TREE/.test(step)).length
  expect(sorted).toBe(query.status && query.status !== 'valid' && !query.batch ? 1 : 0)
})

// Members are never deleted, so there are as many as documents.
test.each(['pending', 'revoked', 'valid'] as const)(
  'a page of those that are %s does not read all members',
  async (status) => {
    const steps = await stepsOf({ status })
    expect(steps.filter((step) => /^(SCAN member|SEARCH member .*>\?)/.test(step))).toEqual([])
  },
)
