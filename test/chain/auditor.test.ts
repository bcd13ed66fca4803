import { concat, keccak256, sha256, toBeHex, toUtf8Bytes } from 'ethers'
import { expect, test } from 'vitest'
import { freshRegistry } from './registry.ts'

/** The example of docs/contract.md, by plain JSON-RPC: only the calls that it shows, and what it says they mean. */
const base = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200n
const at = (key: string, slot: string): string => keccak256(concat([key, slot]))
const word = (value: bigint | number): string => toBeHex(value, 32)
const issuedTopic =
  '0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1'
const revokedTopic =
  '0x86d25c3a374bbaaef12c3151be92318bfa367207e834d9792b1f21ea6ba99706'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionHash: string
}

test('behavior: an auditor reads a document, its events and its account', async () => {
  const { connection, registry, issuer } = await freshRegistry()
  const hash = sha256(toUtf8Bytes('a sealed document'))
  const account = (await issuer.getAddress()).toLowerCase()
  const issued = await (
    await registry.connect(issuer).issue(hash, 1_893_456_000)
  ).wait()
  await connection.provider.request({
    method: 'hardhat_mine',
    params: ['0x10'],
  })
  const revoked = await (await registry.connect(issuer).revoke(hash, 1)).wait()
  const address = await registry.getAddress()
  const rpc = async <Answer>(
    method: string,
    ...params: unknown[]
  ): Promise<Answer> =>
    (await connection.provider.request({ method, params })) as Answer

  const recordSlot = at(hash, word(base))
  expect(recordSlot).toBe(
    '0x54449904b79e1113b912349de952c628408feaaeb7d1fb499e06dad310fb3a9c',
  )
  const record = BigInt(
    await rpc<string>('eth_getStorageAt', address, recordSlot, 'latest'),
  )
  const part = (from: bigint, bits: bigint): bigint =>
    (record >> from) & ((1n << bits) - 1n)
  expect([part(0n, 32n), part(32n, 16n)]).toEqual([1n, 0n])
  expect(part(48n, 40n)).toBe(BigInt(issued?.blockNumber ?? 0))
  expect(part(128n, 40n)).toBe(1_893_456_000n)
  expect(part(168n, 40n)).toBe(BigInt(revoked?.blockNumber ?? 0))
  expect(part(248n, 8n)).toBe(1n)

  const logs = (block: bigint, topic: string): Promise<Log[]> => {
    const number = `0x${block.toString(16)}`
    return rpc('eth_getLogs', {
      address,
      fromBlock: number,
      toBlock: number,
      topics: [topic, hash],
    })
  }
  expect(await logs(part(48n, 40n), issuedTopic)).toMatchObject([
    {
      topics: [issuedTopic, hash, word(1)],
      data: concat([word(BigInt(account)), word(1_893_456_000)]),
      transactionHash: issued?.hash,
    },
  ])
  expect(await logs(part(168n, 40n), revokedTopic)).toMatchObject([
    {
      topics: [revokedTopic, hash, word(1)],
      data: concat([word(BigInt(account)), word(1)]),
      transactionHash: revoked?.hash,
    },
  ])

  const accountSlot = at(word(0), at(word(1), word(base + 2n)))
  expect(accountSlot).toBe(
    '0xf3ce33aa2b31ba374882ce230c5b9a90f4c8883853199b1060bba8ffe6aa5fb2',
  )
  expect(await rpc('eth_getStorageAt', address, accountSlot, 'latest')).toBe(
    word(BigInt(account)),
  )
  await connection.close()
})
