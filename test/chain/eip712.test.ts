import { readFileSync } from 'node:fs'
import { type Signer, TypedDataEncoder, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  domainOf,
  messages,
  type Payloads,
  sign,
} from '../../scripts/authorization.ts'
import { freshRegistry } from './registry.ts'

/**
 * test/vectors/eip712.json holds one message of each kind. Its digests were made by ethers and are held against the contract
 * here, and against EIP-712's rules written out in Solidity in test/contracts/Delegated.t.sol.
 */
interface Vector {
  readonly name: keyof Payloads
  readonly payload: Payloads[keyof Payloads]
  readonly nonce: string
  readonly digest: string
  readonly signature: string
}
const vectors = JSON.parse(
  readFileSync(new URL('../vectors/eip712.json', import.meta.url), 'utf8'),
) as {
  readonly key: string
  readonly registry: string
  readonly chainId: number
  readonly domainSeparator: string
  readonly deadline: string
  readonly messages: readonly Vector[]
}
const signer = new Wallet(vectors.key)
const deadline = BigInt(vectors.deadline)
const domain = domainOf(BigInt(vectors.chainId), vectors.registry)
const vector = (name: keyof Payloads): Vector =>
  vectors.messages.find((message) => message.name === name) as Vector
const valueOf = ({ payload, nonce }: Vector) => ({
  account: signer.address,
  ...payload,
  nonce: BigInt(nonce),
  deadline,
})

let chain: Awaited<ReturnType<typeof freshRegistry>>
beforeAll(async () => {
  chain = await freshRegistry()
  await chain.registry.addAccount(1, signer.address)
})
afterAll(() => chain.connection.close())

describe('domain', () => {
  test('behavior: ERC-5267 gives what the vectors were made with', async () => {
    const [fields, name, version, chainId, verifyingContract] =
      await chain.registry.eip712Domain()
    expect({ fields, name, version, chainId, verifyingContract }).toEqual({
      fields: '0x0f',
      ...domain,
    })
    expect(TypedDataEncoder.hashDomain(domain)).toBe(vectors.domainSeparator)
  })
})

describe('messages', () => {
  test.each(vectors.messages)(
    'behavior: ethers makes the digest and signature of $name',
    async (message) => {
      expect(
        TypedDataEncoder.hash(
          domain,
          { [message.name]: messages[message.name] },
          valueOf(message),
        ),
      ).toBe(message.digest)
      const made = await sign(
        signer,
        domain,
        message.name,
        message.payload,
        BigInt(message.nonce),
        deadline,
      )
      expect(made.signature).toBe(message.signature)
    },
  )

  test('behavior: the registry accepts every vector', async () => {
    const registry = chain.registry.connect(chain.other as Signer)
    const leave = (name: keyof Payloads) => {
      const { nonce, signature } = vector(name)
      return {
        account: signer.address,
        nonce: BigInt(nonce),
        deadline,
        signature,
      }
    }
    const issue = vector('Issue').payload as Payloads['Issue']
    const batch = vector('IssueBatch').payload as Payloads['IssueBatch']
    const revoke = vector('Revoke').payload as Payloads['Revoke']
    const inBatch = vector('RevokeInBatch').payload as Payloads['RevokeInBatch']
    const whole = vector('RevokeBatch').payload as Payloads['RevokeBatch']

    await registry.issueFor(
      issue.documentHash,
      issue.validUntil,
      leave('Issue'),
    )
    await registry.issueBatchFor(
      batch.root,
      batch.size,
      batch.manifest,
      leave('IssueBatch'),
    )
    await registry.revokeFor(
      revoke.documentHash,
      revoke.reason,
      leave('Revoke'),
    )
    const { issuerId, root, documentHash, reason } = inBatch
    await registry.revokeInBatchFor(
      issuerId,
      root,
      documentHash,
      reason,
      leave('RevokeInBatch'),
    )
    await registry.revokeBatchFor(
      whole.issuerId,
      whole.root,
      whole.reason,
      leave('RevokeBatch'),
    )

    const { record, account } = await registry.verificationOf(
      issue.documentHash,
    )
    expect(account).toBe(signer.address)
    expect(record.reason).toBe(BigInt(revoke.reason))
    expect((await registry.revocationOf(issuerId, documentHash)).reason).toBe(
      BigInt(reason),
    )
    expect((await registry.batchOf(whole.issuerId, whole.root)).reason).toBe(
      BigInt(whole.reason),
    )
    for (const { nonce } of vectors.messages)
      expect(await registry.isNonceUsed(signer.address, nonce)).toBe(true)
  })
})
