import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { createShared, LEADER } from '#store/stores.ts'
import {
  ADA,
  BOB,
  type Chain,
  createActions,
  createChain,
  openWorld,
  type Ports,
  startGateway as startAnyGateway,
} from './world.ts'

const TIMING = { look: 20, tell: 40, giveUp: 60, rest: 60 }
const refused = (code: IssueError['code'] = 'registry_refused') => new IssueError(code, 'refused')

/** A database, and a chain on which two accounts write. */
function openShared() {
  const world = openWorld()
  const ada = createChain(undefined, 0)
  const bob = createChain(ada.anchored, 1)
  const newAction = createActions()
  const chains = new Map<Hex, Chain>([
    [ADA, ada],
    [BOB, bob],
  ])

  function startGateway(accounts: readonly Hex[], isSole = false) {
    /** Why an account cannot write, as this gateway sees it. */
    const unusable = new Map<Hex, IssueError>()
    const portsOf = (account: Hex): Ports => {
      const { ports } = chains.get(account) as Chain
      const usable = () => {
        const error = unusable.get(account)
        if (error) throw error
      }
      return {
        ...ports,
        async assertReady() {
          usable()
          return ports.assertReady()
        },
        async prepare(...args) {
          usable()
          return ports.prepare(...args)
        },
      }
    }
    const seen = new Map(accounts.map((account) => [account, portsOf(account)]))
    const gateway = startAnyGateway(world, seen, { isSole, timing: TIMING })
    async function issue(wait = 20_000, action = newAction()) {
      const isNew = await gateway.outbox.add(action, { payload: {} })
      return gateway.leader.submit(action, wait, isNew === true)
    }
    return { ...gateway, unusable, issue, account: gateway.leader.account }
  }

  return { ...world, ada, bob, startGateway }
}

describe('the leader', () => {
  test('is one gateway, which sends with its first account for all of them', async () => {
    const { ada, bob, startGateway } = openShared()
    const [one, two] = [startGateway([ADA, BOB]), startGateway([ADA, BOB])]
    await one.leader.start()
    await two.leader.start()
    expect([one.account(), two.account()]).toEqual([ADA, undefined])
    two.leader.assertOpen()
    expect(await two.issue()).toMatchObject({ status: 'anchored' })
    expect([ada.signed.length, bob.signed.length]).toEqual([1, 0])
  })

  test('is followed by another gateway, which finishes its sends in flight', async () => {
    const { ada, sessions, startGateway } = openShared()
    const [one, two] = [startGateway([ADA]), startGateway([ADA])]
    await one.leader.start()
    await two.leader.start()
    ada.mining = false
    const answer = two.issue()
    await expect.poll(() => ada.pool.size).toBe(1)
    const stopped = one.leader.stop()
    sessions.lose(LEADER)
    await stopped
    await expect.poll(two.account).toBe(ADA)
    ada.mining = true
    ada.mine()
    expect(await answer).toMatchObject({ status: 'anchored' })
    expect(ada.signed).toEqual([0])
  })

  test('starts a new term when its session ends, and loses nothing', async () => {
    const { ada, sessions, startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    ada.mining = false
    const answer = one.issue()
    await expect.poll(() => ada.pool.size).toBe(1)
    sessions.lose(LEADER)
    await expect.poll(() => one.events.filter((event) => event === 'leading').length).toBe(2)
    ada.mining = true
    ada.mine()
    expect(await answer).toMatchObject({ status: 'anchored' })
    expect(await one.issue()).toMatchObject({ status: 'anchored' })
    expect(ada.signed).toEqual([0, 1])
  })

  test('sends with another account when the first one cannot', async () => {
    const { ada, bob, startGateway } = openShared()
    const one = startGateway([ADA, BOB])
    await one.leader.start()
    one.unusable.set(ADA, refused())
    const pending = await one.issue()
    expect(pending).toEqual({ status: 'pending', transactionHash: null })
    expect(() => one.leader.assertOpen()).toThrow('refused')
    await expect.poll(one.account).toBe(BOB)
    await expect.poll(() => ada.anchored.size).toBe(1)
    one.leader.assertOpen()
    expect([ada.signed.length, bob.signed.length]).toEqual([0, 1])
  })

  test('skips an account that cannot be used at the start, until it can', async () => {
    const { startGateway } = openShared()
    const one = startGateway([ADA])
    one.unusable.set(ADA, refused('signer_unavailable'))
    await one.leader.start()
    expect([one.account(), one.leader.stopped()]).toEqual([undefined, 'signer_unavailable'])
    expect(() => one.leader.assertOpen()).toThrow('refused')
    one.unusable.clear()
    await expect.poll(one.account).toBe(ADA)
    one.leader.assertOpen()
  })

  test('leaves to another gateway what it cannot do itself', async () => {
    const { ada, startGateway } = openShared()
    const [one, two] = [startGateway([ADA]), startGateway([BOB])]
    await one.leader.start()
    await two.leader.start()
    one.unusable.set(ADA, refused())
    await one.issue()
    await expect.poll(two.account).toBe(BOB)
    await expect.poll(() => ada.anchored.size).toBe(1)
    await expect.poll(() => one.leader.stopped()).toBeUndefined()
    one.leader.assertOpen()
  })

  test.each([
    ['the fee is too high, which it is for all', 'fee_too_high', [ADA, BOB], false],
    ['nobody else could anchor either', 'registry_refused', [ADA], true],
  ] as const)('keeps its account while %s', async (_, code, accounts, isSole) => {
    const { ada, startGateway } = openShared()
    const one = startGateway(accounts, isSole)
    await one.leader.start()
    one.unusable.set(ADA, refused(code))
    await one.issue()
    await sleep(3 * TIMING.giveUp)
    expect(one.account()).toBe(ADA)
    one.unusable.clear()
    await expect.poll(() => ada.anchored.size).toBe(1)
  })

  test('changes what an earlier account has issued, if it is the only gateway', async () => {
    const { ada, bob, startGateway } = openShared()
    const one = startGateway([ADA], true)
    await one.leader.start()
    const action = createActions()()
    expect(await one.issue(20_000, action)).toMatchObject({ status: 'anchored' })
    await one.leader.stop()
    const two = startGateway([BOB], true)
    await two.leader.start()
    const { documentHash } = action
    const suspension = { kind: 'suspend', documentHash } as const
    await two.outbox.add(suspension)
    expect(await two.leader.submit(suspension, 20_000)).toMatchObject({ status: 'anchored' })
    expect([ada.signed.length, bob.signed.length]).toEqual([1, 1])
  })

  test('does not start without an account when there is no other gateway', async () => {
    const { startGateway } = openShared()
    const one = startGateway([ADA, BOB], true)
    for (const account of [ADA, BOB]) one.unusable.set(account, refused())
    await expect(one.leader.start()).rejects.toThrow('refused')
  })

  test('has released its locks and answered its requests when it has stopped', async () => {
    const { ada, sessions, startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    ada.mining = false
    const answer = one.issue()
    await expect.poll(() => ada.pool.size).toBe(1)
    await one.leader.stop()
    expect(await answer).toMatchObject({ status: 'pending' })
    expect([sessions.held(), one.account()]).toEqual([[], undefined])
    expect(() => one.leader.assertOpen()).toThrow('stopping')
  })

  test('stops when it is told to while it begins to lead', async () => {
    const { sessions, startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    const { open } = sessions
    let stopped: Promise<void> | undefined
    sessions.open = () => {
      stopped ??= one.leader.stop()
      return open()
    }
    sessions.lose(LEADER)
    await expect.poll(() => stopped !== undefined).toBe(true)
    await stopped
    expect(sessions.held()).toEqual([])
  }, 20_000)
})

describe('the state that the leader publishes', () => {
  test('is published again without a change, so that others know that it leads', async () => {
    const { database, sessions, startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    const { told } = createShared(database, sessions, false)
    for (const _ of [1, 2, 3]) {
      await sleep(5 * TIMING.tell)
      expect((await told())?.age).toBeLessThan(4 * TIMING.tell)
    }
  })
})

describe('a result that cannot be written', () => {
  test('ends the term, and the next term writes it', async () => {
    const { ada, database, startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    ada.mining = false
    const answer = one.issue()
    await expect.poll(() => ada.pool.size).toBe(1)
    database.sqlite.exec(`CREATE TRIGGER full BEFORE UPDATE OF block_number ON send
      BEGIN SELECT RAISE(ABORT, 'no space'); END`)
    ada.mining = true
    ada.mine()
    expect(await answer).toMatchObject({ status: 'anchored' })
    await expect.poll(() => one.events).toContain('outcome_not_written')
    database.sqlite.exec('DROP TRIGGER full')
    const settled = () =>
      database.sqlite.prepare('SELECT count(*) AS n FROM send WHERE block_number = 1').get()
    await expect.poll(settled).toEqual({ n: 1 })
    expect(ada.signed).toEqual([0])
  })
})

describe('a background task', () => {
  test('runs at the gateway that leads, and at the next one', async () => {
    const { sessions, startGateway } = openShared()
    const runs = [0, 0]
    const gateways = [startGateway([ADA]), startGateway([ADA])]
    gateways.forEach(({ leader }, i) => {
      leader.chore(() => {
        runs[i] = 1
        return async () => {
          runs[i] = 0
        }
      })
    })
    const [one, two] = gateways
    await one?.leader.start()
    await two?.leader.start()
    expect(runs).toEqual([1, 0])
    const stopped = one?.leader.stop()
    sessions.lose(LEADER)
    await stopped
    await expect.poll(() => runs).toEqual([0, 1])
  })

  test('stops on request', async () => {
    const { startGateway } = openShared()
    const one = startGateway([ADA])
    await one.leader.start()
    let isRunning = false
    const stop = one.leader.chore(() => {
      isRunning = true
      return async () => {
        isRunning = false
      }
    })
    expect(isRunning).toBe(true)
    await stop()
    expect(isRunning).toBe(false)
  })
})
