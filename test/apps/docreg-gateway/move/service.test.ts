import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { makeKey } from '#keys/keys.ts'
import { openKeysFile } from '#store/drivers/sqlite/keys-file.ts'
import { postgresFolder } from '../../../support/postgres.ts'
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts'
import { call, issueWith, type MovableService, startMovableService } from '../movable-service.ts'

const folder = postgresFolder()
/** It starts many processes. */
const LONG_MS = 300_000

describe.skipIf(folder === undefined)('moving a service', () => {
  let service: MovableService
  beforeEach(async () => {
    service = await startMovableService(folder ?? '')
  })
  afterEach(() => service.remove())

  test(
    'keeps its promises, and repeats get the same answers',
    async () => {
      const { dir, proxy, postgres, start, command } = service
      const sqlite = { DATA_DIR: join(dir, 'sqlite') }
      const shared = { DATA_DIR: join(dir, 'shared'), DATABASE_URL: await postgres.newDatabase() }
      const receiver = await startWebhookReceiver()

      const first = await start(sqlite)
      const hook = { url: receiver.url, types: ['document.issued'] }
      const { body: added } = await call(first, '/v1/webhooks', { method: 'POST', body: hook })
      receiver.secret = added.data.secret
      const key = await addKey(sqlite.DATA_DIR)
      const { body: valid } = await issueWith(first, 'valid')
      await expect.poll(() => receiver.accepted.length).toBe(1)
      const { body: events } = await call(first, '/v1/events')
      // It is signed, and no node gets it.
      proxy.refuse = (method) => method === 'eth_sendRawTransaction'
      const { body: pending } = await issueWith(first, 'pending')
      expect(pending.data.status).toBe('pending')
      await first.kill()
      const signed = hashOfAttempt(sqlite.DATA_DIR)

      const there = { ...sqlite, DATABASE_URL: shared.DATABASE_URL }
      expect(await command('move to-postgres', there)).toContain(
        '1 documents and 0 batches were anchored, and the chain has them',
      )
      proxy.refuse = () => false
      const second = await start(shared)
      const verified = async (publicId: string) =>
        (await call(second, `/v1/verify?publicId=${publicId}`, { key })).body.data.status
      await expect.poll(() => verified(pending.data.publicId)).toBe('valid')
      const mined = await call(second, `/v1/documents/${pending.data.publicId}`)
      expect(mined.body.data.blockchainHash).toBe(signed)
      for (const [repeat, answer] of Object.entries({ valid, pending }))
        expect((await issueWith(second, repeat)).body.data.publicId).toBe(answer.data.publicId)
      const later = await call(second, `/v1/events?after=${events.data.next}`)
      const issued = later.body.data.events.filter(
        ({ type }: { type: string }) => type === 'document.issued',
      )
      expect(issued.map((one: { data: object }) => one.data)).toEqual([
        expect.objectContaining({ documentHash: pending.data.documentHash }),
      ])
      await expect.poll(() => receiver.accepted.length).toBe(2)
      expect(receiver.once()).toHaveLength(2)

      const { body: added3 } = await issueWith(second, 'in PostgreSQL')
      await second.stop()
      const back = { DATA_DIR: join(dir, 'back') }
      await command('move to-sqlite', { ...shared, ...back })
      const third = await start(back)
      for (const [repeat, answer] of Object.entries({ valid, pending, 'in PostgreSQL': added3 }))
        expect((await issueWith(third, repeat)).body.data.publicId).toBe(answer.data.publicId)
      const { body } = await call(third, `/v1/verify?publicId=${valid.data.publicId}`, { key })
      expect(body.data.status).toBe('valid')
      await receiver.close()
    },
    LONG_MS,
  )

  test('refuses to move when the chain lacks an anchored document', async () => {
    const { dir, postgres, start, command } = service
    const where = { DATA_DIR: join(dir, 'sqlite'), DATABASE_URL: await postgres.newDatabase() }
    const gateway = await start({ DATA_DIR: where.DATA_DIR })
    await issueWith(gateway, 'one')
    await gateway.stop()
    const sqlite = new DatabaseSync(join(where.DATA_DIR, 'gateway.db'))
    sqlite.exec(
      `INSERT INTO record (hash, issued_on, valid_until)
       VALUES (x'${'00112233445566778899aabbccddeeff'.repeat(2)}', 1, 0)`,
    )
    sqlite.close()
    await expect(command('move to-postgres', where)).rejects.toThrow(
      'no record of 1 of 2 documents',
    )
    await start({ DATA_DIR: where.DATA_DIR })
  })
})

/** @returns A key for verifying. */
async function addKey(dataDir: string): Promise<string> {
  const keys = openKeysFile(join(dataDir, 'keys.db'))
  const { key, secret } = makeKey({ scopes: ['verify'], tenant: 'default' })
  await keys.put(key)
  keys.close()
  return secret
}

function hashOfAttempt(dataDir: string): unknown {
  const sqlite = new DatabaseSync(join(dataDir, 'gateway.db'))
  const rows = sqlite.prepare('SELECT hash FROM attempt').all()
  sqlite.close()
  expect(rows).toHaveLength(1)
  return toHex(rows[0]?.hash as Uint8Array)
}
