// `node scripts/run.mjs test/faults/shared-long-run.ts --documents 10000 --faults 40`: gateways on
// one PostgreSQL, behind a round-robin in which each retry goes to another one. Meanwhile gateways
// are killed and stopped, also inside a transaction, PostgreSQL is killed, stopped or shut down,
// its answers to a COMMIT are lost, the node refuses calls, and the first of two nodes is sick.
// Some documents are revoked at two gateways at once, for two reasons. Prints the figures, and
// exits with 1 when a document was lost, doubled or not listed, a verdict false, a repeat answered
// differently, or an event contradicts the chain.
//
//   --gateways N, --accounts N, --connections N, --seed N

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { postgresFolder } from '../support/postgres.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { judgeEvents } from './support/events.ts'
import { readLedger } from './support/ledger.ts'
import { type SharedGateways, startSharedGateways } from './support/shared-gateways.ts'
import {
  type Acknowledged,
  issueAt,
  issueInTurn,
  revokeInTurn,
  statusAt,
  textAt,
} from './support/shared-load.ts'

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000' },
    faults: { type: 'string', default: '40' },
    gateways: { type: 'string', default: '3' },
    accounts: { type: 'string', default: '3' },
    connections: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(freshSeed()) },
  },
})
const random = seededRandom(Number(values.seed))
const connections = Number(values.connections)
/** How long promises may take after the last fault. */
const PATIENCE_MS = 120_000

const folder = postgresFolder()
if (folder === undefined) throw new Error('needs PostgreSQL')
const say = (line: string) => process.stdout.write(`${line}\n`)
const began = performance.now()
const seconds = () => Math.round((performance.now() - began) / 1000)

/** Milliseconds of a short or a long stop: shorter or longer than LOCK_SECONDS. */
const aWhile = () => 500 + random.below(6_000)

type Fault = (shared: SharedGateways) => Promise<void>

const FAULTS: Record<string, Fault> = {
  async killGateway({ gateways }) {
    const one = gateways[random.below(gateways.length)]
    await one?.kill()
    await sleep(aWhile())
    await one?.start()
  },
  async stopGateway({ gateways }) {
    const one = gateways[random.below(gateways.length)]
    one?.pause()
    await sleep(aWhile())
    one?.resume()
  },
  async killPostgres({ postgres }) {
    await postgres.signal('SIGKILL')
    await sleep(random.below(2_000))
    await postgres.start()
  },
  async stopPostgres({ postgres }) {
    await postgres.signal('SIGSTOP')
    await sleep(aWhile())
    await postgres.signal('SIGCONT')
  },
  async shutDownPostgres({ postgres }) {
    await postgres.shutDown()
    await sleep(random.below(2_000))
    await postgres.start()
  },
  async refuseCalls({ proxy, firstProxy }) {
    proxy.refuse = firstProxy.refuse = () => true
    await sleep(aWhile())
    proxy.refuse = firstProxy.refuse = () => false
  },
  async sickFirstNode({ firstProxy }) {
    firstProxy.fail = (method) => (method === 'eth_blockNumber' ? undefined : SICK)
    await sleep(aWhile())
    firstProxy.fail = () => undefined
  },
  async loseAnswers({ postgresProxy }) {
    for (let left = 1 + random.below(5); left > 0; left--) {
      postgresProxy.loseNext('COMMIT', LOSABLE[random.below(LOSABLE.length)])
      await sleep(random.below(500))
    }
  },
  /** Also for longer than the server lets a transaction stand idle. */
  async freezeInTransaction({ postgresProxy }) {
    const frozen = 3 * aWhile()
    postgresProxy.holdNext(LOSABLE[random.below(LOSABLE.length)] ?? /^/, frozen)
    await sleep(frozen)
  },
  /** While the node takes no transaction, too. */
  async loseAnswersInOutage(shared) {
    const { proxy, firstProxy } = shared
    const refuse = (method: string) =>
      method === 'eth_estimateGas' || method === 'eth_sendRawTransaction'
    proxy.refuse = firstProxy.refuse = refuse
    await FAULTS.loseAnswers?.(shared)
    proxy.refuse = firstProxy.refuse = () => false
  },
}

/** The answer of a node that answers nothing but the number of its block. */
const SICK = { code: -32600, message: 'App is inactive' }
/** Statements whose transactions lose the answer to their COMMIT. */
const LOSABLE = [
  undefined,
  /INSERT INTO record/,
  /INSERT INTO change/,
  /INSERT INTO attempt/,
  /fee = coalesce\(fee/,
  /SET final = true/,
]

/** Makes faults at random times until the load is over. */
async function makeFaults(shared: SharedGateways, isOver: () => boolean): Promise<number> {
  const names = Object.keys(FAULTS)
  let made = 0
  while (!isOver() && made < Number(values.faults)) {
    await sleep(500 + random.below(3_000))
    const name = names[random.below(names.length)] ?? 'killGateway'
    await FAULTS[name]?.(shared)
    made++
    say(`${seconds()} s: ${name}`)
  }
  return made
}

/** @returns Whether all gateways come to agree that the document has one of these statuses. */
async function becomes(
  { gateways }: SharedGateways,
  publicId: string,
  statuses: readonly string[],
): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  for (const gateway of gateways)
    while (!statuses.includes((await statusAt(gateway, publicId)) ?? '')) {
      if (performance.now() > end) return false
      await sleep(250)
    }
  return true
}

/** One document of so many is revoked. */
const REVOKED_OF = 8
const isRevoked = (i: number) => i % REVOKED_OF === 0

/** Revokes a document for two reasons at once, each at another gateway. */
async function revokeTwice({ gateways }: SharedGateways, publicId: string, i: number) {
  const revoke = (reason: string, from: number) =>
    revokeInTurn(gateways, publicId, { reason, from })
  await Promise.all([revoke('keyCompromise', i), revoke('superseded', i + 1)])
  return true
}

/** @returns How many documents are not in the list of a gateway. */
async function countUnlisted(
  gateway: GatewayProcess,
  documents: readonly Acknowledged[],
): Promise<number> {
  const listed = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/documents?limit=100${cursor && `&cursor=${cursor}`}`
    const { data } = JSON.parse(await textAt(gateway, path))
    for (const { documentHash } of data.documents) listed.add(documentHash)
    cursor = data.nextCursor
  }
  return documents.filter(({ documentHash }) => !listed.has(documentHash)).length
}

/** @returns How many of these do not pass; so many at a time. */
async function countFailing<T>(
  items: readonly T[],
  passes: (item: T, i: number) => Promise<boolean>,
): Promise<number> {
  let [next, failing] = [0, 0]
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < items.length) {
        const i = next++
        if (!(await passes(items[i] as T, i))) failing++
      }
    }),
  )
  return failing
}

say(`seed ${values.seed}`)
const shared = await startSharedGateways(
  folder,
  { gateways: Number(values.gateways), accounts: Number(values.accounts), nodes: 2 },
  { LOG_LEVEL: 'warn' },
)
try {
  let over = false
  const faults = makeFaults(shared, () => over)
  const load = { name: `run-${values.seed}`, count: Number(values.documents), connections }
  const acknowledged: Acknowledged[] = await issueInTurn(shared.gateways, load)
  await countFailing(
    acknowledged,
    async ({ publicId }, i) => !isRevoked(i) || revokeTwice(shared, publicId, i / REVOKED_OF),
  )
  over = true
  const made = await faults
  say(`${seconds()} s: ${acknowledged.length} acknowledged, ${made} faults`)

  const wrongStatus = await countFailing(acknowledged, ({ publicId }, i) =>
    becomes(shared, publicId, isRevoked(i) ? ['revoked', 'superseded'] : ['valid']),
  )
  const events = await shared.issuedEvents()
  const known = new Set(events)
  const lost = acknowledged.filter(({ documentHash }) => !known.has(documentHash)).length
  const doubled = events.length - new Set(acknowledged.map((one) => one.documentHash)).size
  const sample = acknowledged.filter((_, i) => i % 20 === 0)
  const otherAnswers = await countFailing(sample, async (before, i) => {
    const gateway = shared.gateways[i % shared.gateways.length]
    const again = gateway && (await issueAt(gateway, before.idempotencyKey))
    return again?.publicId === before.publicId
  })
  const [first] = shared.gateways as [GatewayProcess]
  const request = <T>(method: string, ...params: unknown[]) =>
    shared.provider.request({ method, params }) as Promise<T>
  const wrongEvents = await judgeEvents(
    readLedger(request, shared.registry),
    (path) => textAt(first, path),
    acknowledged.map(({ documentHash }) => documentHash),
  )
  for (const wrong of wrongEvents) say(wrong)
  const unlisted = await countUnlisted(first, acknowledged)
  const figures = {
    lost,
    doubled,
    wrongStatus,
    otherAnswers,
    unlisted,
    wrongEvents: wrongEvents.length,
  }
  say(`${seconds()} s: ${JSON.stringify({ ...figures, repeats: sample.length })}`)
  if (Object.values(figures).some((count) => count !== 0)) {
    for (const gateway of shared.gateways) say(gateway.output())
    process.exitCode = 1
  }
} finally {
  await shared.remove()
}
