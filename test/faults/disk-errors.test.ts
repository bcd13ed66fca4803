import { afterEach, beforeEach, expect, type TestContext, test } from 'vitest'
import { type FailingDisk, failingDisk } from './support/failing-disk.ts'
import { required } from './support/machine.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import type { Told } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let disk: FailingDisk
let world: AnvilWorld
beforeEach(async ({ skip }: TestContext) => {
  disk = required(failingDisk()) ?? skip()
  world = await startAnvilWorld({ DATA_DIR: disk.dir })
})
afterEach(async () => {
  await world?.close()
  disk?.remove()
})

const REFUSED = { kind: 'refused', status: 503, code: 'store_unavailable' }

test('refuses to issue on a disk that turns read-only, and continues once it is writable', async () => {
  const { client, gateway } = world
  const before = await client.issue()
  disk.turnReadOnly()
  const told = await untilRefused()
  const publicId = publicIdOf(before.told)
  const verdict = await client.verify(publicId)
  // The gateway checks the disk at most once a second.
  await expect.poll(readiness).toMatchObject({
    success: false,
    error: { code: 'store_unavailable' },
  })
  await gateway.kill()
  disk.remount()
  await world.settle()
  await client.issue()
  expect(told).toEqual(REFUSED)
  expect(verdict.status).toBe('valid')
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('ends the process when a flush fails; the next start has every acknowledged document', async () => {
  const { client, gateway } = world
  for (let i = 0; i < 5; i++) await client.issue()
  disk.runOut()
  const told: Told[] = []
  while (gateway.running()) told.push(...(await client.issue()).told)
  const output = gateway.output()
  disk.refill()
  disk.remount()
  await world.settle()
  await client.issue()
  expect(output).toContain('flush_failed')
  expect(output).toContain('the disk could not store a write')
  // Rows of a failed flush may or may not be on disk: the gateway claims neither.
  expect(told.at(-1)).toEqual({ kind: 'unanswered' })
  expect(await world.judge()).toMatchObject({
    ...NOTHING_WRONG,
    acknowledged: expect.any(Number),
  })
})

async function readiness(): Promise<unknown> {
  const response = await fetch(`${world.gateway.url}/readyz`)
  return response.json()
}

async function untilRefused(): Promise<Told | undefined> {
  while (true) {
    const [told] = (await world.client.issue()).told
    if (told?.kind !== 'issued') return told
  }
}

function publicIdOf([told]: Told[]): string {
  if (told?.kind !== 'issued') throw new Error(JSON.stringify(told))
  return told.publicId
}
