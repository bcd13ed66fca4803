import { Interface } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { createProvider } from '../../verifier/readers/json-rpc.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import { ISSUED_TOPIC } from '../../verifier/readers/verification-codec.ts'
import { REGISTRY } from './corpus/payload.ts'

const abi = new Interface(registryAbi)
const ACCOUNT = `0x${'ab'.repeat(20)}`
const BLOCK_HASH = `0x${'b1'.repeat(32)}`

/** What a node knows of a document. */
export type Record = { revoked?: boolean; validUntil?: number }

/** @returns The honest results of all methods that a verdict asks for, by method. */
export function resultsFor(
  documentHash: Hex,
  { revoked = false, validUntil = 0 }: Record = {},
): { [method: string]: unknown } {
  const now = Math.floor(Date.now() / 1000)
  const verification = {
    chainId: 31337,
    blockNumber: 20,
    blockTime: now,
    status: revoked ? 3 : 1,
    record: {
      issuerId: 1,
      accountIndex: 0,
      anchoredBlock: 10,
      anchoredAt: now - 100,
      validUntil,
      revokedBlock: revoked ? 15 : 0,
      revokedAt: revoked ? now - 50 : 0,
      reason: revoked ? 1 : 0,
    },
    account: ACCOUNT,
    issuerName: 'Registry office of Testville',
    issuerUri: 'https://testville.example',
    distrustedFrom: 0,
  }
  const log = abi.encodeEventLog('DocumentIssued', [
    documentHash,
    1,
    ACCOUNT,
    validUntil,
  ])
  return {
    eth_call: abi.encodeFunctionResult('verificationOf', [verification]),
    eth_getLogs: [
      {
        ...log,
        topics: [ISSUED_TOPIC, ...log.topics.slice(1)],
        address: REGISTRY.split(':')[2],
        transactionHash: `0x${'f1'.repeat(32)}`,
        blockHash: BLOCK_HASH,
        logIndex: '0x3',
      },
    ],
    eth_getBlockByNumber: { number: '0x14', hash: BLOCK_HASH },
    eth_blockNumber: '0x14',
  }
}

/** @param answer Gives the text of the answer to a method. @returns A node without a network in between. */
export function memoryNode(
  answer: (method: string) => string,
): Eip1193Provider {
  return createProvider(async (body) => answer(JSON.parse(body).method))
}

/** @returns A node that answers with these results. */
export function nodeWith(results: { [method: string]: unknown }) {
  return memoryNode((method) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: results[method] ?? null }),
  )
}
