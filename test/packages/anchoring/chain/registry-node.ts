import type { Result } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import { type Eip1193Provider, REGISTRY_STATUSES, type RegistryAccount } from '#verifier/ports.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'
import { REGISTRY } from '../../../support/corpus/payload.ts'

const ADDRESS: string = parseRegistryId(REGISTRY).address
const ACCOUNT: RegistryAccount = {
  ...NO_ACCOUNT,
  account: `0x${'ab'.repeat(20)}`,
  accountIndex: 1,
  addedBlock: 1,
}

export type Entry = {
  issuerId: number
  documentHash: Hex
  block: number
  /** Determines the hashes of its transaction and block; 64 digits. */
  fork: string
  /** The block in which it was revoked; 0 = never. */
  revokedBlock: number
}

export type Asked = { method: string; params: unknown[]; call?: string }

/** A node of a chain with one registry, simulated in memory. A test changes its state. */
export type RegistryNode = {
  provider: Eip1193Provider
  head: number
  finalized: number
  safe: number
  entries: Entry[]
  /** The requests, in order; an `eth_call` includes the function's name. */
  asked: Asked[]
  /** Replaces the honest result. Throwing makes an error of the node. */
  answer: (asked: Asked, result: unknown) => unknown
}

export function createRegistryNode(): RegistryNode {
  const node: RegistryNode = {
    head: 100,
    finalized: 90,
    safe: 95,
    entries: [],
    asked: [],
    answer: (_, result) => result,
    provider: {
      async request({ method, params = [] }) {
        const asked: Asked = { method, params: [...params] }
        if (method === 'eth_call') asked.call = callOf(params)?.name ?? ''
        node.asked.push(asked)
        return node.answer(asked, resultOf(node, asked))
      },
    },
  }
  return node
}

export const refusal = (message: string) => new RpcResponseError(-32000, message, undefined)

function callOf(params: readonly unknown[]) {
  const [{ data }] = params as [{ data: Hex }]
  return registryAbi.parseTransaction({ data })
}

function resultOf(node: RegistryNode, { method, params }: Asked): unknown {
  if (method === 'eth_call') return readOf(node, params)
  if (method === 'eth_getLogs') return logsOf(node, params)
  const { head: latest, safe, finalized } = node
  const heights: Record<string, number> = { latest, safe, finalized }
  return { number: quantity(heights[String(params[0])] ?? 0) }
}

function readOf(node: RegistryNode, params: readonly unknown[]): unknown {
  const call = callOf(params)
  const name = call?.name ?? ''
  const [first, second] = call?.args ?? []
  if (name === 'verificationsOf')
    return registryAbi.encodeFunctionResult(name, [
      first.map(([issuerId, hash]: Result) => verificationOf(node, Number(issuerId), hash)),
    ])
  const hash = name === 'verificationOf' ? second : call?.args[2]
  const verification = verificationOf(node, Number(first), hash)
  return registryAbi.encodeFunctionResult(name, [verification])
}

/** @returns The registry's answer about a document at the head. */
export function verificationOf(
  { head, entries }: RegistryNode,
  issuerId: number,
  documentHash: Hex,
) {
  const entry = entries.find(
    (one) => one.issuerId === issuerId && one.documentHash === documentHash,
  )
  const { block = 0, revokedBlock = 0 } = entry ?? {}
  const status = entry ? (revokedBlock ? 'revoked' : 'valid') : 'not_issued'
  const { id, ...nobody } = emptyIssuer(issuerId)
  return {
    chainId: 31337,
    blockNumber: head,
    blockTime: 1000 + head,
    status: REGISTRY_STATUSES.indexOf(status),
    record: {
      accountIndex: entry ? 1 : 0,
      anchoredBlock: block,
      anchoredAt: entry ? 1000 + block : 0,
      validUntil: 0,
      revokerIndex: revokedBlock ? 1 : 0,
      revokedBlock,
      revokedAt: revokedBlock,
      reason: revokedBlock ? 1 : 0,
      setAside: false,
    },
    account: entry ? ACCOUNT : NO_ACCOUNT,
    revoker: revokedBlock ? ACCOUNT : NO_ACCOUNT,
    issuer: entry ? { ...nobody, name: `Issuer ${id}` } : nobody,
  }
}

type Filter = { fromBlock: Hex; toBlock: Hex; topics: (Hex | Hex[])[] }

function logsOf({ entries }: RegistryNode, params: readonly unknown[]) {
  const [{ fromBlock, toBlock, topics }] = params as [Filter]
  return entries
    .map((entry) => ({ entry, log: eventOf(entry) }))
    .filter(
      ({ entry, log }) =>
        entry.block >= Number(fromBlock) &&
        entry.block <= Number(toBlock) &&
        topics.every((some, i) => [some].flat().includes(log.topics[i] as Hex)),
    )
    .map(({ log }) => log)
}

/** @returns The log of a document's issue. */
export function eventOf({ issuerId, documentHash, block, fork }: Omit<Entry, 'revokedBlock'>) {
  const values = [documentHash, issuerId, ACCOUNT.account, 0]
  return {
    ...registryAbi.encodeEventLog('DocumentIssued', values),
    address: ADDRESS,
    transactionHash: `0xf${fork.slice(1)}`,
    blockHash: `0x${fork}`,
    blockNumber: quantity(block),
    logIndex: '0x0',
  }
}

const quantity = (value: number): Hex => `0x${value.toString(16)}`
