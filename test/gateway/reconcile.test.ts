import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { toHex } from '../../document/hex.ts'
import { openDatabase } from '../../gateway/adapters/database.ts'
import { createSqliteOutbox } from '../../gateway/adapters/sqlite-outbox.ts'
import { createSqliteStore } from '../../gateway/adapters/sqlite-store.ts'
import { mendStore } from '../../gateway/issue/reconcile.ts'

test('behavior: a payload that the store lost is put back from the outbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const path = join(folder, 'gateway.db')
  const hash = crypto.getRandomValues(new Uint8Array(32))
  const sealed = new TextEncoder().encode('sealed')
  const first = openDatabase(path)
  await createSqliteStore(first).put(hash, sealed)
  await createSqliteOutbox(first).add(
    { kind: 'issue', documentHash: toHex(hash), validUntil: 0 },
    false,
    { inserted: true, sealed },
  )
  await first.close()
  const sqlite = new DatabaseSync(path)
  sqlite.exec('DELETE FROM block')
  sqlite.close()

  const second = openDatabase(path)
  const store = createSqliteStore(second)
  const outbox = createSqliteOutbox(second)
  expect((await store.get(hash)).status).toBe('missing')
  expect(await mendStore(outbox, store)).toBe(1)
  expect(await store.get(hash)).toMatchObject({ status: 'found' })
  expect(await mendStore(outbox, store)).toBe(0)
  await second.close()
  rmSync(folder, { recursive: true })
})
