import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, type TestContext, test } from 'vitest'
import { fill as fillDisk } from './support/failing-disk.ts'
import { type Folder, required, smallDisk } from './support/machine.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import type { Told } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let disk: Folder
let world: AnvilWorld
beforeEach(async ({ skip }: TestContext) => {
  disk = required(smallDisk(4)) ?? skip()
  world = await startAnvilWorld({ DATA_DIR: disk.dir })
})
afterEach(async () => {
  await world?.close()
  disk?.remove()
})

test('survives a full disk, and continues once there is space', async () => {
  const { client, gateway } = world
  await client.issue()
  fill()
  const refusals: Told[] = []
  while (refusals.length < 5 && gateway.running()) {
    const { told } = await client.issue()
    refusals.push(...told.filter(({ kind }) => kind !== 'issued'))
  }
  await makeRoom()
  await world.settle()
  await client.issue()
  expect(refusals[0]).toMatchObject({
    kind: 'refused',
    status: 503,
    code: 'store_unavailable',
  })
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('survives a disk that fills while a transaction is in flight', async () => {
  const { chain, client, gateway } = world
  await chain.request('evm_setAutomine', false)
  await client.issue({ respondAsync: true })
  fill()
  // Uses up the room that is left in SQLite's own files.
  for (let i = 0; i < 20; i++) await client.issue({ respondAsync: true })
  await chain.request('evm_mine')
  await chain.request('evm_setAutomine', true)
  await sleep(2_000)
  const survived = gateway.running()
  await makeRoom()
  await world.settle()
  expect(survived).toBe(true)
  expect(await world.judge()).toMatchObject({
    ...NOTHING_WRONG,
    internalErrors: expect.anything(), // The other test checks these answers.
  })
})

const ballast = () => join(disk.dir, 'ballast')
const makeRoom = () => rm(ballast())
const fill = () => fillDisk(disk.dir, ballast())
