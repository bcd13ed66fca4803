import { afterAll, beforeAll } from 'vitest'
import { readBundle } from '#verifier/bundle.ts'
import { startBlockServer } from './block-server.ts'
import { ADA, API_KEY, type Stack, startStack } from './stack.ts'
import { transact } from './transact.ts'

// A service whose documents' bundles are tested.

export let stack: Stack
export let blocks: Awaited<ReturnType<typeof startBlockServer>>

/** Starts the service for the tests of this file. */
export function useBundles(): void {
  beforeAll(async () => {
    blocks = await startBlockServer()
    stack = await startStack({ IPFS_GATEWAYS: blocks.url })
  })
  afterAll(async () => {
    await stack.stop()
    await blocks.close()
  })
}

export const authorization = `Bearer ${API_KEY}`
export const bundleOf = (publicId: string) =>
  stack.request(`/v1/documents/${publicId}/bundle`, {
    headers: { authorization },
  })
export const send = (name: string, args: unknown[], key = stack.issuerKey) =>
  transact(stack.provider, stack.registry, key, name, args)
/** Options of a reader who trusts the block of this bundle. */
export const trusting = (bundle: unknown) => ({
  registry: stack.registry,
  trustedBlocks: [readBundle(bundle).block.blockHash],
})
export const issue = async (fields: object = {}) =>
  (await stack.issue({ ...ADA, ...fields })).body.data
export const revoked = async (reason: number) => {
  const { publicId, documentHash } = await issue()
  await send('revoke', [1, documentHash, reason])
  return publicId as string
}
