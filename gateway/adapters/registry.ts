import { Interface, Wallet } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { IssueError } from '../issue/errors.ts'
import type { Intent, Registry, SignedTransaction } from '../issue/ports.ts'
import {
  decodeRecords,
  encodeIssueMany,
  encodeRecordsOf,
  encodeRevokeMany,
} from './registry-codec.ts'
import { signCall } from './transaction.ts'

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

const EVENTS = {
  issue: abi.getEvent('DocumentIssued')?.topicHash,
  revoke: abi.getEvent('DocumentRevoked')?.topicHash,
} as const

export type RegistryOptions = {
  /** CAIP-10, lower case. */
  registry: string
  /** The account's private key, 32 bytes. */
  issuerKey: Hex
  /** Most wei that a unit of gas may cost; absent = any price. */
  feeCap?: bigint
}

/**
 * The registry through one account of an issuer.
 *
 * @throws {IssueError} when the chain cannot be read, or the account belongs to no issuer.
 */
export async function createRegistry(
  provider: Eip1193Provider,
  { registry, issuerKey, feeCap }: RegistryOptions,
): Promise<Registry> {
  const { chainId, address } = parseRegistry(registry)
  const wallet = new Wallet(issuerKey)

  async function request<T>(method: string, ...params: unknown[]): Promise<T> {
    try {
      return (await provider.request({ method, params })) as T
    } catch (error) {
      throw asIssueError(method, error)
    }
  }

  async function call<T>(data: string, decode: (result: Hex) => T): Promise<T> {
    const result = await request<Hex>(
      'eth_call',
      { to: address, data },
      'latest',
    )
    if (result === '0x')
      throw new IssueError('registry_refused', `no registry at ${registry}`)
    try {
      return decode(result)
    } catch (cause) {
      throw new IssueError('chain_unavailable', 'garbage', cause)
    }
  }

  async function readAccount(): Promise<number> {
    const [actual, account, balance] = await Promise.all([
      request<Hex>('eth_chainId'),
      call(
        abi.encodeFunctionData('accountOf', [wallet.address]),
        (result) => abi.decodeFunctionResult('accountOf', result)[0],
      ),
      request<Hex>('eth_getBalance', wallet.address, 'latest'),
    ])
    const refuse = (message: string) => {
      throw new IssueError('registry_refused', message)
    }
    if (Number(actual) !== chainId)
      refuse(`the node is of chain ${Number(actual)}, not ${chainId}`)
    if (!account.active)
      refuse(`${wallet.address} is no active issuer account of ${registry}`)
    if (BigInt(balance) === 0n) refuse(`${wallet.address} has no funds for gas`)
    return Number(account.issuerId)
  }

  let price: { baseFee: bigint; tip: bigint; askedAt: number } | undefined

  async function askPrice() {
    const [tip, head] = await Promise.all([
      request<Hex>('eth_maxPriorityFeePerGas'),
      request<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false),
    ])
    const baseFee = BigInt(head.baseFeePerGas)
    price = { baseFee, tip: BigInt(tip), askedAt: Date.now() }
    return price
  }

  async function fees(outbid: SignedTransaction | undefined) {
    const fresh = price && Date.now() - price.askedAt < PRICE_KEPT
    const { baseFee, tip } =
      price && fresh && !outbid ? price : await askPrice()
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

  return {
    registry,
    issuerId: await readAccount(),

    async assertReady() {
      await readAccount()
    },

    async nextNonce() {
      return Number(
        await request<Hex>('eth_getTransactionCount', wallet.address, 'latest'),
      )
    },

    async prepare(intents, nonce, outbid) {
      const data = calldataOf(intents)
      const from = wallet.address
      const [estimate, price] = await Promise.all([
        request<Hex>('eth_estimateGas', { from, to: address, data }),
        fees(outbid),
      ])
      const gasLimit = (BigInt(estimate) * (100n + GAS_MARGIN)) / 100n
      if (gasLimit > MAX_GAS || data.length / 2 > MAX_CALLDATA)
        throw new IssueError(
          'too_large',
          `${intents.length} need ${gasLimit} gas and ${data.length / 2} bytes`,
        )
      const call = { chainId, nonce, to: address, data, gasLimit, ...price }
      return { nonce, ...signCall(wallet.signingKey, call), ...price }
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
        throw asIssueError('eth_sendRawTransaction', error)
      }
    },

    async records(documentHashes) {
      const chunks = Array.from(
        { length: Math.ceil(documentHashes.length / CHUNK) },
        (_, i) => documentHashes.slice(i * CHUNK, (i + 1) * CHUNK),
      )
      const read = await Promise.all(
        chunks.map((chunk) =>
          call(encodeRecordsOf(chunk), (result) =>
            decodeRecords(result, chunk.length),
          ),
        ),
      )
      return read.flat()
    },

    async transactionsOf(kind, blockNumber) {
      const block = `0x${blockNumber.toString(16)}`
      const logs = await request<{ topics: Hex[]; transactionHash: Hex }[]>(
        'eth_getLogs',
        { address, fromBlock: block, toBlock: block, topics: [EVENTS[kind]] },
      )
      return new Map(
        logs.map(({ topics, transactionHash }) => [
          topics[1] as Hex,
          transactionHash,
        ]),
      )
    },

    async finalizedBlock() {
      const block = await request<{ number: Hex }>(
        'eth_getBlockByNumber',
        'finalized',
        false,
      )
      return Number(block.number)
    },
  }
}

/** `issueMany` also for one: it never reverts on a collision, so that a repeat cannot fail. */
function calldataOf(intents: readonly Intent[]): Hex {
  const hashes = intents.map(({ documentHash }) => documentHash)
  const [first] = intents
  if (first?.kind === 'revoke') return encodeRevokeMany(hashes, first.reason)
  const expiries = intents.map((intent) =>
    intent.kind === 'issue' ? intent.validUntil : 0,
  )
  return encodeIssueMany(hashes, expiries)
}

const raised = (wei: bigint) => (wei * (1000n + OUTBID)) / 1000n + 1n
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)
const larger = (one: bigint, other: bigint) => (one > other ? one : other)

function asIssueError(method: string, error: unknown): IssueError {
  const message = `${method}: ${error instanceof Error ? error.message : error}`
  return new IssueError(codeOf(error), message, error)
}

/** Nodes tell these apart by words only. What is not clear counts as an outage: the same is tried again. */
function codeOf(error: unknown) {
  if (!(error instanceof RpcResponseError)) return 'chain_unavailable'
  const { code, message } = error
  if (/underpriced|less than block base fee|fee too low/i.test(message))
    return 'underpriced'
  if (code === 3 || /revert|insufficient funds/i.test(message))
    return 'registry_refused'
  return 'chain_unavailable'
}
