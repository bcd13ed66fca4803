import { setTimeout as sleep } from 'node:timers/promises'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { RELEASED, SUPERSEDED, SUSPENDED } from '#verifier/reasons.ts'
import { API_KEY } from '../../support/given.ts'
import type { Random } from '../../support/random.ts'
import { inTurns } from './oracle.ts'

// What clients ask for under a fault, what was acknowledged, and whether it holds in the end.

/** The actions of the matrix. */
export const ACTIONS = ['issue', 'suspend', 'release', 'revoke', 'supersede', 'batch'] as const
export type Action = (typeof ACTIONS)[number]

export type Change = 'suspend' | 'release' | 'revoke' | 'supersede'
type State = 'valid' | 'suspended' | 'revoked' | 'superseded'
const BECOMES: Record<Change, State> = {
  suspend: 'suspended',
  release: 'valid',
  revoke: 'revoked',
  supersede: 'superseded',
}

/** A document or a whole batch that was acknowledged. */
export type Paper = {
  /** The action whose cell it is in. */
  action: Action
  /** The documentHash, or the root of a batch. */
  hash: Hex
  /** The batch that a document is in. */
  batch?: Paper
  /** Absent for a whole batch. */
  publicId?: string
  /** The acknowledged changes, in order. */
  changes: Change[]
  /** The answers to its requests, for the message of a failure. */
  answers: string[]
}

/** Requests about one paper, each as soon as the one before is acknowledged. */
export type Script = {
  /** What was prepared; absent when the first request issues it. */
  paper?: Paper
  begin(): Promise<Paper>
  changes: readonly Change[]
  /** Whether each change waits for a block. */
  waits: readonly boolean[]
  /** The milliseconds before each change but the first. */
  pauses: readonly number[]
}

/** How long a request is repeated until it is acknowledged; milliseconds. */
const PATIENCE_MS = 90_000
const PAUSE_MS = 150

/** A client of one gateway, which repeats each request until it is acknowledged. */
export type Clerk = {
  readonly papers: readonly Paper[]
  issue(action: Action, waits?: boolean): Promise<Paper>
  /** @returns The whole batch, and its documents. */
  issueBatch(action: Action, size: number, waits?: boolean): Promise<[Paper, ...Paper[]]>
  change(paper: Paper, change: Change, waits?: boolean): Promise<void>
  /** Reads with the API key. @returns The `data` of the answer. */
  read<T>(path: string): Promise<T>
}

type Document = { publicId: string; documentHash: Hex; batchRoot?: Hex }

export function createClerk(url: string): Clerk {
  const papers: Paper[] = []
  let subjects = 0

  /** @returns The text of the answer that acknowledges the request. */
  async function ask(
    path: string,
    request: { body: string; waits: boolean; answers: string[]; about?: Hex },
  ): Promise<string> {
    const { body, waits, answers, about = '' } = request
    const init = {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': path === '/v1/batches' ? 'application/x-ndjson' : 'application/json',
        'idempotency-key': crypto.randomUUID(),
        ...(!waits && { prefer: 'respond-async' }),
      },
    }
    const end = performance.now() + PATIENCE_MS
    while (performance.now() < end) {
      const { status, text } = await fetch(`${url}${path}`, init).then(
        async (answer) => ({ status: answer.status, text: await answer.text() }),
        (error) => ({ status: 0, text: String(error) }),
      )
      const isAcknowledged = [200, 201, 202].includes(status)
      const answer = `${path.replace(/^.*\//, '')} ${status} ${text.match(/"code":"(\w+)/)?.[1] ?? ''}`
      if (!answers.at(-1)?.startsWith(answer)) answers.push(`${answer} ${new Date().toISOString()}`)
      if (isAcknowledged) return text
      await sleep(PAUSE_MS)
    }
    throw new Error(`not acknowledged: ${about} ${path} ${answers.join(', ')}`)
  }

  const fields = () => {
    const subjectId = String(++subjects)
    const subjectName = `Person ${subjectId}`
    return { subjectName, subjectId, category: 'fault_test', issuedAt: '2026-01-31' }
  }

  function add(
    action: Action,
    { publicId, documentHash: hash }: Document,
    { batch, answers }: { batch?: Paper; answers: string[] },
  ): Paper {
    const paper = { action, hash, publicId, ...(batch && { batch }), changes: [], answers }
    papers.push(paper)
    return paper
  }

  return {
    papers,
    async issue(action, waits = true) {
      const answers: string[] = []
      const text = await ask('/v1/documents', { body: JSON.stringify(fields()), waits, answers })
      return add(action, JSON.parse(text).data, { answers })
    },
    async issueBatch(action, size, waits = true) {
      const answers: string[] = []
      const body = Array.from({ length: size }, () => JSON.stringify(fields())).join('\n')
      const lines = (await ask('/v1/batches', { body, waits, answers })).trimEnd().split('\n')
      const documents = lines.map((line) => JSON.parse(line).data as Document)
      const hash = documents[0]?.batchRoot
      if (hash === undefined) throw new Error(`a batch without a root: ${lines}`)
      const batch: Paper = { action, hash, changes: [], answers }
      papers.push(batch)
      return [batch, ...documents.map((one) => add(action, one, { batch, answers: [...answers] }))]
    },
    async change(paper, change, waits = true) {
      const { publicId, hash, answers } = paper
      const path = publicId ? `/v1/documents/${publicId}` : `/v1/batches/${hash}`
      const body = change === 'supersede' ? JSON.stringify(fields()) : '{}'
      const text = await ask(`${path}/${change}`, { body, waits, answers, about: hash })
      paper.changes.push(change)
      if (change === 'supersede')
        add(paper.action, JSON.parse(text).data, { answers: [...answers] })
    },
    async read(path) {
      const headers = { authorization: `Bearer ${API_KEY}` }
      const answer = await fetch(`${url}${path}`, { headers })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
      return JSON.parse(text).data
    },
  }
}

/** What may follow on the first request of a script. */
const NEXT: Record<'issue' | Change, readonly [Change[], ...Change[][]]> = {
  issue: [[], ['suspend'], ['suspend', 'release'], ['revoke']],
  suspend: [[], ['release'], ['release', 'suspend'], ['revoke']],
  release: [[], ['suspend'], ['suspend', 'release'], ['revoke']],
  revoke: [[]],
  supersede: [[]],
}
const CHANGES = ['suspend', 'release', 'revoke', 'supersede'] as const

type Plan = Pick<Script, 'changes' | 'waits' | 'pauses'> & {
  action: Action
  on: 'new document' | 'new batch' | 'document' | 'document in batch' | 'batch'
}

/** @param without Changes that no script has. */
function makePlans(random: Random, size: number, without: readonly Change[]): Plan[] {
  const plan = (action: Action, on: Plan['on'], first: 'issue' | Change): Plan => {
    const changes = [...(first === 'issue' ? [] : [first]), ...random.pick(NEXT[first])]
    const waits = changes.map(() => random.below(3) === 0)
    const pauses = changes.map(() => random.pick([0, 0, 500, 2_000]))
    const left = changes.filter((one) => !without.includes(one))
    return { action, on, changes: left, waits, pauses }
  }
  const several = (make: (i: number) => Plan) => Array.from({ length: size }, (_, i) => make(i))
  const plans = [
    ...several(() => plan('issue', 'new document', 'issue')),
    ...CHANGES.filter((action) => !without.includes(action)).flatMap((action) =>
      several((i) => plan(action, i === 0 ? 'document in batch' : 'document', action)),
    ),
    plan('batch', 'new batch', 'issue'),
    plan('batch', 'batch', random.pick(['suspend', 'revoke'])),
  ]
  const left = [...plans]
  return plans.flatMap(() => left.splice(random.below(left.length), 1))
}

/**
 * Prepares scripts of all actions, on documents that were issued alone or in a batch, and on whole
 * batches, in any order.
 *
 * @param size The number of documents of each action.
 */
export async function prepareScripts(
  clerk: Clerk,
  random: Random,
  { size, without = [] }: { size: number; without?: readonly Change[] },
): Promise<Script[]> {
  const newSize = 1 + random.below(4)
  const plans = makePlans(random, size, without)
  const [, ...inBatch] = await clerk.issueBatch('issue', CHANGES.length)

  async function paperFor({ action, on }: Plan): Promise<Paper> {
    if (on === 'batch') return (await clerk.issueBatch(action, newSize))[0]
    const known = on === 'document in batch' ? inBatch.pop() : undefined
    const paper = Object.assign(known ?? (await clerk.issue(action)), { action })
    if (action === 'release') await clerk.change(paper, 'suspend')
    return paper
  }

  const begin = async ({ action, on, waits }: Plan) =>
    on === 'new batch'
      ? (await clerk.issueBatch(action, newSize, false))[0]
      : clerk.issue(action, waits[0])

  return Promise.all(
    plans.map(async (plan) => ({
      ...plan,
      ...(!plan.on.startsWith('new') && { paper: await paperFor(plan) }),
      begin: () => begin(plan),
    })),
  )
}

/** @param acknowledged Called when a request is acknowledged. */
export async function play(
  clerk: Clerk,
  { paper, begin, changes, waits, pauses }: Script,
  acknowledged: () => void,
): Promise<void> {
  const about = paper ?? (await begin())
  if (!paper) acknowledged()
  for (const [i, change] of changes.entries()) {
    if (i > 0) await sleep(pauses[i])
    await clerk.change(about, change, waits[i])
    acknowledged()
  }
}

type Chain = { request<T>(method: string, ...params: unknown[]): Promise<T> }
type Place = { blockHash: Hex; transactionHash: Hex }
type Logged = Place & { kind: string; hash: Hex }
type Block = { hash: Hex; transactions: Hex[] }
type Log = { topics: Hex[]; data: Hex; address: Hex }
type Receipt = { logs: Log[]; transactionHash: Hex }

/** @returns The registry's events in the blocks that the chain has, in order. */
async function readEvents({ request }: Chain, registry: string): Promise<Logged[]> {
  const count = 1 + Number(await request<Hex>('eth_blockNumber'))
  const found: Logged[][] = []
  const numbers = Array.from({ length: count }, (_, number) => number)
  await inTurns(numbers, async (number) => {
    const tag = `0x${number.toString(16)}`
    const { hash, transactions } = await request<Block>('eth_getBlockByNumber', tag, false)
    const receipts = await Promise.all(
      transactions.map((one) => request<Receipt>('eth_getTransactionReceipt', one)),
    )
    found[number] = receipts.flatMap(({ logs, transactionHash }) =>
      logs
        .filter(({ address }) => address.toLowerCase() === registry.toLowerCase())
        .flatMap((log) => loggedOf(log, { blockHash: hash, transactionHash })),
    )
  })
  return found.flat()
}

function loggedOf(log: Log, place: Place): Logged[] {
  const { name = '', args } = registryAbi.parseLog(log) ?? {}
  const hash = log.topics[1]
  if (hash === undefined) return []
  if (/^(Document|Batch)Issued$/.test(name)) return [{ kind: 'issued', hash, ...place }]
  if (/Released$/.test(name)) return [{ kind: 'released', hash, ...place }]
  if (!/^(Document|DocumentInBatch|Batch)Revoked$/.test(name)) return []
  const reason = Number(args?.reason)
  const kind = reason === SUSPENDED ? 'suspended' : reason === SUPERSEDED ? 'superseded' : 'revoked'
  return [{ kind, hash, ...place }]
}

type ChainRecord = { anchoredBlock: bigint; revokedBlock: bigint; reason: bigint }

/** @returns The status in the paper's own record; `undefined` when it has none. */
async function readState({ request }: Chain, to: string, paper: Paper): Promise<State | undefined> {
  const call = async (name: string, args: unknown[]) => {
    const data = registryAbi.encodeFunctionData(name, args)
    const result = await request<Hex>('eth_call', { to, data }, 'latest')
    return registryAbi.decodeFunctionResult(name, result)[0]
  }
  const { anchoredBlock, revokedBlock, reason }: ChainRecord = paper.publicId
    ? (await call('recordsOf', [1, [paper.hash]]))[0]
    : await call('batchOf', [1, paper.hash])
  if (anchoredBlock === 0n && !paper.batch) return undefined
  if (revokedBlock === 0n || Number(reason) === RELEASED) return 'valid'
  if (Number(reason) === SUSPENDED) return 'suspended'
  return Number(reason) === SUPERSEDED ? 'superseded' : 'revoked'
}

const stateOf = ({ changes }: Paper): State => BECOMES[changes.at(-1) ?? 'release']

/** @returns The status of a document with that of its batch. */
function statusOf(paper: Paper): State {
  const [own, all] = [stateOf(paper), paper.batch ? stateOf(paper.batch) : 'valid']
  const weight = { valid: 0, suspended: 1, revoked: 2, superseded: 2 }
  return weight[all] > weight[own] ? all : own
}

/**
 * @returns Why events on the chain are not those of acknowledged changes. A reorg may have dropped a
 * change that a later one had undone.
 */
function wrongOrder(paper: Paper, kinds: readonly string[]): string | undefined {
  const names = paper.changes.map((change) => (change === 'release' ? 'released' : BECOMES[change]))
  const wanted = paper.batch ? names : ['issued', ...names]
  const left = [...wanted]
  const areInOrder = kinds.every((kind) => {
    const at = left.indexOf(kind)
    if (at >= 0) left.splice(0, at + 1)
    return at >= 0
  })
  return areInOrder ? undefined : `events [${kinds}], acknowledged [${wanted}]`
}

type Event = {
  type: string
  data: { documentHash?: Hex; batchRoot?: Hex; blockHash: Hex | null; transactionHash: Hex | null }
}

async function readGatewayEvents(clerk: Clerk): Promise<Event[]> {
  const all: Event[] = []
  for (let after = ''; ; ) {
    const page = await clerk.read<{ events: Event[]; next: string; hasMore: boolean }>(
      `/v1/events?limit=1000${after}`,
    )
    all.push(...page.events)
    if (!page.hasMore) return all
    after = `&after=${page.next}`
  }
}

type Listed = { documentHash: Hex; status: string }

async function readList(clerk: Clerk): Promise<Listed[]> {
  const all: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { documents: Listed[]; nextCursor: string | null } = await clerk.read(
      `/v1/documents?limit=100${cursor && `&cursor=${cursor}`}`,
    )
    all.push(...page.documents)
    cursor = page.nextCursor
  }
  return all
}

/** @returns What differs from what was acknowledged, by the chain and by each answer about it. */
export async function differences(clerk: Clerk, chain: Chain, registry: string): Promise<string[]> {
  const [logs, events, list] = await Promise.all([
    readEvents(chain, registry),
    readGatewayEvents(clerk),
    readList(clerk),
  ])
  const onChain = Map.groupBy(logs, ({ hash }) => hash)
  const told = Map.groupBy(events, ({ data }) => data.documentHash ?? data.batchRoot)
  const listed = new Map(list.map(({ documentHash, status }) => [documentHash, status]))
  const wrong: string[] = []
  if (listed.size < list.length) wrong.push('a document is in the list twice')
  const known = new Set(clerk.papers.map(({ hash }) => hash))
  for (const hash of new Set([...onChain.keys(), ...listed.keys()]))
    if (!known.has(hash)) wrong.push(`nobody was told of ${hash}`)
  await inTurns(clerk.papers, async (paper) => {
    const { hash, publicId, action, changes, answers } = paper
    const own = onChain.get(hash) ?? []
    const found = [
      wrongOrder(
        paper,
        own.map(({ kind }) => kind),
      ),
      differs('record', await readState(chain, registry, paper), stateOf(paper)),
      publicId && differs('list', listed.get(hash), statusOf(paper)),
      differs('answer', await statusAt(clerk, paper), statusOf(paper)),
      wrongEvent(told.get(hash) ?? [], own),
    ].filter((one) => one !== undefined && one !== '')
    if (found.length > 0)
      wrong.push(
        `${action} ${publicId ? 'document' : 'batch'} ${hash}${paper.batch ? ` in ${paper.batch.hash}` : ''} [${changes}]: ${found.join('; ')}; answers: ${answers.join(', ')}; chain: ${own.map(({ kind, blockHash }) => `${kind} ${blockHash}`)}`,
      )
  })
  return wrong
}

async function statusAt(clerk: Clerk, { publicId, hash }: Paper): Promise<string> {
  const path = publicId ? `/v1/verify?publicId=${publicId}` : `/v1/batches/${hash}`
  return (await clerk.read<{ status: string }>(path).catch(String as never)).status
}

function differs(what: string, actual: string | undefined, wanted: string): string | undefined {
  return actual === wanted ? undefined : `${what} ${actual}, not ${wanted}`
}

/** @returns Why no event of the gateway is the last one on the chain, with the block that it has. */
function wrongEvent(told: readonly Event[], onChain: readonly Logged[]): string | undefined {
  const last = onChain.at(-1)
  const isSame = ({ type, data: { blockHash, transactionHash } }: Event) =>
    type.endsWith(`.${last?.kind}`) &&
    // A block may be known by its number only.
    (blockHash ?? last?.blockHash) === last?.blockHash &&
    transactionHash === last?.transactionHash
  if (!last || told.some(isSame)) return undefined
  const shown = told.map(({ type, data }) => `${type} ${data.blockHash} ${data.transactionHash}`)
  return `events [${shown}], not ${last.kind} ${last.blockHash} ${last.transactionHash}`
}
