import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Engine } from '#engine/engine.ts'
import { createEngines, type Engines } from '#engine/engines.ts'
import { IssueError } from '#promise/errors.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
import type { Lease, Leases } from '#promise/lease.ts'

const [ADA, BOB, EVE]: Hex[] = ['a', 'b', 'e'].map((digit): Hex => `0x${digit.repeat(40)}`)
const log = createLog('silent')
const TIMING = { look: 20, giveUp: 60, rest: 60 }
const intentOf = (n: number): Intent => ({
  kind: 'issue',
  documentHash: `0x${String(n).padStart(64, '0')}`,
  validUntil: 0,
})

/** What the gateways of a test share. */
let world: ReturnType<typeof createWorld>
beforeEach(() => {
  world = createWorld()
})

function createWorld() {
  const holders = new Map<string, { token: number; lose: () => void }>()
  /** The account of each waiting intent; `null` = nobody has it. */
  const rows = new Map<Intent, Hex | null>()
  let tokens = 0

  const leases: Leases = {
    async take(names) {
      const name = names.find((one) => !holders.has(one))
      if (name === undefined) return undefined
      const ending = new AbortController()
      const token = ++tokens
      const free = () => {
        if (holders.get(name)?.token === token) holders.delete(name)
        ending.abort()
      }
      holders.set(name, { token, lose: free })
      const lease: Lease = {
        name,
        token,
        ended: ending.signal,
        async assertHeld() {},
        release: async () => free(),
      }
      return lease
    },
  }

  return {
    leases,
    rows,
    held: () => [...holders.keys()].sort(),
    lose: (account: Hex) => holders.get(`account ${account}`)?.lose(),
  }
}

/** An account as a gateway sees it. */
type Seen = {
  unusable?: IssueError
  outage?: IssueError
  /** Set while the issuer is closed. */
  closed?: IssueError
  /** Resolves when it is known that nothing else writes with it. */
  alone?: Promise<void>
  /** What became of its engines. */
  ends: string[]
}

function startGateway(accounts: Hex[], isSole = false) {
  const { leases, rows } = world
  const seen = new Map<Hex, Seen>([ADA, BOB, EVE].map((one) => [one as Hex, { ends: [] }]))
  const at = (account: Hex | undefined): Seen => seen.get(account as Hex) as Seen
  const rowsOf = (account: Hex | null) =>
    [...rows].filter(([, owner]) => owner === account).map(([intent]) => intent)

  function engineOf(account: Hex): Engine {
    const queued = new Set<string>()
    const add = (intents: readonly Intent[]) => {
      for (const intent of intents) queued.add(keyOfIntent(intent))
    }
    return {
      add,
      addAgain: add,
      has: (key) => queued.has(key),
      outage: () => at(account).outage,
      closed: () => at(account).closed,
      assertOpen() {
        const { outage } = at(account)
        if (outage) throw outage
      },
      assertAlone() {},
      depth: () => ({ queued: queued.size, refused: 0, inFlight: 0 }),
      spentLastHour: async () => 0n,
      async start() {
        add(rowsOf(account))
      },
      async refresh() {},
      isIdle: () => rowsOf(account).length === 0,
      async stop() {
        at(account).ends.push('stopped')
      },
      abandon: () => void at(account).ends.push('abandoned'),
    }
  }

  const engines: Engines = createEngines(
    {
      accounts,
      leases,
      isSole,
      log,
      outbox: {
        async find(_, documentHash) {
          const row = [...rows].find(([intent]) => intent.documentHash === documentHash)
          if (row === undefined) return undefined
          const [intent, account] = row
          return {
            intent,
            outcome: { status: 'pending', transactionHash: null },
            ...(account && { account }),
          }
        },
      },
      requested: () => {},
      busy: {
        countUnclaimed: async () => rowsOf(null).length,
        busyAccounts: async () => [...new Set(rows.values())].filter((one) => one !== null),
      },
      outcomeOf: async () => ({ status: 'absent' }),
      open: (account) => ({
        engine: engineOf(account),
        backlog: {
          async claim() {
            const free = rowsOf(null)
            for (const intent of free) rows.set(intent, account)
            return free
          },
          claimRevisions: async () => [],
          async adopt() {
            for (const [intent, other] of rows) if (other !== null) rows.set(intent, account)
          },
          async disclaim() {
            for (const intent of rowsOf(account)) rows.set(intent, null)
          },
        },
        async assertReady() {
          const { unusable } = at(account)
          if (unusable) throw unusable
        },
        assertAlone: async () => at(account).alone,
      }),
    },
    TIMING,
  )
  onTestFinished(() => engines.stop())
  return { engines, at, own: () => engines.own()?.account }
}

const refused = (code: IssueError['code'] = 'registry_refused') => new IssueError(code, 'refused')
const addRow = (n: number, account: Hex | null) => world.rows.set(intentOf(n), account)
const owners = () => [...world.rows.values()]

describe('engines of a gateway', () => {
  test('default: a gateway has one account for its intents, and leaves the others', async () => {
    const [one, two, three] = [1, 2, 3].map(() => startGateway([ADA, BOB] as Hex[]))
    for (const gateway of [one, two, three]) await gateway?.engines.start()
    expect([one?.own(), two?.own(), three?.own()]).toEqual([ADA, BOB, undefined])
    expect(() => three?.engines.assertOpen()).not.toThrow()
  })

  test('error: a gateway that nobody can stand in for does not start without an account', async () => {
    const { engines, at } = startGateway([ADA, BOB] as Hex[], true)
    for (const account of [ADA, BOB] as Hex[]) at(account).unusable = refused()
    await expect(engines.start()).rejects.toThrow('refused')
    const other = startGateway([ADA, BOB] as Hex[], true)
    other.at(ADA as Hex).unusable = refused()
    await other.engines.start()
    expect(other.own()).toBe(BOB)
  })

  test('behavior: a gateway that is alone takes over what an earlier account left', async () => {
    const { engines } = startGateway([ADA] as Hex[], true)
    addRow(1, BOB as Hex)
    await engines.start()
    expect(owners()).toEqual([ADA])
  })

  test('behavior: passes over an account that cannot be used, until it can', async () => {
    const { engines, at, own } = startGateway([ADA, BOB] as Hex[])
    at(ADA).unusable = refused()
    await engines.start()
    expect(own()).toBe(BOB)
    const alone = startGateway([ADA] as Hex[])
    alone.at(ADA).unusable = refused()
    await alone.engines.start()
    expect(alone.own()).toBeUndefined()
    delete alone.at(ADA).unusable
    await expect.poll(alone.own).toBe(ADA)
  })

  test('error: refuses requests while no account can be used, not while others have them', async () => {
    const one = startGateway([ADA, BOB] as Hex[])
    one.at(ADA).unusable = refused('signer_unavailable')
    one.at(BOB).unusable = refused()
    await one.engines.start()
    await expect.poll(() => one.engines.stopped()).toBe('signer_unavailable')
    expect(() => one.engines.assertOpen()).toThrow('refused')
    const two = startGateway([BOB] as Hex[])
    await expect
      .poll(async () => {
        if (two.own() === undefined) await two.engines.start()
        return two.own()
      })
      .toBe(BOB)
    await expect.poll(() => one.engines.stopped()).toBeUndefined()
    expect(() => one.engines.assertOpen()).not.toThrow()
  })

  test('behavior: drains an account that a dead gateway left, and releases it', async () => {
    addRow(1, BOB as Hex)
    const { engines, own } = startGateway([ADA, BOB] as Hex[])
    const other = startGateway([ADA] as Hex[])
    await other.engines.start()
    await engines.start()
    await expect.poll(own).toBe(BOB)
    addRow(2, EVE as Hex)
    // Its key is in no settings any more: its intents go to others.
    await expect.poll(() => owners().includes(EVE as Hex)).toBe(false)
    await expect.poll(owners).not.toContain(null)
    await expect.poll(world.held).toEqual([`account ${ADA}`, `account ${BOB}`])
    expect(own()).toBe(BOB)
  })

  test('behavior: an account that takes long to lease holds up nothing else', async () => {
    const { engines, at, own } = startGateway([ADA, BOB] as Hex[])
    await engines.start()
    const never = Promise.withResolvers<void>()
    onTestFinished(() => never.resolve())
    at(BOB).alone = never.promise
    world.lose(ADA as Hex)
    at(ADA).unusable = refused()
    await expect.poll(world.held).toEqual([`account ${BOB}`])
    expect(own()).toBeUndefined()
    addRow(1, EVE as Hex)
    const answer = engines.submit(intentOf(1), 60_000)
    world.rows.clear()
    // Another gateway has anchored it, which this one's node does not show yet.
    expect(await answer).toEqual({ status: 'pending', transactionHash: null })
  })

  test('behavior: refuses documents while the issuer of its account is closed, and nothing else', async () => {
    const { engines, at, own } = startGateway([ADA, BOB] as Hex[])
    await engines.start()
    engines.assertMayIssue()
    at(ADA).closed = refused()
    expect(() => engines.assertMayIssue()).toThrow('refused')
    engines.assertOpen()
    expect(engines.stopped()).toBeUndefined()
    await sleep(3 * TIMING.giveUp)
    expect(own()).toBe(ADA)
    delete at(ADA).closed
    engines.assertMayIssue()
  })

  test('behavior: during an outage it claims nothing, and then gives its account up', async () => {
    const { engines, at, own } = startGateway([ADA, BOB] as Hex[])
    await engines.start()
    addRow(1, null)
    await expect.poll(owners).toEqual([ADA])
    at(ADA).outage = refused()
    at(ADA).unusable = refused()
    addRow(2, null)
    expect(() => engines.assertOpen()).toThrow('refused')
    await expect.poll(own).toBe(BOB)
    expect(at(ADA).ends[0]).toBe('abandoned')
    await expect.poll(owners).toEqual([BOB, BOB])
    engines.assertOpen()
  })

  test.each([
    ['the fee is too high, which it is for all', 'fee_too_high', false],
    ['nobody else could anchor either', 'chain_unavailable', true],
  ] as const)('behavior: keeps its account while %s', async (_, code, isSole) => {
    const { engines, at, own } = startGateway([ADA, BOB] as Hex[], isSole)
    await engines.start()
    at(ADA).outage = refused(code)
    addRow(1, null)
    await sleep(3 * TIMING.giveUp)
    expect(own()).toBe(ADA)
    expect(owners()).toEqual([null])
    delete at(ADA).outage
    await expect.poll(owners).toEqual([ADA])
  })

  test('behavior: stops the engine of a lost lease at once, and leases an account again', async () => {
    const { engines, at, own } = startGateway([ADA] as Hex[])
    await engines.start()
    const token = engines.own()?.lease.token
    world.lose(ADA as Hex)
    expect(at(ADA).ends).toEqual(['abandoned'])
    await expect.poll(own).toBe(ADA)
    expect(engines.own()?.lease.token).toBeGreaterThan(Number(token))
  })

  test('behavior: a stopped gateway has released its accounts and answered its requests', async () => {
    addRow(1, BOB as Hex)
    const { engines, at, own } = startGateway([ADA] as Hex[])
    await engines.start()
    addRow(2, EVE as Hex)
    const answer = engines.submit(intentOf(2), 60_000)
    await engines.stop()
    expect(await answer).toMatchObject({ status: 'pending' })
    expect([world.held(), own()]).toEqual([[], undefined])
    expect(at(ADA).ends).toContain('stopped')
    expect(() => engines.assertOpen()).toThrow('stopping')
  })
})
