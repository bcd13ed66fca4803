import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { Wallet } from 'ethers'
import { type Hex, toHex } from '../../../document/hex.ts'
import { ensureRegistry } from '../../../scripts/local-registry.ts'
import type { Eip1193Provider } from '../../../verifier/ports.ts'
import { createFetchProvider } from '../../../verifier/readers/json-rpc.ts'
import {
  REVOCATION_REASONS,
  type RevocationReason,
} from '../../../verifier/reasons.ts'
import { type AnvilNode, startAnvilNode } from '../anvil.ts'
import { transact } from '../transact.ts'
import type { Case, Step } from './case.ts'
import type { Made } from './payload.ts'

/** Anvil's first accounts, whose keys everybody knows; of the first one, the first contract is where the vectors belong. */
const ADMIN_KEY =
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const ISSUER_KEY =
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const OTHER_KEY =
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'

export const ISSUER = {
  name: 'Registry office of Testville',
  uri: 'https://testville.example',
}
/** Bits of an account's permissions. */
const [ISSUE, REVOKE, MANAGE] = [1, 2, 4]
const OTHER_ID = 2
const OTHER = { name: 'Another office', uri: 'https://other.example' }

/** Seconds that all of the set-up lies in the past: older than any fresh head. */
const AGE = 7_200

export type Chain = {
  url: string
  /** CAIP-10. */
  registry: string
  provider: Eip1193Provider
  /** @returns Block numbers by the names of the case's marks. */
  perform(corpusCase: Case, made: Made): Promise<Record<string, number>>
  /** The chain comes to the present. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** A chain of its own with the real registry, always at the same address, and two issuers. */
export async function startChain(dir: string, chainId: number): Promise<Chain> {
  const start = Math.floor(Date.now() / 1000) - AGE
  const anvil = await startAnvilNode(dir, [
    ...['--chain-id', String(chainId)],
    ...['--timestamp', String(start)],
  ])
  const provider = miningFirst(createFetchProvider(anvil.url))
  const account = new Wallet(ISSUER_KEY).address
  const registry = await ensureRegistry(provider, ADMIN_KEY, {
    account,
    ...ISSUER,
  })
  const send = (key: Hex, name: string, ...args: unknown[]) =>
    transact(provider, registry, key, name, args)
  await send(
    ADMIN_KEY,
    'registerIssuer',
    new Wallet(OTHER_KEY).address,
    OTHER.name,
    OTHER.uri,
  )
  // The first account of an issuer has MANAGE alone.
  await send(
    OTHER_KEY,
    'setPermissions',
    OTHER_ID,
    new Wallet(OTHER_KEY).address,
    ISSUE | REVOKE | MANAGE,
  )
  return {
    url: anvil.url,
    registry,
    provider,
    async perform(corpusCase, made) {
      const marks: Record<string, number> = {}
      const keyOf = await actors(corpusCase, anvil, send)
      for (const step of corpusCase.chain)
        await carryOut(step, { made, marks, keyOf, anvil, send })
      return marks
    },
    async catchUp() {
      const head = await anvil.request<{ timestamp: Hex }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      )
      const now = Math.floor(Date.now() / 1000)
      if (Number(head.timestamp) < now)
        await anvil.request('evm_setNextBlockTimestamp', now)
      await anvil.request('evm_mine')
    },
    stop: anvil.kill,
  }
}

/** Anvil may answer a broadcast before it has mined; this waits for the receipt. */
export function miningFirst(provider: Eip1193Provider): Eip1193Provider {
  return {
    async request(args) {
      const result = await provider.request(args)
      if (args.method !== 'eth_sendRawTransaction') return result
      const method = 'eth_getTransactionReceipt'
      while (!(await provider.request({ method, params: [result] })))
        await sleep(2)
      return result
    },
  }
}

type Send = (key: Hex, name: string, ...args: unknown[]) => Promise<Hex>
type KeyOf = (actor: string) => Hex

/** Makes the accounts of issuer 1 that only this case has. */
async function actors(
  { name, chain }: Case,
  anvil: AnvilNode,
  send: Send,
): Promise<KeyOf> {
  const keys: Record<string, Hex> = { issuer: ISSUER_KEY, other: OTHER_KEY }
  for (const step of chain) {
    const [details] = Object.values(step)
    const actor = typeof details === 'object' ? details.by : undefined
    if (actor === undefined || keys[actor]) continue
    const key = toHex(sha256(utf8ToBytes(`${name}/${actor}`)))
    const { address } = new Wallet(key)
    await anvil.request('anvil_setBalance', address, '0xde0b6b3a7640000')
    await send(ADMIN_KEY, 'addAccount', 1, address, ISSUE | REVOKE)
    keys[actor] = key
  }
  return (actor) => {
    const key = keys[actor]
    if (!key) throw new Error(`${name}: ${actor} has issued nothing`)
    return key
  }
}

type Context = {
  made: Made
  marks: Record<string, number>
  keyOf: KeyOf
  anvil: AnvilNode
  send: Send
}

async function carryOut(
  step: Step,
  { made, marks, keyOf, anvil, send }: Context,
): Promise<void> {
  const head = async () => Number(await anvil.request('eth_blockNumber'))
  const addressOf = (actor: string) => new Wallet(keyOf(actor)).address
  if ('issue' in step) {
    const { by, validUntil = made.validUntil } = step.issue
    await send(keyOf(by), 'issue', issuerOf(by), made.hash, validUntil)
  } else if ('revoke' in step) {
    const { by, reason } = step.revoke
    await send(keyOf(by), 'revoke', issuerOf(by), made.hash, codeOf(reason))
  } else if ('supersede' in step) {
    const successor = sha256(made.hash)
    const { by } = step.supersede
    const key = keyOf(by)
    const hashes = [ALONE, made.hash, successor]
    await send(key, 'supersede', issuerOf(by), ...hashes, 0)
  } else if ('distrust' in step) {
    const account = addressOf(step.distrust.account)
    await send(ADMIN_KEY, 'distrustFrom', 1, account, await head())
  } else if ('retire' in step) {
    await send(ADMIN_KEY, 'retireAccount', 1, addressOf(step.retire.account))
  } else if ('mark' in step) {
    marks[step.mark] = await head()
    // What comes next is in a later block.
    await anvil.request('evm_mine')
  } else {
    const time = Date.parse(step.travelTo) / 1000
    await anvil.request('evm_setNextBlockTimestamp', time)
    await anvil.request('evm_mine')
  }
}

const issuerOf = (actor: string) => (actor === 'other' ? OTHER_ID : 1)
/** In the place of a batch's root. */
const ALONE = `0x${'00'.repeat(32)}`
const codeOf = (reason: RevocationReason) => REVOCATION_REASONS[reason]
