import { shareRead } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import { createForeignWatch } from '#engine/foreign.ts'
import { createLeader, type KnownLeader } from '#engine/leader.ts'
import type { LeaderState, TermDeps } from '#engine/term.ts'
import type { Action } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { Outbox, Readiness } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Leading } from '#store/stores.ts'
import { firstReady, openAccounts } from './accounts.ts'
import type { Identity } from './chain.ts'
import type { Stores } from './stores.ts'

/** How long a reading of the account is reused for reports: the route is public. */
const READINESS_TTL_MS = 1_000

type Parts = Pick<TermDeps, 'blockTime' | 'concluded' | 'planned'> & {
  shared: Stores['shared']
  outbox: Pick<Outbox, 'find'>
  /** Why nothing is issued until somebody has looked at the database. */
  loss: string | undefined
  requested: (action: Action) => void
  /** Counts a foreign transaction. */
  foundForeign: () => void
  outcomeOf: (action: Action) => Promise<Outcome>
  log: Log
}

/** The session of the gateway that leads, as chores get it. */
export type LeadingSession = ReturnType<typeof withState>

export type GatewayLeader = KnownLeader<LeadingSession>

/** What this gateway does when it leads, and what it knows when it does not. */
export function openLeader(
  config: Config,
  identity: Identity,
  parts: Parts,
): {
  leader: GatewayLeader
  /** The readiness of the account that sends, or of any usable one while another gateway leads. */
  readiness: () => Promise<Readiness>
} {
  const { shared, loss, foundForeign, log, ...rest } = parts
  const { feeCaps, maxBatch } = config
  const { accounts, keyless } = openAccounts(config, identity)
  const leader = createLeader<LeadingSession>({
    ...rest,
    accounts,
    keyless,
    foreignWatch: (account) => createForeignWatch({ account, log, found: foundForeign }),
    feeCaps,
    ...(maxBatch !== undefined && { maxBatch }),
    isSole: shared.isSole,
    async lead() {
      const session = await shared.lead()
      return session && withState(session)
    },
    leave: shared.leave,
    async told() {
      const last = await shared.told()
      return last && { state: JSON.parse(last.state) as LeaderState, age: last.age }
    },
    log,
  })
  if (loss !== undefined) log.error('issuing_closed', { error: loss })
  shared.listen('waiting', leader.wake)
  if (!shared.isSole) shared.listen('outcome', leader.look)
  return {
    leader: loss === undefined ? leader : closedFor(loss, leader),
    readiness: shareRead(() => {
      const own = accounts.get(leader.account() ?? '0x')
      return own ? own.account.assertReady() : firstReady(accounts)
    }, READINESS_TTL_MS),
  }
}

function withState({ tell, ...session }: Leading) {
  return { ...session, tell: (state: LeaderState) => tell(JSON.stringify(state)) }
}

/** What the database has lost may be on its way to the chain, so nothing is sent either. */
function closedFor(loss: string, leader: GatewayLeader): GatewayLeader {
  const error = new IssueError('store_unavailable', loss)
  return {
    ...leader,
    assertOpen() {
      throw error
    },
    stopped: () => error.code,
    start: async () => {},
  }
}
