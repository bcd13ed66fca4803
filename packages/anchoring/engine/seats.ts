import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { lockOfAccount } from '#promise/lock.ts'
import type { Account, Blocks, RegistryReader, Transactions } from '#promise/ports.ts'
import { type ForeignWatch, waitForForeign } from './foreign.ts'
import type { Lane } from './lane.ts'

/** An account of the issuer, as seen through the registry. */
export type AccountPorts = {
  account: Account
  transactions: Transactions
  registry: RegistryReader
  blocks: Blocks
}

/** An account in a term, with its transactions in flight. */
export type Seat = {
  lane: Lane
  account: Account
  foreign: ForeignWatch
  /** Whether this gateway can sign for it. */
  isOwn: boolean
  /** Whether it is locked, and nothing else sends with it. */
  isPrepared: boolean
  /** Why it cannot send at the moment, and since when; `performance.now()`. */
  outage?: IssueError
  outSince: number
  /** When it may be tried again; `performance.now()`. */
  restUntil: number
}

/** Durations in milliseconds. */
export type SeatTiming = {
  /** How long an account is kept that cannot anchor. */
  giveUp: number
  /** How long an account rests that could not be used. */
  rest: number
}

type SeatsDeps = {
  /** The accounts that this gateway can sign for; addresses in lower case, by preference. */
  accounts: ReadonlyMap<Hex, AccountPorts>
  /** An account without a key, whose transactions in flight must still be settled. */
  keyless: (account: Hex) => AccountPorts
  foreignWatch: (account: Account) => ForeignWatch
  laneOf: (address: Hex, ports: AccountPorts, foreign: ForeignWatch) => Lane
  leading: { alsoTake(name: string): Promise<boolean> }
  /** Called when an account may have been chosen. */
  chosen: () => void
  log: Log
}

/** The accounts of a term. One of them, the active one, gets what waits. */
export type Seats = ReturnType<typeof createSeats>

export const hasInFlight = (seat: Seat | undefined): boolean =>
  (seat?.lane.inFlight.sends().length ?? 0) > 0

/** State: the seats, and which of them is active. */
export function createSeats(deps: SeatsDeps, timing: SeatTiming) {
  const { accounts, leading, log } = deps
  const seats = new Map<Hex, Seat>()
  let active: Seat | undefined
  let choosing: Promise<void> | undefined

  const all = () => [...seats.values()]

  function of(address: Hex): Seat {
    const known = seats.get(address)
    if (known) return known
    const own = accounts.get(address)
    const ports = own ?? deps.keyless(address)
    const foreign = deps.foreignWatch(ports.account)
    const seat = {
      lane: deps.laneOf(address, ports, foreign),
      account: ports.account,
      foreign,
      isOwn: own !== undefined,
      isPrepared: false,
      outSince: 0,
      restUntil: 0,
    }
    seats.set(address, seat)
    return seat
  }

  /** @throws {IssueError} when the account cannot send, or something else sends with it. */
  async function prepare(seat: Seat): Promise<void> {
    const { account, lane, foreign } = seat
    await account.assertReady()
    if (seat.isPrepared) return
    if (!(await leading.alsoTake(lockOfAccount(lane.account))))
      throw new IssueError('account_shared', 'a command sends transactions with this account')
    const own = new Set(lane.inFlight.sends().map(({ nonce }) => nonce))
    foreign.begin(await waitForForeign({ account, own, log }))
    seat.isPrepared = true
  }

  /**
   * Prepares an account and uses it, unless it rests.
   *
   * @returns Whether that succeeded. If not, the account rests.
   */
  async function tryWith(seat: Seat, use: () => Promise<void> | void): Promise<boolean> {
    if (!seat.isOwn || performance.now() < seat.restUntil) return false
    try {
      await prepare(seat)
      await use()
      return true
    } catch (cause) {
      const { code, message: error } = asIssueError(cause)
      log.warn('account_not_usable', { account: seat.lane.account, code, error })
      stopped(seat, cause)
      seat.restUntil = performance.now() + timing.rest
      return false
    }
  }

  async function chooseNow(): Promise<void> {
    const left = all().filter(hasInFlight)
    const wanted = new Set([...left, ...[...accounts.keys()].map(of)])
    for (const seat of wanted) {
      if (seat === active) continue
      const isUsable = await tryWith(seat, () => {
        resumed(seat)
        active = seat
        log.info('account_chosen', { account: seat.lane.account })
      })
      if (isUsable) return
    }
  }

  /** Chooses the first account that can send. It may take long, and nothing else waits for it. */
  function choose(): Promise<void> {
    choosing ??= chooseNow().finally(() => {
      choosing = undefined
      deps.chosen()
    })
    return choosing
  }

  /** Whether another account, or another gateway, should send in the place of this one. */
  function isOut({ outage, outSince }: Seat): boolean {
    const isLong = performance.now() - outSince >= timing.giveUp
    return outage !== undefined && outage.code !== 'fee_too_high' && isLong
  }

  function stopped(seat: Seat, cause: unknown): void {
    const error = asIssueError(cause)
    if (error.code !== seat.outage?.code)
      log.warn('issuing_stopped', { code: error.code, error: error.message })
    if (!seat.outage) seat.outSince = performance.now()
    seat.outage = error
  }

  function resumed(seat: Seat): void {
    if (seat.outage) log.info('issuing_resumed')
    delete seat.outage
  }

  return {
    all,
    of,
    active: () => active,
    tryWith,
    choose,
    /** Chooses another account when there is none, or when the active one cannot send for long. */
    chooseIfNeeded(): void {
      if (active === undefined || isOut(active)) void choose()
    },
    /** Notes that an account cannot send at the moment. */
    stopped,
    resumed,
    /** @returns Why nothing is sent; `undefined` when it is. */
    outage(): IssueError | undefined {
      return active ? active.outage : all().find(({ isOwn, outage }) => isOwn && outage)?.outage
    },
    /** Whether no account of this gateway can send, and none is being tried. */
    areOut(): boolean {
      if (choosing || (active && !isOut(active))) return false
      return all().every(({ isOwn, outage }) => !isOwn || outage !== undefined)
    },
  }
}
