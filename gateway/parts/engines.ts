import { shareRead } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import { openRegistry, type RegistryPorts } from '#chain/registry.ts'
import { PATIENCE_MS } from '#chain/rpc.ts'
import type { Signer } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import { createEngine, type EngineDeps } from '#engine/engine.ts'
import { createEngines, type Engines } from '#engine/engines.ts'
import { createForeignWatch, waitForForeign } from '#engine/foreign.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { IssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import { type Lease, LeaseLost } from '#promise/lease.ts'
import type { Outbox, Readiness } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'
import type { Stores } from './stores.ts'

/** How long a reading of the account is reused for reports: the route is public. */
const READINESS_TTL_MS = 1_000

type Parts = Pick<EngineDeps, 'blockTime' | 'concluded' | 'planned'> & {
  shared: Stores['shared']
  outbox: Pick<Outbox, 'find'>
  /** Why nothing is issued until somebody has looked at the database. */
  loss: string | undefined
  requested: (intent: Intent) => void
  /** Counts a foreign transaction. */
  foundForeign: () => void
  outcomeOf: (intent: Intent) => Promise<Outcome>
  log: Log
}

type Account = RegistryPorts & {
  /** Holds the lease that allows signing for the account here. */
  holder: { lease?: Lease }
}

/** The engines of a gateway, each with its own account. */
export function openEngines(
  config: Config,
  identity: Identity,
  parts: Parts,
): {
  batcher: Engines
  /**
   * The readiness of the account that gets this gateway's intents, or of any usable one while there
   * is none.
   */
  readiness: () => Promise<Readiness>
} {
  const { shared, outbox, requested, outcomeOf, log } = parts
  const { feeCaps, maxBatch } = config
  const openAccount = accountOpener(config, identity)
  const { signer, otherSigners = [] } = identity
  const accounts = new Map(
    [signer, ...otherSigners].map((one) => [lowerCase(one.address), openAccount(one)]),
  )

  const engines = createEngines({
    accounts: [...accounts.keys()],
    leases: shared.leases,
    isSole: shared.isSole,
    busy: shared,
    outbox,
    requested,
    outcomeOf,
    log,
    open(account, lease, answers) {
      // The key of this account is no longer in the settings, but the transactions that it sent
      // must still be settled.
      const { holder, ...ports } = accounts.get(account) ?? openAccount(keyless(account))
      holder.lease = lease
      const outbox = shared.outboxOf({ account, lease })
      const foreign = createForeignWatch({
        account: ports.account,
        log,
        found: parts.foundForeign,
      })
      const deps = { ...parts, ...ports, feeCaps, maxBatch, foreign, outbox }
      return {
        engine: createEngine(deps, answers),
        backlog: outbox,
        async assertReady() {
          await ports.account.assertReady()
        },
        async assertAlone() {
          const own = new Set((await outbox.plans()).map(({ nonce }) => nonce))
          foreign.begin(await waitForForeign({ account: ports.account, own, log }))
        },
      }
    },
  })
  const batcher = parts.loss === undefined ? engines : closedFor(parts.loss, engines)
  if (parts.loss !== undefined) log.error('issuing_closed', { error: parts.loss })
  shared.assignTo(batcher.own)
  shared.listen(batcher.wake)
  return {
    batcher,
    readiness: shareRead(() => {
      const own = accounts.get(batcher.own()?.account ?? '0x')
      return own ? own.account.assertReady() : firstReady(accounts)
    }, READINESS_TTL_MS),
  }
}

/** What the database has lost may be on its way to the chain, so nothing is sent either. */
function closedFor(loss: string, engines: Engines): Engines {
  const error = new IssueError('store_unavailable', loss)
  return {
    ...engines,
    assertOpen() {
      throw error
    },
    stopped: () => error.code,
    start: async () => {},
  }
}

/** @returns A function that opens the chain for an account. */
function accountOpener(
  { finality, feeCap }: Config,
  { rpc, registry, issuerId }: Identity,
): (signer: Signer) => Account {
  // Issuing has its own connections, so that reads cannot delay it.
  const provider = rpc.apart(PATIENCE_MS.issuing)
  return (signer) => {
    const holder: Account['holder'] = {}
    const options = { registry, issuerId, finality, signer: leasedSigner(signer, holder) }
    const ports = openRegistry(provider, { ...options, ...(feeCap !== undefined && { feeCap }) })
    return { ...ports, holder }
  }
}

/** @returns A signer that signs only while this process holds the lease of its account. */
export function leasedSigner(
  signer: Signer,
  holder: { lease?: Pick<Lease, 'assertHeld'> },
): Signer {
  return {
    ...signer,
    async sign(transaction) {
      if (holder.lease === undefined) throw new LeaseLost(signer.address)
      await holder.lease.assertHeld()
      return signer.sign(transaction)
    },
  }
}

const lowerCase = (address: string) => address.toLowerCase() as Hex

function keyless(address: Hex): Signer {
  const refuse = async (): Promise<never> => {
    throw new IssueError('signer_unavailable', `the settings have no signer for ${address}`)
  }
  return { address, assertReady: refuse, sign: refuse }
}

/** @throws {IssueError} when no account can write. */
async function firstReady(accounts: ReadonlyMap<Hex, Account>): Promise<Readiness> {
  const answers = [...accounts.values()].map(({ account }) => account.assertReady())
  return Promise.any(answers).catch(({ errors }: AggregateError) => {
    throw errors[0]
  })
}
