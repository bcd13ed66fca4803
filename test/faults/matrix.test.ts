import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, Transaction, Wallet } from 'ethers'
import pg from 'pg'
import { describe, expect, type TestContext, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { Fault, FaultProxy, RpcAnswer, RpcCall } from '../support/fault-proxy.ts'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { gethBinary } from '../support/geth.ts'
import { IS_LONG, IS_TIER } from '../support/long.ts'
import { postgresFolder, startPostgres } from '../support/postgres.ts'
import { freshSeed, type Random, seededRandom } from '../support/random.ts'
import { startGethWorld } from './support/geth-world.ts'
import {
  ACTIONS,
  type Action,
  type Change,
  type Clerk,
  createClerk,
  differences,
  play,
  prepareScripts,
  type Script,
} from './support/matrix.ts'
import { startAnvilWorld, type World } from './support/world.ts'

// Every action under every fault, which begins while the actions are in flight. In the end the
// chain, the lists, the verdicts and the events show what was acknowledged, once and in its order.

/** The seed of a failed run, put here, repeats its choices. */
const SEED = freshSeed()
/** The number of documents of each action in a round. */
const SIZE = 4
/** Half the blocks by which Anvil's finalized block is behind the head. */
const FINALITY = 32
const SETTINGS = { WAIT_SECONDS: '2' }
/** How long a gateway may take once the fault is over; milliseconds. */
const PATIENCE_MS = 90_000

type Row = { [column: string]: unknown }

/** A gateway with its chain and its clients, for all rounds of a fault. */
type Stage = {
  world: Pick<World, 'chain' | 'proxy' | 'accounts' | 'issuerKeys'>
  registry: Hex
  clerk: Clerk
  random: Random
  /** The transactions that the gateway has sent to the node, also those that never reached it. */
  sent: Map<string, Transaction>
  /** The faults of the node. */
  faults: Partial<Pick<FaultProxy, 'fault' | 'answered'>>
  /** The calldata that the fault met. */
  met: string[]
  /** What was done, and what the gateway logged, for the message of a failure. */
  story: string[]
  tell(text: string): void
  read(sql: string): Promise<Row[]>
  /** Lets a block come for each transaction, or no more by itself. */
  automine(isOn: boolean): Promise<void>
  /** Makes a block, or waits for one. */
  mine(): Promise<void>
}

/** All actions at once, under one kind of a fault. */
type Round = Pick<Playing, 'isBegun' | 'isOver'> & {
  kind: string
  /** Plays other scripts, which were prepared too. */
  playMore(): void
}

type Trouble = {
  /** The kinds of the fault, in the order of their rounds. */
  kinds: readonly string[]
  /** Changes that are not in flight when the fault begins. */
  without?(kind: string): Change[]
  /** Whether there are scripts for `playMore`. */
  hasMore?: true
  /** Whether it begins before the first request, and `during` runs with it. */
  beginsFirst?: true
  /** Runs before the first request. */
  before?(stage: Stage, round: Round): void
  /** Runs once the actions are in flight. */
  during(stage: Stage, round: Round): Promise<void>
}

const HEX = (value: number | bigint) => `0x${value.toString(16)}`

// ---- the faults -----------------------------------------------------------------------------------

const REWRITES = (keeps: boolean): Trouble => ({
  kinds: ['first', 'second'],
  async during(stage) {
    const { random } = stage
    let depth = 0
    for (let left = 2 + random.below(2); left > 0; left--) {
      for (let blocks = 1 + random.below(3); blocks > 0; blocks--, depth++) {
        await stage.mine()
        await sleep(random.below(400))
      }
      // The gateway may have settled what is lost, or not.
      if (random.below(2) === 0) await settled(stage, 1_500)
      // The first one drops all.
      await reorg(stage, stage.met.length === 0 ? depth : 1 + random.below(depth), keeps)
      await sleep(random.pick([0, 700, 2_500, 5_000]))
    }
  },
})

/** Replaces blocks by others, in which their transactions stand a little later, or not at all. */
async function reorg(
  { world: { chain }, random, met, tell }: Stage,
  depth: number,
  keeps: boolean,
): Promise<void> {
  const head = Number(await chain.request('eth_blockNumber'))
  const shift = random.below(2)
  const kept: [Hex, number][] = []
  for (let i = 0; i < depth; i++) {
    const tag = HEX(head - depth + 1 + i)
    const { transactions } = await chain.request<{ transactions: Hex[] }>(
      'eth_getBlockByNumber',
      tag,
      false,
    )
    for (const hash of transactions) {
      const raw = await chain.request<Hex>('debug_getRawTransaction', hash)
      met.push(Transaction.from(raw).data)
      if (keeps) kept.push([raw, Math.min(i + shift, depth - 1)])
    }
  }
  tell(`reorg of ${depth} with ${kept.length} transactions, shifted by ${shift}`)
  await chain.request('anvil_reorg', depth, kept)
}

const WITHOUT_EFFECT: Trouble = {
  kinds: ['without permission', 'issuer closed', 'out of gas'],
  before({ faults }, { kind }) {
    // What the call needs is then more than what it was signed for.
    if (kind === 'out of gas')
      faults.answered = ({ method }: RpcCall, answer: RpcAnswer) => {
        if (method === 'eth_estimateGas' && answer.result)
          answer.result = HEX((BigInt(String(answer.result)) * 80n) / 100n)
      }
  },
  async during(stage, { kind }) {
    const { world, random, faults, met } = stage
    const [account] = world.accounts
    if (kind === 'without permission') await asAdmin(stage, 'setPermissions', [1, account, 8])
    if (kind === 'issuer closed') await asAdmin(stage, 'closeIssuer', [1])
    await stage.mine()
    const { transactions } = await world.chain.request<{
      transactions: { hash: Hex; from: Hex; input: Hex }[]
    }>('eth_getBlockByNumber', 'latest', true)
    for (const { hash, from, input } of transactions) {
      const { status } = await world.chain.request<{ status: Hex }>(
        'eth_getTransactionReceipt',
        hash,
      )
      if (status === '0x0' && from.toLowerCase() === account?.toLowerCase()) met.push(input)
    }
    faults.answered = () => {}
    for (let blocks = random.below(4); blocks > 0; blocks--) {
      await sleep(random.below(2_000))
      await stage.mine()
    }
    if (kind === 'without permission') await asAdmin(stage, 'setPermissions', [1, account, 3])
    if (kind === 'issuer closed') await asAdmin(stage, 'reopenIssuer', [1])
  },
}

/** Sends a transaction of the registry's admin, which comes first in its block. */
async function asAdmin(
  { world: { chain }, registry, tell }: Stage,
  name: string,
  args: unknown[],
): Promise<void> {
  const abi = new Interface(['function defaultAdmin() view returns (address)'])
  const [from] = abi.decodeFunctionResult(
    'defaultAdmin',
    await chain.request<Hex>(
      'eth_call',
      { to: registry, data: abi.encodeFunctionData('defaultAdmin') },
      'latest',
    ),
  )
  await chain.request('anvil_impersonateAccount', from)
  await chain.request('eth_sendTransaction', {
    from,
    to: registry,
    data: registryAbi.encodeFunctionData(name, args),
    gas: HEX(1_000_000),
    maxFeePerGas: HEX(500_000_000_000),
    maxPriorityFeePerGas: HEX(100_000_000_000),
  })
  tell(`${name} ${args}`)
}

/** Answers as if it had taken the transaction. */
function swallow({ id, method, params }: RpcCall): Fault | undefined {
  if (method !== 'eth_sendRawTransaction') return undefined
  const { hash: result } = Transaction.from(String(params[0]))
  return { kind: 'garbage', text: JSON.stringify({ jsonrpc: '2.0', id, result }) }
}

const FOREIGN: Trouble = {
  kinds: ['noticed', 'unnoticed'],
  before({ faults }) {
    faults.fault = swallow
  },
  async during(stage, { kind }) {
    const { random, faults } = stage
    await takeNonces(stage)
    await stage.mine()
    let depth = 1
    if (kind !== 'unnoticed') await until(async () => !(await isAnyTaken(stage)))
    if (random.below(2) === 0) delete faults.fault
    for (let blocks = random.below(3); blocks > 0; blocks--, depth++) {
      await sleep(random.below(1_000))
      await stage.mine()
    }
    if (kind !== 'not dropped') await reorg(stage, depth, false)
    delete faults.fault
    await sleep(random.pick([0, 2_500, 5_000]))
  },
}

/** Uses the nonces of all transactions in flight for others, of somebody with the account's key. */
async function takeNonces(stage: Stage): Promise<void> {
  const { world, read, met, tell } = stage
  const wallet = new Wallet(world.issuerKeys[0])
  const to = wallet.address
  const rows = await read('SELECT nonce FROM send WHERE block_number IS NULL ORDER BY nonce')
  const nonces = rows.map(({ nonce }) => Number(nonce))
  for (const nonce of nonces) {
    const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    const chainId = Number(await world.chain.request('eth_chainId'))
    const call = { type: 2, chainId, nonce, to, gasLimit: 21_000n, ...fees }
    await world.chain.request('eth_sendRawTransaction', await wallet.signTransaction(call))
  }
  met.push(...(await dataInFlight(stage)))
  tell(`foreign transactions took the nonces ${nonces}`)
}

/** Whether a send is in flight whose nonce the chain has used. */
async function isAnyTaken({ world, read }: Stage): Promise<boolean> {
  const next = await world.chain.request('eth_getTransactionCount', world.accounts[0], 'latest')
  const rows = await read('SELECT nonce FROM send WHERE block_number IS NULL')
  return rows.some(({ nonce }) => Number(nonce) < Number(next))
}

const MANY: Trouble = {
  kinds: ['at broadcast', 'at estimate'],
  beginsFirst: true,
  before({ faults, met }, { kind, isBegun }) {
    const method = kind === 'at broadcast' ? 'eth_sendRawTransaction' : 'eth_estimateGas'
    let batches = 0
    const end = performance.now() + 5_000
    faults.fault = async (call) => {
      // Until all requests are acknowledged they gather, and then go together.
      while (call.method === 'eth_estimateGas' && !isBegun() && performance.now() < end)
        await sleep(50)
      if (call.method !== method) return undefined
      const [sent] = call.params as [string | { data: string }]
      const data = typeof sent === 'string' ? Transaction.from(sent).data : sent.data
      // The call of a batch has only its root, and is refused once.
      const isRefusedBatch = data.startsWith(ISSUE_BATCH) && batches++ === 0
      if (namedIn(data).length === 1 && !isRefusedBatch) return undefined
      met.push(data)
      return { kind: 'refusal', error: { code: -32000, message: 'the call is too large' } }
    }
  },
  during: (stage, { isOver }) =>
    mineUntil(stage, async () => isOver() && (await isSettled(stage)), 40_000),
}
const ISSUE_BATCH = String(registryAbi.getFunction('issueBatch')?.selector)

const LAG: Trouble = {
  kinds: ['always', 'now and then'],
  beginsFirst: true,
  before({ random, faults, world, tell }, { kind }) {
    const blocks = 1 + random.below(4)
    tell(`the head is ${blocks} behind`)
    const behind = new WeakSet<RpcCall>()
    faults.fault = (call) => {
      if (call.method === 'eth_sendRawTransaction') return undefined
      if (kind === 'now and then' && random.below(2) === 0) return undefined
      behind.add(call)
      return { kind: 'stale_head', blocks }
    }
    faults.answered = async (call, answer) => {
      if (!behind.has(call) || !answer.result) return
      const head = Number(await world.chain.request('eth_blockNumber')) - blocks
      hideNewer(call, answer, head)
    }
  },
  async during(stage, { isOver }) {
    await mineUntil(stage, isOver, 15_000)
    for (const { data } of stage.sent.values()) stage.met.push(data)
  },
}

/** Changes the answer of a node to that of one that has no block after `head`. */
function hideNewer({ method }: RpcCall, answer: RpcAnswer, head: number): void {
  const isNewer = (number: unknown) => Number(number ?? 0) > head
  if (method === 'eth_getLogs') {
    const logs = answer.result as { blockNumber: Hex }[]
    answer.result = logs.filter(({ blockNumber }) => !isNewer(blockNumber))
  }
  const found = answer.result as { blockNumber?: Hex | null; number?: Hex }
  if (method === 'eth_getTransactionReceipt' && isNewer(found.blockNumber)) answer.result = null
  if (method === 'eth_getBlockByNumber' && isNewer(found.number)) answer.result = null
  if (method === 'eth_getTransactionByHash' && isNewer(found.blockNumber))
    answer.result = { ...found, blockNumber: null, blockHash: null, transactionIndex: null }
}

async function mineUntil(
  stage: Stage,
  holds: () => boolean | Promise<boolean>,
  atMost: number,
): Promise<void> {
  const end = performance.now() + atMost
  while (!(await holds()) && performance.now() < end) {
    await stage.mine()
    await sleep(100 + stage.random.below(500))
  }
}

const TAKEOVER: Trouble = {
  kinds: ['without funds', 'retired'],
  hasMore: true,
  // What an account has sent in vain waits for this account (docs/operate.md).
  without: (kind) => (kind === 'retired' ? ['suspend', 'release'] : []),
  async during(stage, round) {
    const { world, sent, met, tell } = stage
    const rows = await stage.read(IN_FLIGHT)
    const account = `0x${Buffer.from(rows.at(-1)?.account as Uint8Array).toString('hex')}`
    tell(`${account} is ${round.kind}`)
    if (round.kind === 'retired') await asAdmin(stage, 'retireAccount', [1, account])
    else await world.chain.request('anvil_setBalance', account, '0x0')
    await stage.mine()
    round.playMore()
    const ofOther = () => [...sent.values()].filter(({ from }) => from?.toLowerCase() !== account)
    await mineUntil(stage, () => ofOther().length > 0, 60_000)
    await mineUntil(stage, round.isOver, 6_000)
    await world.chain.fund(account)
    // What follows on what another account has sent waits until that is final.
    await world.chain.request('anvil_mine', HEX(2 * FINALITY + 8))
    await mineUntil(stage, round.isOver, 20_000)
    await world.chain.request('anvil_mine', HEX(2 * FINALITY + 8))
    met.push(...ofOther().map(({ data }) => data))
  },
}

// ---- a round --------------------------------------------------------------------------------------

/** @returns The hashes of the documents or of the batch that a call of the registry changes. */
function namedIn(data: string): Hex[] {
  const call = registryAbi.parseTransaction({ data })
  if (!call) return []
  return [call.args[call.name.endsWith('InBatch') ? 2 : 1]].flat() as Hex[]
}

type Playing = {
  add(scripts: readonly Script[]): void
  /** Whether the first request of each script was acknowledged. */
  isBegun(): boolean
  isOver(): boolean
  /** Rejects with the first request that was not acknowledged. */
  end(): Promise<unknown>
}

/** Plays scripts beside each other. */
function startPlaying(clerk: Clerk): Playing {
  const playing: Promise<void>[] = []
  let [begun, ended] = [0, 0]

  async function playOne(script: Script): Promise<void> {
    let isFirst = true
    const begin = () => {
      if (isFirst) begun++
      isFirst = false
    }
    await play(clerk, script, begin)
    begin()
    ended++
  }

  return {
    add(scripts) {
      playing.push(...scripts.map(playOne))
      // What fails is reported at the end.
      for (const one of playing) one.catch(() => {})
    },
    isBegun: () => begun === playing.length,
    isOver: () => ended === playing.length,
    end: () => Promise.all(playing),
  }
}

async function playRound(stage: Stage, trouble: Trouble, kind: string): Promise<Set<Action>> {
  const { clerk, random, faults } = stage
  stage.tell(`-- ${kind}`)
  stage.met.length = 0
  const without = trouble.without?.(kind) ?? []
  const scripts = await prepareScripts(clerk, random, { size: SIZE, without })
  const more = trouble.hasMore ? await prepareScripts(clerk, random, { size: SIZE }) : []
  await untilSettled(stage)
  stage.sent.clear()
  // A node that lags has what was prepared.
  for (let blocks = 0; blocks < 5; blocks++) await stage.mine()
  await stage.automine(false)
  const playing = startPlaying(clerk)
  const round = { ...playing, kind, playMore: () => playing.add(more) }
  trouble.before?.(stage, round)
  playing.add(scripts)
  if (!trouble.beginsFirst) {
    await until(playing.isBegun)
    await untilInFlight(stage)
  }
  stage.tell(`in flight: ${(await dataInFlight(stage)).map(shortened)}`)
  await trouble.during(stage, round)
  stage.tell('over')
  delete faults.fault
  delete faults.answered
  await stage.automine(true)
  await stage.mine()
  await playing.end()
  await untilSettled(stage)
  await assertAsAcknowledged(stage)
  const actions = new Map(clerk.papers.map(({ hash, action }) => [hash, action]))
  return new Set(stage.met.flatMap(namedIn).flatMap((hash) => actions.get(hash) ?? []))
}

const IN_FLIGHT = 'SELECT * FROM send WHERE block_number IS NULL AND NOT final ORDER BY nonce'
const WAITING = `
  SELECT waiting.*, change.kind, change.after, change.hash FROM waiting
    LEFT JOIN change ON change.id = waiting.change`

const isOpen = (table: 'record' | 'batch', named: string) => `EXISTS (
  SELECT 1 FROM ${table} LEFT JOIN member ON member.${table} = ${table}.id
    LEFT JOIN send ON send.id = member.send
  WHERE ${named} AND send.block_number IS NULL)`
/** What waits although it follows on nothing that is not in a block yet. */
const READY = `
  SELECT waiting.id FROM waiting LEFT JOIN change ON change.id = waiting.change
  WHERE change.after IS NULL
    AND NOT ${isOpen('record', 'change.root IS NULL AND record.hash = change.hash')}
    AND NOT ${isOpen('batch', 'batch.root = change.root')}`

/** Waits until everything that can be in flight is. */
async function untilInFlight({ read }: Stage): Promise<void> {
  const isFull = async () => (await read(IN_FLIGHT)).length >= 10
  await until(async () => (await read(READY)).length === 0 || isFull(), 25_000).catch(() => {})
}

/** @returns The calldata of the transactions in flight. */
async function dataInFlight({ read }: Stage): Promise<string[]> {
  const rows = await read(`
    SELECT attempt.raw FROM attempt JOIN send ON send.id = attempt.send
    WHERE send.block_number IS NULL ORDER BY send.nonce, attempt.id`)
  return rows.map(
    ({ raw }) => Transaction.from(`0x${Buffer.from(raw as Uint8Array).toString('hex')}`).data,
  )
}

/** @returns The function and the number of documents of a call. */
const shortened = (data: string) =>
  `${registryAbi.parseTransaction({ data })?.name} ${namedIn(data).length}`

async function isSettled({ read }: Stage): Promise<boolean> {
  return (await read(WAITING)).length === 0 && (await read(IN_FLIGHT)).length === 0
}

const settled = (stage: Stage, atMost: number) =>
  until(() => isSettled(stage), atMost).catch(() => {})

const untilSettled = (stage: Stage) => until(() => isSettled(stage))

async function assertAsAcknowledged({ clerk, world, registry }: Stage): Promise<void> {
  let found: string[] = []
  await until(async () => {
    found = await differences(clerk, world.chain, registry)
    return found.length === 0
  }).catch((error) => {
    throw new Error(found.length > 0 ? found.join('\n') : String(error), { cause: error })
  })
}

/** Adds to an error what helps to find out why. */
async function explained(stage: Stage, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    const { message } = cause as Error
    const hashes = message.split('\n').flatMap((line) => line.match(/0x[0-9a-f]{64}/)?.[0] ?? [])
    throw new Error(`${message}\n${await evidence(stage, hashes)}`, { cause })
  }
}

const CHANGES = `
  SELECT change.*, member.send, member.place, send.nonce, send.block_number, send.block_hash,
    send.transaction_hash, send.seen, send.final, send.account
  FROM change LEFT JOIN member ON member.change = change.id LEFT JOIN send ON send.id = member.send
  ORDER BY change.id`

/**
 * @param about The hashes of documents and batches.
 * @returns What helps to find out why something failed.
 */
async function evidence({ read, story }: Stage, about: readonly string[]): Promise<string> {
  const rows = async (sql: string, hashes?: readonly string[]) =>
    (await read(sql))
      .map(shown)
      .filter((row) => hashes?.some((hash) => row.includes(hash.slice(2))) ?? true)
      .join('\n')
  return [
    `seed ${SEED}`,
    ...story,
    `waiting:\n${await rows(WAITING)}`,
    `in flight:\n${await rows(IN_FLIGHT)}`,
    `changes:\n${await rows(CHANGES, about)}`,
    `last sends:\n${await rows('SELECT * FROM send ORDER BY id DESC LIMIT 24')}`,
  ].join('\n')
}

function shown(row: Row): string {
  return JSON.stringify(row, (_, value) =>
    value instanceof Uint8Array || value?.type === 'Buffer'
      ? Buffer.from(value.data ?? value).toString('hex')
      : value,
  )
}

async function until(holds: () => boolean | Promise<boolean>, atMost = PATIENCE_MS): Promise<void> {
  const end = performance.now() + atMost
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${atMost} ms: ${holds}`)
    await sleep(100)
  }
}

// ---- the worlds -----------------------------------------------------------------------------------

type Opened = Pick<Stage, 'world' | 'read' | 'automine' | 'mine'> & { gateway: GatewayProcess }

type Ends = Pick<TestContext, 'onTestFinished'>

function stageOf(
  { gateway, ...opened }: Opened,
  registry: string,
  seed: number,
  { onTestFinished }: Ends,
): Stage {
  const story: string[] = []
  const stage: Stage = {
    ...opened,
    registry: registry as Hex,
    clerk: createClerk(gateway.url),
    random: seededRandom(seed),
    sent: new Map(),
    faults: {},
    met: [],
    story,
    tell: (text) => void story.push(`${new Date().toISOString()} ${text}`),
  }
  const seen = new Set<string>()
  const keepLog = setInterval(() => {
    for (const line of gateway.output().split('\n')) {
      if (seen.has(line) || !/"time":.*"event":"(?!request")/.test(line)) continue
      seen.add(line)
      story.push(line)
    }
  }, 200)
  onTestFinished(() => clearInterval(keepLog))
  const { proxy } = opened.world
  proxy.fault = (call) => {
    if (call.method === 'eth_sendRawTransaction') {
      const transaction = Transaction.from(String(call.params[0]))
      stage.sent.set(String(transaction.hash), transaction)
    }
    return stage.faults.fault?.(call)
  }
  proxy.answered = (call, answer) => stage.faults.answered?.(call, answer)
  return stage
}

async function openAnvil(seed: number, ends: Ends): Promise<Stage> {
  const { onTestFinished } = ends
  const world = await startAnvilWorld(SETTINGS, { finality: FINALITY })
  onTestFinished(world.close)
  return stageOf(
    { world, gateway: world.gateway, read: sqliteIn(world.dataDir), ...blocksOf(world) },
    String(world.env.REGISTRY_ADDRESS),
    seed,
    ends,
  )
}

/** One gateway with two accounts, which needs PostgreSQL. */
async function openAnvilWithTwo(seed: number, folder: string, ends: Ends): Promise<Stage> {
  const { onTestFinished } = ends
  const postgres = await startPostgres(folder)
  onTestFinished(() => postgres.remove())
  const world = await startAnvilWorld(SETTINGS, { finality: FINALITY, gateways: 2 })
  onTestFinished(world.close)
  // Their accounts are those of the issuer; another gateway takes both.
  for (const one of world.gateways) await one.kill()
  const DATABASE_URL = await postgres.newDatabase()
  const gateway = gatewayProcess({
    ...world.env,
    IPFS_GATEWAYS: '',
    DATA_DIR: join(world.dataDir, '..', 'both'),
    DATABASE_URL,
    ISSUER_KEY: world.issuerKeys.join(','),
  })
  onTestFinished(() => gateway.kill())
  await gateway.start()
  const client = new pg.Client({ connectionString: DATABASE_URL })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  const read = async (sql: string) => (await client.query(sql)).rows as Row[]
  return stageOf(
    { world, gateway, read, ...blocksOf(world) },
    String(world.env.REGISTRY_ADDRESS),
    seed,
    ends,
  )
}

const blocksOf = ({ chain }: Pick<World, 'chain'>) => ({
  automine: (isOn: boolean) => chain.request<void>('evm_setAutomine', isOn),
  mine: () => chain.request<void>('evm_mine'),
})

const sqliteIn = (dir: string) => async (sql: string) => {
  const database = new DatabaseSync(join(dir, 'gateway.db'), { readOnly: true })
  try {
    return database.prepare(sql).all() as Row[]
  } finally {
    database.close()
  }
}

/** Plays all rounds. Each action must be met in one of them. */
const playAll = (stage: Stage, ...troubles: Trouble[]) =>
  explained(stage, async () => {
    const met = new Set<Action>()
    for (const trouble of troubles)
      for (const kind of trouble.kinds)
        for (const action of await playRound(stage, trouble, kind)) met.add(action)
    expect(ACTIONS.filter((action) => !met.has(action))).toEqual([])
  })

const assertFinal = (stage: Stage) =>
  explained(stage, async () => {
    await stage.world.chain.request('anvil_mine', HEX(2 * FINALITY + 8))
    await until(async () => (await stage.read('SELECT 1 FROM send WHERE NOT final')).length === 0)
    await assertAsAcknowledged(stage)
  })

// Two minutes on an idle machine, for eight worlds at once; `vitest run` with its path runs it too.
describe.skipIf(!IS_LONG && IS_TIER).concurrent('what was acknowledged holds in the end', () => {
  test('after another account took over', async (context) => {
    const folder = postgresFolder() ?? context.skip()
    const stage = await openAnvilWithTwo(SEED, folder, context)
    await playAll(stage, TAKEOVER)
    await assertFinal(stage)
  })

  test.for<[string, Trouble]>([
    ['a node that refuses many at once', MANY],
    ['a reorg that keeps the transactions', REWRITES(true)],
    ['a reorg that drops the transactions', REWRITES(false)],
    ['transactions without effect', WITHOUT_EFFECT],
    ['foreign transactions that a reorg drops', FOREIGN],
    ['a node that lags', LAG],
  ])('after %s', async ([, trouble], context) => {
    const stage = await openAnvil(SEED, context)
    await playAll(stage, trouble)
    await assertFinal(stage)
  })

  test('on geth, after foreign transactions, refusals and lag', async (context) => {
    const binary = (await gethBinary()) ?? context.skip()
    const world = await startGethWorld(binary, SETTINGS)
    context.onTestFinished(world.close)
    const stage = stageOf(
      {
        world,
        gateway: world.gateway,
        read: sqliteIn(world.dataDir),
        automine: async () => {},
        async mine() {
          const head = await world.chain.request('eth_blockNumber')
          await until(async () => (await world.chain.request('eth_blockNumber')) !== head)
        },
      },
      String(world.env.REGISTRY_ADDRESS),
      SEED,
      context,
    )
    await playAll(
      stage,
      { ...FOREIGN, kinds: ['not dropped'] },
      { ...MANY, kinds: ['at broadcast'] },
      { ...LAG, kinds: ['always'] },
    )
  })
})
