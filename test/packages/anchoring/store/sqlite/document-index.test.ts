import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'

test('behavior: every page is read by an index, without sorting', () => {
  const dir = mkdtempSync(join(tmpdir(), 'document-index-'))
  const database = openSqlite(join(dir, 'gateway.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(dir, { recursive: true })
  })
  const plans = [
    'subject = 1',
    'category = 1',
    'tenant = 1',
    'true',
    'block_number IS NULL AND batch IS NULL',
    'status = 2 AND status <> 0 AND block_number IS NOT NULL',
    'batch = 2 AND +status <> 2',
  ].map((drive) =>
    database.sqlite
      .prepare(
        `EXPLAIN QUERY PLAN SELECT id FROM document
         WHERE ${drive} AND +issued_on > 1 AND id < 9 ORDER BY id DESC LIMIT 2`,
      )
      .all()
      .map(({ detail }) => String(detail))
      .join(),
  )
  expect(plans.map((plan) => /document_\w+|PRIMARY KEY/.exec(plan)?.[0])).toEqual([
    'document_by_subject',
    'document_by_category',
    'document_by_tenant',
    'PRIMARY KEY',
    'document_pending',
    'document_by_status',
    'document_by_batch',
  ])
  expect(plans.join()).not.toMatch(/TEMP B-TREE/)
})
