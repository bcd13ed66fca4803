import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { type Eip1193Provider, REGISTRY_STATUSES, type RegistryAccount } from '#verifier/ports.ts'
import { createProvider } from '#verifier/readers/json-rpc.ts'
import { ISSUED_TOPIC } from '#verifier/readers/verification-codec.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'
import { REGISTRY } from '../support/corpus/payload.ts'

const ACCOUNT: Hex = `0x${'ab'.repeat(20)}`
const ISSUING: RegistryAccount = {
  ...NO_ACCOUNT,
  account: ACCOUNT,
  accountIndex: 1,
  permissions: 3,
  addedBlock: 3,
}
const BLOCK_HASH = `0x${'b1'.repeat(32)}`

/** The state of a document at a node. */
export type Record = { revoked?: boolean; validUntil?: number }

/** @returns The honest results of all methods that a verdict calls, by method. */
export function resultsFor(
  documentHash: Hex,
  { revoked = false, validUntil = 0 }: Record = {},
): { [method: string]: unknown } {
  const now = Math.floor(Date.now() / 1000)
  const verification = {
    chainId: 31337,
    blockNumber: 20,
    blockTime: now,
    status: REGISTRY_STATUSES.indexOf(revoked ? 'revoked' : 'valid'),
    record: {
      accountIndex: 1,
      anchoredBlock: 10,
      anchoredAt: now - 100,
      validUntil,
      revokerIndex: revoked ? 1 : 0,
      revokedBlock: revoked ? 15 : 0,
      revokedAt: revoked ? now - 50 : 0,
      reason: revoked ? 1 : 0,
      setAside: false,
    },
    account: ISSUING,
    revoker: revoked ? ISSUING : NO_ACCOUNT,
    issuer: {
      ...emptyIssuer(1),
      name: 'Registry office of Testville',
      uri: 'https://testville.example',
      documentCount: 1,
      accountCount: 2,
      changedBlock: 2,
    },
  }
  const log = registryAbi.encodeEventLog('DocumentIssued', [documentHash, 1, ACCOUNT, validUntil])
  return {
    eth_call: registryAbi.encodeFunctionResult('verificationOf', [verification]),
    eth_getLogs: [
      {
        ...log,
        topics: [ISSUED_TOPIC, ...log.topics.slice(1)],
        address: parseRegistryId(REGISTRY).address,
        transactionHash: `0x${'f1'.repeat(32)}`,
        blockHash: BLOCK_HASH,
        logIndex: '0x3',
      },
    ],
    eth_getBlockByNumber: { number: '0x14', hash: BLOCK_HASH },
    eth_blockNumber: '0x14',
  }
}

/** @param answer Returns the response text for a method. @returns A node in this process. */
export function memoryNode(answer: (method: string) => string): Eip1193Provider {
  return createProvider(async (body) => answer(JSON.parse(body).method))
}

/** @returns A node that answers with these results. */
export function nodeWith(results: { [method: string]: unknown }) {
  return memoryNode((method) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: results[method] ?? null }),
  )
}
