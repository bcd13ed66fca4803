import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { createChores, type StartChore } from '#parts/chores.ts'
import type { Lease, Leases } from '#promise/lease.ts'

const log = createLog('silent')

/** Leases of one name each, as gateways share them. */
function createSharedLeases() {
  const ending = new Map<string, AbortController>()
  let isAway = false
  const leases: Leases = {
    async take([name = '']) {
      if (isAway) throw new Error('the database is away')
      if (ending.has(name)) return undefined
      const end = new AbortController()
      ending.set(name, end)
      const release = async () => {
        if (ending.get(name) === end) ending.delete(name)
        end.abort()
      }
      const lease: Lease = { name, token: 1, ended: end.signal, async assertHeld() {}, release }
      return lease
    },
  }
  return {
    leases,
    held: () => [...ending.keys()],
    /** As after a stopped process, or a network that was cut. */
    lose(name: string) {
      const end = ending.get(name)
      ending.delete(name)
      end?.abort()
    },
    setAway(value: boolean) {
      isAway = value
    },
  }
}

/** A gateway whose chore notes when it runs. */
function startGateway(leases: Leases, name = 'sweep') {
  const runs: string[] = []
  const start: StartChore = () => {
    runs.push('started')
    return async () => void runs.push('stopped')
  }
  const stop = createChores(leases, log).run(name, start)
  onTestFinished(stop)
  return { runs, stop }
}

test('default: one of the gateways does a chore, and another one once that has stopped', async () => {
  const { leases, held } = createSharedLeases()
  const [one, two] = [startGateway(leases), startGateway(leases)]
  await expect.poll(() => one.runs).toEqual(['started'])
  expect(two.runs).toEqual([])
  await one.stop()
  expect(one.runs).toEqual(['started', 'stopped'])
  await expect.poll(() => two.runs).toEqual(['started'])
  await two.stop()
  expect(held()).toEqual([])
})

test('behavior: each chore is leased for itself', async () => {
  const { leases, held } = createSharedLeases()
  startGateway(leases, 'sweep')
  startGateway(leases, 'watch')
  await expect.poll(held).toEqual(['chore sweep', 'chore watch'])
})

test('behavior: stops a chore whose lease was lost, and takes it again', async () => {
  const { leases, lose } = createSharedLeases()
  const { runs } = startGateway(leases)
  await expect.poll(() => runs).toEqual(['started'])
  lose('chore sweep')
  await expect.poll(() => runs).toEqual(['started', 'stopped', 'started'])
})

test('error: starts a chore only once the database is back', async () => {
  const { leases, setAway } = createSharedLeases()
  setAway(true)
  const { runs, stop } = startGateway(leases)
  setAway(false)
  await expect.poll(() => runs).toEqual(['started'])
  setAway(true)
  await stop()
  expect(runs).toEqual(['started', 'stopped'])
})
