import { keccak_256 } from '@noble/hashes/sha3.js'
import { Interface } from 'ethers'
import { type Hex, toHex } from '../../document/hex.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import type { Eip1193Provider, RegistryRecord } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import {
  createFinalityReader,
  type FinalityRule,
} from '../../verifier/readers/finality.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { createRequest } from '../../verifier/readers/request.ts'
import {
  readBigQuantity,
  readHash,
  readList,
  readLog,
  readObject,
  readQuantity,
  toQuantity,
} from '../../verifier/readers/rpc-codec.ts'
import { SUSPENDED } from '../../verifier/reasons.ts'
import { IssueError } from '../issue/errors.ts'
import type {
  Intent,
  Readiness,
  Registry,
  RegistryEvent,
  SignedTransaction,
} from '../issue/ports.ts'
import { createEstimates } from './gas-estimates.ts'
import {
  decodeRecords,
  encodeIssueMany,
  encodeRecordsOf,
  encodeReleaseMany,
  encodeRevokeMany,
} from './registry-codec.ts'
import type { Signer } from './signer.ts'

const abi = new Interface(registryAbi)
/** Four fifths of the cap of EIP-7825 on a transaction's gas; the rest is for what the estimate did not foresee. */
const MAX_GAS = (16_777_216n * 4n) / 5n
/** Most bytes of calldata: nodes take transactions up to 128 KiB. */
const MAX_CALLDATA = 120 * 1024
/** Over the estimate, since the chain's state moves on between estimate and inclusion; per cent. */
const GAS_MARGIN = 10n
/** What a replacement pays more, in fee and tip; per mille, rounded up. Nodes ask for 100. */
const OUTBID = 125n
/** How long a price is good for; milliseconds. Asked for each of hundreds of transactions a second, it would be a third of all calls. */
const PRICE_KEPT = 250
/** Records read in one call. */
const CHUNK = 500

const topicOf = (name: string) => {
  const topic = abi.getEvent(name)?.topicHash
  if (topic === undefined) throw new TypeError(`no event ${name}`)
  return topic as Hex
}
/** A document in a batch is revoked and released in the same slot as one that was issued alone. */
const TOPICS: Record<RegistryEvent, Hex[]> = {
  issued: [topicOf('DocumentIssued')],
  revoked: [topicOf('DocumentRevoked'), topicOf('DocumentInBatchRevoked')],
  released: [topicOf('DocumentReleased'), topicOf('DocumentInBatchReleased')],
}
/** Bits of an account's permissions. */
const [ISSUE, REVOKE] = [1, 2]

export type RegistryOptions = {
  /** CAIP-10, lower case. */
  registry: string
  /** The issuer that the account writes for. */
  issuerId: number
  /** Signs for the account. */
  signer: Signer
  /** Most wei that a unit of gas may cost; absent = any price. */
  feeCap?: bigint
  /** Which blocks count as final; absent = by the node's tag alone. */
  finality?: FinalityRule
}

/**
 * The registry through one account of an issuer.
 *
 * @throws {IssueError} when the chain cannot be read, or the account may not issue.
 */
export async function createRegistry(
  provider: Eip1193Provider,
  { registry, issuerId, signer, feeCap, finality }: RegistryOptions,
): Promise<Registry> {
  const { chainId, address } = parseRegistry(registry)
  const { finalizedBlock } = createFinalityReader(
    createRequest(provider),
    finality,
  )

  /** @param read Reads the answer; throws what it cannot read. */
  async function request<T>(
    method: string,
    read: (answer: unknown) => T,
    ...params: unknown[]
  ): Promise<T> {
    let answer: unknown
    try {
      answer = await provider.request({ method, params })
    } catch (error) {
      throw asIssueError(method, error)
    }
    try {
      return read(answer)
    } catch (cause) {
      throw new IssueError('chain_unavailable', `${method}: garbage`, cause)
    }
  }

  async function call<T>(data: string, decode: (result: Hex) => T): Promise<T> {
    const result = await request(
      'eth_call',
      (answer) => (answer === '0x' ? undefined : { of: decode(answer as Hex) }),
      { to: address, data },
      'latest',
    )
    if (result) return result.of
    throw new IssueError('registry_refused', `no registry at ${registry}`)
  }

  /** @param method A view of the registry that returns one struct, as ethers decodes it. */
  function view(method: string, ...args: unknown[]) {
    return call(
      abi.encodeFunctionData(method, args),
      (result) => abi.decodeFunctionResult(method, result)[0],
    )
  }

  async function readAccount(): Promise<Readiness> {
    const [actual, account, issuer, balance] = await Promise.all([
      request('eth_chainId', readQuantity),
      view('accountOf', issuerId, signer.address),
      view('issuerOf', issuerId),
      request('eth_getBalance', readBigQuantity, signer.address, 'latest'),
    ])
    const permissions = Number(account.permissions)
    const known = `${signer.address} of issuer ${issuerId} of ${registry}`
    const problem = [
      actual !== chainId && `the node is of chain ${actual}, not ${chainId}`,
      issuer.accountCount === 0n && `${registry} has no issuer ${issuerId}`,
      account.addedBlock === 0n &&
        `${signer.address} is not an account of issuer ${issuerId} of ${registry}`,
      account.retiredBlock !== 0n && `${known} is retired`,
      (permissions & ISSUE) === 0 && `${known} may not issue`,
      issuer.closedBlock !== 0n &&
        `issuer ${issuerId} of ${registry} is closed`,
      balance === 0n && `${signer.address} has no funds for gas`,
    ].find((one) => one !== false)
    if (problem) throw new IssueError('registry_refused', problem)
    return { balance, mayRevoke: (permissions & REVOKE) !== 0 }
  }

  /** From which block on what an account issued is distrusted. */
  async function distrustOf(
    records: readonly RegistryRecord[],
  ): Promise<Map<number, number>> {
    const indexes = new Set(
      records
        .filter(({ anchoredBlock }) => anchoredBlock !== 0)
        .map(({ accountIndex }) => accountIndex),
    )
    return new Map(
      await Promise.all(
        [...indexes].map(async (index) => {
          const { distrustedFrom } = await view('accountAt', issuerId, index)
          return [index, Number(distrustedFrom) || Infinity] as const
        }),
      ),
    )
  }

  let kept: { baseFee: bigint; tip: bigint; askedAt: number } | undefined

  /** What the chain asks for now, in wei a gas. */
  async function price() {
    const [tip, baseFee] = await Promise.all([
      request('eth_maxPriorityFeePerGas', readBigQuantity),
      request(
        'eth_getBlockByNumber',
        (block) => readBigQuantity(readObject(block).baseFeePerGas),
        'latest',
        false,
      ),
    ])
    kept = { baseFee, tip, askedAt: performance.now() }
    return kept
  }

  async function fees(outbid: SignedTransaction | undefined) {
    const fresh = kept && performance.now() - kept.askedAt < PRICE_KEPT
    const { baseFee, tip } = kept && fresh && !outbid ? kept : await price()
    if (feeCap !== undefined && baseFee + tip > feeCap)
      throw new IssueError(
        'fee_too_high',
        `the chain asks for ${baseFee + tip} wei a gas, over the cap of ${feeCap}`,
      )
    const least = outbid ? raised(outbid.maxFeePerGas) : 0n
    const wanted = larger(2n * baseFee + tip, least)
    const maxFeePerGas =
      feeCap !== undefined && wanted > feeCap ? feeCap : wanted
    if (maxFeePerGas < least)
      throw new IssueError(
        'fee_too_high',
        `a replacement would cost ${least} wei a gas, over the cap of ${feeCap}`,
      )
    const tipNow = outbid
      ? larger(tip, raised(outbid.maxPriorityFeePerGas))
      : tip
    return {
      maxFeePerGas,
      maxPriorityFeePerGas: smaller(tipNow, maxFeePerGas),
    }
  }

  const issuerTopic: Hex = `0x${issuerId.toString(16).padStart(64, '0')}`
  const gas = createEstimates((data) =>
    request('eth_estimateGas', readBigQuantity, {
      from: signer.address,
      to: address,
      data,
    }),
  )
  await readAccount()
  return {
    registry,
    issuerId,
    async assertReady() {
      await signer.assertReady()
      return readAccount()
    },

    async nextNonce() {
      return request(
        'eth_getTransactionCount',
        readQuantity,
        signer.address,
        'latest',
      )
    },

    async prepare(intents, nonce, outbid) {
      const data = calldataOf(issuerId, intents)
      const [estimate, fee] = await Promise.all([
        outbid ? gas.anew(intents, data) : gas.of(intents, data),
        fees(outbid),
      ])
      const gasLimit = (estimate * (100n + GAS_MARGIN)) / 100n
      if (gasLimit > MAX_GAS || data.length / 2 > MAX_CALLDATA)
        throw new IssueError(
          'too_large',
          `${intents.length} need ${gasLimit} gas and ${data.length / 2} bytes`,
        )
      const raw = await signer.sign({
        type: 2,
        chainId,
        nonce,
        to: address,
        data,
        gasLimit,
        ...fee,
      })
      return { nonce, hash: hashOf(raw), raw, ...fee }
    },

    async pays({ maxFeePerGas, maxPriorityFeePerGas }) {
      const { tip, baseFee } = await price()
      return maxPriorityFeePerGas >= tip && maxFeePerGas >= baseFee + tip
    },

    async broadcast({ raw }) {
      try {
        await provider.request({
          method: 'eth_sendRawTransaction',
          params: [raw],
        })
      } catch (error) {
        // The node has it, or the nonce is used: by these bytes or others, the records will tell.
        if (/already known|already imported|nonce too low/i.test(String(error)))
          return
        const issueError = asIssueError('eth_sendRawTransaction', error)
        // The node answered, and will say the same of the same bytes.
        if (error instanceof RpcResponseError)
          throw new IssueError('registry_refused', issueError.message, error)
        throw issueError
      }
    },

    async records(documentHashes) {
      const chunks = Array.from(
        { length: Math.ceil(documentHashes.length / CHUNK) },
        (_, i) => documentHashes.slice(i * CHUNK, (i + 1) * CHUNK),
      )
      const read = await Promise.all(
        chunks.map((chunk) =>
          call(encodeRecordsOf(issuerId, chunk), (result) =>
            decodeRecords(result, chunk.length),
          ),
        ),
      )
      const records = read.flat()
      const distrust = await distrustOf(records)
      return records.map((record) => ({
        ...record,
        distrusted:
          record.anchoredBlock !== 0 &&
          record.anchoredBlock >=
            (distrust.get(record.accountIndex) ?? Infinity),
      }))
    },

    async transactionsOf(event, blockNumber) {
      const block = toQuantity(blockNumber)
      const logs = await request(
        'eth_getLogs',
        (answer) => readList(answer, readLog),
        {
          address,
          fromBlock: block,
          toBlock: block,
          topics: [TOPICS[event], null, issuerTopic],
        },
      )
      return new Map(
        logs.map(({ topics, transactionHash, blockHash }) => [
          topics[1] as Hex,
          { blockNumber, blockHash, transactionHash },
        ]),
      )
    },

    async receiptOf(transactionHash) {
      const receipt = await request(
        'eth_getTransactionReceipt',
        readReceipt,
        transactionHash,
      )
      if (!receipt) return undefined
      const { logs, ...rest } = receipt
      const issued = logs.filter(
        (log) =>
          log.address === address &&
          log.topics[0] === TOPICS.issued[0] &&
          log.topics[2] === issuerTopic,
      )
      return {
        ...rest,
        issued: new Set(issued.map(({ topics }) => topics[1] as Hex)),
      }
    },

    async blockHash(blockNumber) {
      return request(
        'eth_getBlockByNumber',
        (block) => (block === null ? null : readHash(readObject(block).hash)),
        toQuantity(blockNumber),
        false,
      )
    },

    finalizedBlock: () =>
      finalizedBlock().catch((error) => {
        throw asIssueError('finality', error)
      }),
  }
}

/** @returns Where the transaction is and its logs; `undefined` while it is in no block. */
function readReceipt(answer: unknown) {
  if (answer === null) return undefined
  const { blockNumber, blockHash, status, logs } = readObject(answer)
  // Some nodes give receipts of what waits to be mined.
  if (blockNumber === null || blockHash === null) return undefined
  return {
    blockNumber: readQuantity(blockNumber),
    blockHash: readHash(blockHash),
    succeeded: readQuantity(status) === 1,
    logs: readList(logs, readLog),
  }
}

/** Lists also for one: they never revert on what is done already, so that a repeat cannot fail. */
function calldataOf(issuerId: number, intents: readonly Intent[]): Hex {
  const hashes = intents.map(({ documentHash }) => documentHash)
  const [first] = intents
  switch (first?.kind) {
    case 'revoke':
      return encodeRevokeMany(issuerId, hashes, first.reason)
    case 'suspend':
      return encodeRevokeMany(issuerId, hashes, SUSPENDED)
    case 'release':
      return encodeReleaseMany(issuerId, hashes)
    default:
      return encodeIssueMany(
        issuerId,
        hashes,
        intents.map((intent) =>
          intent.kind === 'issue' ? intent.validUntil : 0,
        ),
      )
  }
}

/** @returns The hash of a signed transaction. */
const hashOf = (raw: Hex) => toHex(keccak_256(Buffer.from(raw.slice(2), 'hex')))

const raised = (wei: bigint) => (wei * (1000n + OUTBID)) / 1000n + 1n
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)
const larger = (one: bigint, other: bigint) => (one > other ? one : other)

function asIssueError(method: string, error: unknown): IssueError {
  const message = `${method}: ${error instanceof Error ? error.message : error}`
  return new IssueError(codeOf(error), message, error)
}

/** Nodes tell these apart by words only. What is not clear counts as an outage: the same is tried again. */
function codeOf(error: unknown) {
  const refused =
    error instanceof RpcResponseError &&
    (error.code === 3 || /revert|insufficient funds/i.test(error.message))
  return refused ? 'registry_refused' : 'chain_unavailable'
}
