import { readFileSync } from 'node:fs'
import { Contract, getAddress, type Signer, TypedDataEncoder, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  FORWARD_REQUEST_TYPES,
  FORWARDER_ABI,
  forwarderDomain,
  signForwardRequest,
} from '#scripts/forward-request.ts'
import { DELEGATE, freshRegistry, ISSUE, REVOKE } from '#scripts/fresh-registry.ts'

/**
 * Forwarded calls: tools/corpus/vectors/eip712.json was made by eth-account, and the forwarder on
 * the chain carries it out.
 */
interface Vector {
  readonly function: string
  readonly gas: string
  readonly nonce: string
  readonly data: string
  readonly digest: string
  readonly signature: string
}
const vectors = JSON.parse(
  readFileSync(new URL('../../tools/corpus/vectors/eip712.json', import.meta.url), 'utf8'),
) as {
  readonly key: string
  readonly account: string
  readonly registry: string
  readonly forwarder: string
  readonly chainId: number
  readonly domainSeparator: string
  readonly deadline: number
  readonly requests: readonly Vector[]
}
const signer = new Wallet(vectors.key)
const domain = forwarderDomain(BigInt(vectors.chainId), getAddress(vectors.forwarder))
const callOf = ({ gas, nonce, data }: Vector) => ({
  to: vectors.registry,
  gas: BigInt(gas),
  nonce: BigInt(nonce),
  deadline: vectors.deadline,
  data,
})

let chain: Awaited<ReturnType<typeof freshRegistry>>
let forwarder: Contract
beforeAll(async () => {
  chain = await freshRegistry()
  await chain.registry
    .connect(chain.manager)
    .addAccount(1, signer.address, ISSUE | REVOKE | DELEGATE)
  forwarder = new Contract(
    await chain.registry.trustedForwarder(),
    FORWARDER_ABI,
    chain.other as Signer,
  )
})
afterAll(() => chain.connection.close())

describe('the domain', () => {
  test('the registry deployed the forwarder of the vectors', async () => {
    expect(await chain.registry.getAddress()).toBe(vectors.registry)
    expect(await forwarder.getAddress()).toBe(getAddress(vectors.forwarder))
    expect(signer.address).toBe(vectors.account)
  })

  test('ERC-5267 returns the domain of the vectors', async () => {
    const described = new Contract(
      await forwarder.getAddress(),
      [
        'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
      ],
      chain.provider,
    )
    const [fields, name, version, chainId, verifyingContract] =
      await described.getFunction('eip712Domain')()
    expect({ fields, name, version, chainId, verifyingContract }).toEqual({
      fields: '0x0f',
      ...domain,
    })
    expect(TypedDataEncoder.hashDomain(domain)).toBe(vectors.domainSeparator)
  })
})

describe('requests', () => {
  test.each(vectors.requests)(
    'ethers makes the digest and signature of $function',
    async (vector) => {
      const call = callOf(vector)
      const content = { from: signer.address, value: 0n, ...call }
      expect(TypedDataEncoder.hash(domain, FORWARD_REQUEST_TYPES, content)).toBe(vector.digest)
      const { signature } = await signForwardRequest(signer, domain, call)
      expect(signature).toBe(vector.signature)
    },
  )

  test('the forwarder carries out every vector, in turn', async () => {
    const execute = forwarder.getFunction('execute')
    const requests = vectors.requests.map((vector) => {
      const { nonce, ...call } = callOf(vector)
      const { signature } = vector
      return { from: signer.address, value: 0n, ...call, signature }
    })
    // The second one waits for the first.
    await expect(execute.staticCall(requests[1])).rejects.toMatchObject({
      data: expect.stringMatching(/^0x/),
    })
    for (const [index, request] of requests.entries()) {
      const call = chain.registry.interface.parseTransaction(request)
      expect(call?.signature).toBe(vectors.requests[index]?.function)
      await (await execute(request)).wait()
    }
    const { account, revoker } = await chain.registry.verificationOf(
      1,
      chain.registry.interface.parseTransaction(requests[0] as { data: string })?.args[1],
    )
    expect([account.account, revoker.account]).toEqual([signer.address, signer.address])
    const { documentCount, batchCount } = await chain.registry.issuerOf(1)
    expect([documentCount, batchCount]).toEqual([3n, 1n])
    // No request runs twice.
    await expect(execute.staticCall(requests[0])).rejects.toThrow()
  })

  test('refuses an account without DELEGATE', async () => {
    await chain.registry.connect(chain.manager).setPermissions(1, signer.address, ISSUE | REVOKE)
    const nonce = await forwarder.getFunction('nonces')(signer.address)
    const data = chain.registry.interface.encodeFunctionData('issue', [
      1,
      `0x${'ab'.repeat(32)}`,
      0,
    ])
    const call = { to: vectors.registry, gas: 300_000n, nonce, data }
    const request = await signForwardRequest(signer, domain, {
      ...call,
      deadline: vectors.deadline,
    })
    const execute = forwarder.getFunction('execute')
    await expect(execute(request)).rejects.toThrow()
    const { documentCount } = await chain.registry.issuerOf(1)
    expect(documentCount).toBe(3n)
  })
})
