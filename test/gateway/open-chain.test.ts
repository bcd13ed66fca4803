import { expect, test } from 'vitest'
import { lockAccount } from '#parts/account-lock.ts'
import { type Chain, claimAccount } from '#parts/chain.ts'
import { IssueError } from '#promise/errors.ts'

test('error: frees the account when claiming it fails, so that the start can be repeated', async () => {
  const accountId = {
    registry: `eip155:1:0x${'ab'.repeat(20)}`,
    address: `0x${'cd'.repeat(20)}`,
    genesis: `0x${'ef'.repeat(32)}`,
  }
  const outbox = {
    plans: () => Promise.reject(new IssueError('store_unavailable', 'the disk is gone')),
  }
  const claimed = claimAccount(
    { rpcUrls: ['http://127.0.0.1:1'] } as Parameters<typeof claimAccount>[0],
    { accountId } as Chain,
    outbox as unknown as Parameters<typeof claimAccount>[2],
    { debug() {}, info() {}, warn() {}, error() {} },
  )
  await expect(claimed).rejects.toThrow('the disk is gone')
  const free = await lockAccount(accountId)
  await free()
})
