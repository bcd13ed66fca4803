import { expect, onTestFinished, test } from 'vitest'
import { lockAccount } from '#parts/account-lock.ts'
import { randomKey } from '../../support/given.ts'

// That a kill frees the account too is in `test/faults/shared-account.test.ts`.

const address = randomKey().slice(0, 42)
const registry = `eip155:31337:0x${'12'.repeat(20)}`
const genesis = `0x${'34'.repeat(32)}`

async function lock(changes: Partial<Parameters<typeof lockAccount>[0]> = {}) {
  const release = await lockAccount({ registry, address, genesis, ...changes }, process.platform)
  onTestFinished(release)
  return release
}

test.runIf(process.platform !== 'darwin')(
  'refuses an account that is locked, however its address is written',
  async () => {
    await lock()
    const shout = `0x${address.slice(2).toUpperCase()}`
    await expect(lock({ address: shout })).rejects.toMatchObject({
      code: 'account_shared',
      message: expect.stringMatching(
        /account 0x\w{40} on eip155:31337: stop it, or set a different account/,
      ),
    })
  },
)

test('locks the same account on another chain, and another account', async () => {
  await lock()
  await lock({ genesis: `0x${'56'.repeat(32)}` })
  await lock({ registry: `eip155:1:0x${'12'.repeat(20)}` })
  await lock({ address: randomKey().slice(0, 42) })
})

test('releases the account', async () => {
  const release = await lock()
  await release()
  await lock()
})

test('locks nothing where a lock would outlive a killed process', async () => {
  const id = { registry, address, genesis }
  await Promise.all([lockAccount(id, 'darwin'), lockAccount(id, 'darwin')])
})
