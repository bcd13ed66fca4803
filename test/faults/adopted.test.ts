import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NOTHING_WRONG } from './support/oracle.ts'
import { reorg } from './support/rewrite.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld()
})
afterEach(() => world?.close())

test('a gateway protects a document for which it only answered a repeat', async () => {
  const { client, gateway, dataDir } = world
  const wish = await client.issue({ idempotencyKey: 'moved-on' })
  await gateway.kill()
  // Another gateway of the issuer does not know the document, and the first one never comes back.
  for (const name of ['gateway.db', 'gateway.db-wal']) rmSync(join(dataDir, name), { force: true })
  await gateway.start()
  const told = await client.repeat(wish)
  await reorg(world, 1)
  await world.settle()
  const [first, second] = promisesOf(wish)
  expect(told).toMatchObject({ kind: 'issued', status: 201 })
  expect(second ?? first).toBe(first)
  expect(await world.judge()).toMatchObject({
    ...NOTHING_WRONG,
    acknowledged: 1,
    onChain: 1,
  })
})
