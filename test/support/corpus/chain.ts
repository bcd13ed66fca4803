import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { Wallet } from 'ethers'
import { type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { REVOCATION_REASONS, SUSPENDED } from '#verifier/reasons.ts'
import { type AnvilNode, startAnvilNode } from '../anvil.ts'
import { deployRegistry, PERMISSION, setTexts, transact } from '../transact.ts'
import type { Case, Step } from './case.ts'
import type { Made } from './made.ts'

/**
 * Anvil's first accounts, with well-known keys. The vectors name the first contract of the first
 * account.
 */
const ADMIN_KEY: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const ISSUER_KEY: Hex = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const OTHER_KEY: Hex = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
/** Manages both issuers, because an address may belong to any number of issuers. */
const MANAGER_KEY: Hex = '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'

const ISSUER_ID = 1
const OTHER_ID = 2
const NO_BATCH = `0x${'0'.repeat(64)}`

export const ISSUER = {
  name: 'Registry office of Testville',
  uri: 'https://testville.example',
}
const OTHER = { name: 'Another office', uri: 'https://other.example' }

/** The set-up is this many seconds in the past, older than any fresh head. */
const AGE = 7_200

export type Chain = {
  url: string
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  provider: Eip1193Provider
  /** @returns Block numbers by mark. */
  perform(corpusCase: Case, made: Made): Promise<Record<string, number>>
  /** Moves the chain to the present. */
  catchUp(): Promise<void>
  /** Does some work, then restores the chain. */
  undone<T>(work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/**
 * Starts a chain with the real registry, always at the same address, and two issuers.
 *
 * @param now Unix seconds: the present of a chain with the same blocks in every run, one per
 * second. Absent = the current time.
 */
export async function startChain(dir: string, chainId: number, now?: number): Promise<Chain> {
  const present = () => now ?? Math.floor(Date.now() / 1000)
  const anvil = await startAnvilNode(
    dir,
    ['--chain-id', String(chainId), '--timestamp', String(present() - AGE)],
    undefined,
    async (request) => {
      if (now !== undefined) await request('anvil_setBlockTimestampInterval', 1)
    },
  )
  const provider = miningFirst(createFetchProvider(anvil.url))
  const keys = { admin: ADMIN_KEY, manager: MANAGER_KEY, issuer: ISSUER_KEY }
  const registry = await deployRegistry(provider, keys, ISSUER)
  const send: Send = (key, name, ...args) => transact(provider, registry, key, name, args)
  const texts: Context['setTexts'] = ({ name, uri }) =>
    setTexts(provider, registry, ADMIN_KEY, ISSUER_ID, {
      name: name === undefined ? utf8ToBytes(ISSUER.name) : hexToBytes(name),
      uri: uri === undefined ? utf8ToBytes(ISSUER.uri) : hexToBytes(uri),
    })
  await registerOther(send)
  // The permission lets it set aside a thief's revocations.
  const permissions = PERMISSION.manage | PERMISSION.revoke
  await send(MANAGER_KEY, 'setPermissions', ISSUER_ID, addressOf(MANAGER_KEY), permissions)
  return {
    url: anvil.url,
    registry,
    provider,
    async perform(corpusCase, made) {
      const marks: Record<string, number> = {}
      const actorOf = await prepareActors(corpusCase, anvil, send)
      for (const step of corpusCase.chain)
        await carryOut(step, { made, marks, actorOf, anvil, send, setTexts: texts })
      return marks
    },
    async catchUp() {
      const head = await anvil.request<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)
      if (Number(head.timestamp) < present())
        await anvil.request('evm_setNextBlockTimestamp', present())
      await anvil.request('evm_mine')
    },
    async undone(work) {
      const before = await anvil.request('evm_snapshot')
      // Anvil restores a block, but not its base fee.
      await anvil.request('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00')
      try {
        return await work()
      } finally {
        await anvil.request('evm_revert', before)
      }
    },
    stop: anvil.kill,
  }
}

/** Waits for the receipt: Anvil may answer a broadcast before it mines. */
export function miningFirst(provider: Eip1193Provider): Eip1193Provider {
  return {
    async request(args) {
      const result = await provider.request(args)
      if (args.method !== 'eth_sendRawTransaction') return result
      const method = 'eth_getTransactionReceipt'
      while (!(await provider.request({ method, params: [result] }))) await sleep(2)
      return result
    },
  }
}

type Send = (key: Hex, name: string, ...args: unknown[]) => Promise<Hex>
type Actor = { key: Hex; issuerId: number }
type ActorOf = (name: string) => Actor

async function registerOther(send: Send): Promise<void> {
  const manager = addressOf(MANAGER_KEY)
  await send(ADMIN_KEY, 'registerIssuer', manager, OTHER.name, OTHER.uri)
  await addIssuing(send, OTHER_ID, addressOf(OTHER_KEY))
}

function addIssuing(send: Send, issuerId: number, account: string, more = 0) {
  const permissions = PERMISSION.issue | PERMISSION.revoke | more
  return send(MANAGER_KEY, 'addAccount', issuerId, account, permissions)
}

const addressOf = (key: Hex) => new Wallet(key).address

/** Adds the accounts of issuer 1 that only this case has. */
async function prepareActors(
  { name, chain }: Case,
  anvil: AnvilNode,
  send: Send,
): Promise<ActorOf> {
  const actors: Record<string, Actor> = {
    issuer: { key: ISSUER_KEY, issuerId: ISSUER_ID },
    manager: { key: MANAGER_KEY, issuerId: ISSUER_ID },
    other: { key: OTHER_KEY, issuerId: OTHER_ID },
  }
  for (const step of chain) {
    const [details] = Object.values(step)
    const actor = typeof details === 'object' && 'by' in details ? details.by : undefined
    if (actor === undefined || actors[actor]) continue
    const key = toHex(sha256(utf8ToBytes(`${name}/${actor}`)))
    const address = addressOf(key)
    await anvil.request('anvil_setBalance', address, '0xde0b6b3a7640000')
    await addIssuing(send, ISSUER_ID, address, actor === 'deputy' ? PERMISSION.manage : 0)
    actors[actor] = { key, issuerId: ISSUER_ID }
  }
  return (actor) => {
    const found = actors[actor]
    if (!found) throw new Error(`${name}: ${actor} has not acted before`)
    return found
  }
}

type Context = {
  made: Made
  marks: Record<string, number>
  actorOf: ActorOf
  anvil: AnvilNode
  send: Send
  /** The texts are in hexadecimal; absent = unchanged. */
  setTexts: (texts: { name?: string | undefined; uri?: string | undefined }) => Promise<void>
}

async function carryOut(step: Step, context: Context): Promise<void> {
  const { made, marks, actorOf, anvil, send } = context
  const head = async () => Number(await anvil.request('eth_blockNumber'))
  const write = (by: string, name: string, ...args: unknown[]) => {
    const { key, issuerId } = actorOf(by)
    return send(key, name, issuerId, ...args)
  }
  const { batch } = made
  /** Calls `revoke` or `release` for the subject of a step. */
  const change = (name: string, by: string, whole: boolean, reason?: number) => {
    const more = reason === undefined ? [] : [reason]
    if (!batch) return write(by, name, made.hash, ...more)
    if (whole) return write(by, `${name}Batch`, batch.root, ...more)
    return write(by, `${name}InBatch`, batch.root, [made.hash], ...more)
  }
  if ('issue' in step) {
    const { by, alone, validUntil = made.validUntil } = step.issue
    if (!batch || alone) await write(by, 'issue', made.hash, validUntil)
    else await write(by, 'issueBatch', batch.root, batch.size, batch.manifest)
  } else if ('revoke' in step) {
    const { by, whole, reason } = step.revoke
    await change('revoke', by, whole, REVOCATION_REASONS[reason])
  } else if ('suspend' in step) {
    await change('revoke', step.suspend.by, step.suspend.whole, SUSPENDED)
  } else if ('release' in step) {
    await change('release', step.release.by, step.release.whole)
  } else if ('supersede' in step) {
    const successor = [sha256(made.hash), 0]
    const root = batch?.root ?? NO_BATCH
    const { by } = step.supersede
    await write(by, 'supersede', root, made.hash, ...successor)
  } else if ('distrust' in step) {
    const { account, from } = step.distrust
    const { key, issuerId } = actorOf(account)
    const block = from === undefined ? await head() : marks[from]
    const args = [issuerId, addressOf(key), block]
    await send(MANAGER_KEY, 'distrustFrom', ...args)
  } else if ('retire' in step) {
    const { key, issuerId } = actorOf(step.retire.account)
    await send(MANAGER_KEY, 'retireAccount', issuerId, addressOf(key))
  } else if ('close' in step) {
    await send(ADMIN_KEY, 'closeIssuer', ISSUER_ID)
  } else if ('texts' in step) {
    await context.setTexts(step.texts)
  } else if ('mark' in step) {
    marks[step.mark] = await head()
    // Later steps are in a later block.
    await anvil.request('evm_mine')
  } else {
    const time = Date.parse(step.travelTo) / 1000
    await anvil.request('evm_setNextBlockTimestamp', time)
    await anvil.request('evm_mine')
  }
}
