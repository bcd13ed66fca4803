import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '#store/drivers/sqlite/database.ts'
import { createSqliteOutbox } from '#store/sqlite/outbox.ts'

test('behavior: no statement scans all intents or all blocks', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'outbox-'))
  const database = openDatabase(join(dir, 'gateway.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(dir, { recursive: true })
  })
  const statements: string[] = []
  const { sqlite } = database
  createSqliteOutbox({
    ...database,
    sqlite: new Proxy(sqlite, {
      get: (target, name) =>
        name === 'prepare'
          ? (sql: string) => {
              statements.push(sql)
              return target.prepare(sql)
            }
          : Reflect.get(target, name),
    }),
  })
  // Keys are merged some hundred at a time.
  const others = statements.filter((sql) => !/key_run|sorted_key/.test(sql))
  const steps = others.flatMap((sql) =>
    sqlite
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  )
  expect(steps.filter((step) => /^SEARCH intent/.test(step)).length).toBeGreaterThan(10)
  // Queued intents and seen blocks have indexes of their own.
  expect(steps.filter((step) => /^SCAN (intent|anchor_block)/.test(step))).toEqual([
    'SCAN anchor_block USING COVERING INDEX anchor_block_seen',
    'SCAN intent USING INDEX intent_queued',
  ])
  expect(steps.filter((step) => /TEMP B-TREE/.test(step))).toHaveLength(1)
})
