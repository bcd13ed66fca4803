import { Interface, keccak256 } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import {
  type Eip1193Provider,
  REGISTRY_STATUSES,
} from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { IssueError } from '../issue/errors.ts'
import type { Holder, Registry } from '../issue/ports.ts'
import type { Signer } from './signer.ts'

const abi = new Interface(registryAbi)
/** EIP-7825. */
const MAX_GAS = 16_777_216n
/** Records read in one call. */
const CHUNK = 500
/** Over the estimate, since the chain's state moves on between estimate and inclusion; per cent. */
const GAS_MARGIN = 10n

/**
 * The registry through one account of an issuer.
 *
 * @param registry CAIP-10, lower case.
 * @param signer Signs for the account.
 * @throws {IssueError} when the chain cannot be read, or the account belongs to no issuer.
 */
export async function createRegistry(
  provider: Eip1193Provider,
  registry: string,
  signer: Signer,
): Promise<Registry> {
  const { chainId, address } = parseRegistry(registry)
  const issuedTopic = abi.getEvent('DocumentIssued')?.topicHash

  async function request<T>(method: string, ...params: unknown[]): Promise<T> {
    try {
      return (await provider.request({ method, params })) as T
    } catch (error) {
      throw asIssueError(method, error)
    }
  }

  async function call(name: string, args: unknown[]) {
    const data = abi.encodeFunctionData(name, args)
    const result = await request<Hex>(
      'eth_call',
      { to: address, data },
      'latest',
    )
    if (result === '0x')
      throw new IssueError('registry_refused', `no registry at ${registry}`)
    return abi.decodeFunctionResult(name, result)[0]
  }

  async function readAccount() {
    const [actual, account, balance] = await Promise.all([
      request<Hex>('eth_chainId'),
      call('accountOf', [signer.address]),
      request<Hex>('eth_getBalance', signer.address, 'latest'),
    ])
    if (Number(actual) !== chainId)
      throw new IssueError(
        'registry_refused',
        `the node is of chain ${Number(actual)}, not ${chainId}`,
      )
    if (!account.active)
      throw new IssueError(
        'registry_refused',
        `${signer.address} is no active issuer account of ${registry}`,
      )
    if (BigInt(balance) === 0n)
      throw new IssueError(
        'registry_refused',
        `${signer.address} has no funds for gas`,
      )
    return Number(account.issuerId)
  }

  return {
    registry,
    issuerId: await readAccount(),

    async assertReady() {
      await Promise.all([readAccount(), signer.assertReady()])
    },

    async prepare(intents) {
      const data = abi.encodeFunctionData('issueMany', [
        intents.map(({ documentHash }) => documentHash),
        intents.map(({ validUntil }) => validUntil),
      ])
      const [nonce, estimate, tip, head] = await Promise.all([
        request<Hex>('eth_getTransactionCount', signer.address, 'latest'),
        request<Hex>('eth_estimateGas', {
          from: signer.address,
          to: address,
          data,
        }),
        request<Hex>('eth_maxPriorityFeePerGas'),
        request<{ baseFeePerGas: Hex }>(
          'eth_getBlockByNumber',
          'latest',
          false,
        ),
      ])
      const gas = (BigInt(estimate) * (100n + GAS_MARGIN)) / 100n
      const raw = await signer.sign({
        type: 2,
        chainId,
        nonce: Number(nonce),
        to: address,
        data,
        gasLimit: gas < MAX_GAS ? gas : MAX_GAS,
        maxPriorityFeePerGas: BigInt(tip),
        maxFeePerGas: 2n * BigInt(head.baseFeePerGas) + BigInt(tip),
      })
      return { nonce: Number(nonce), hash: keccak256(raw) as Hex, raw }
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

    async isNonceUsed({ nonce }) {
      const next = await request<Hex>(
        'eth_getTransactionCount',
        signer.address,
        'latest',
      )
      return Number(next) > nonce
    },

    async holders(documentHashes) {
      const holders: (Holder | undefined)[] = []
      for (let i = 0; i < documentHashes.length; i += CHUNK) {
        const records = await call('recordsOf', [
          documentHashes.slice(i, i + CHUNK),
        ])
        for (const { issuerId, anchoredBlock } of records)
          holders.push(
            issuerId === 0n
              ? undefined
              : {
                  issuerId: Number(issuerId),
                  blockNumber: Number(anchoredBlock),
                },
          )
      }
      return holders
    },

    async statusOf(documentHash) {
      const status = Number(await call('statusOf', [documentHash]))
      return REGISTRY_STATUSES[status] ?? 'not_issued'
    },

    async transactionsOf(blockNumber) {
      const block = `0x${blockNumber.toString(16)}`
      const logs = await request<{ topics: Hex[]; transactionHash: Hex }[]>(
        'eth_getLogs',
        { address, fromBlock: block, toBlock: block, topics: [issuedTopic] },
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

function asIssueError(method: string, error: unknown): IssueError {
  const message = `${method}: ${error instanceof Error ? error.message : error}`
  const refused =
    error instanceof RpcResponseError &&
    (error.code === 3 || /revert|insufficient funds/i.test(error.message))
  return new IssueError(
    refused ? 'registry_refused' : 'chain_unavailable',
    message,
    error,
  )
}
