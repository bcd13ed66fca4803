import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresFolder } from '../support/postgres.ts'
import { type SharedGateway, type SharedStack, startSharedStack } from '../support/shared-stack.ts'
import { ADA } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

const folder = postgresFolder()

describe.skipIf(folder === undefined)('promises of a lost account', () => {
  let stack: SharedStack
  beforeAll(async () => {
    stack = await startSharedStack(folder ?? '', 3, { RPC_TIMEOUT_SECONDS: '60' })
  })
  afterAll(() => stack?.remove())

  const keyAt = (i: number) => stack.keys.slice(i, i + 1)
  const statusAt = async (gateway: SharedGateway, publicId: string) =>
    (await gateway.call('GET', `/v1/verify?publicId=${publicId}`)).body.data?.status

  /** @returns Its publicId. Its transaction has not reached the chain. */
  async function promiseAt(gateway: SharedGateway): Promise<string> {
    const send = (method: string) => method === 'eth_sendRawTransaction'
    gateway.proxy.refuse = (method) => send(method) && new Promise(() => {})
    const { status, body } = await gateway.call('POST', '/v1/documents', ADA, {
      prefer: 'respond-async',
    })
    expect(status).toBe(202)
    await expect.poll(() => gateway.proxy.asked.some(send)).toBe(true)
    return body.data.publicId
  }

  test('are kept when its key is taken out of the settings', async () => {
    const before = await stack.start({}, keyAt(0))
    const publicId = await promiseAt(before)
    await before.stop()
    const after = await stack.start({}, keyAt(1))
    await expect.poll(() => statusAt(after, publicId)).toBe('valid')
    await after.stop()
  })

  test('are kept by other accounts when the registry retires it', async () => {
    const { provider, registry, adminKey, keys } = stack
    const one = await stack.start({}, keyAt(1))
    const publicId = await promiseAt(one)
    const address = new Wallet(keys[1] ?? '').address
    await transact(provider, registry, adminKey, 'retireAccount', [1, address])
    await one.stop()
    const two = await stack.start({}, keys.slice(1))
    await expect.poll(() => statusAt(two, publicId)).toBe('valid')
  })
})
