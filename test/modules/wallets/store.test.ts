import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createCredentialStore } from '#modules/wallets/store.ts'
import { describePorts } from '#test/support/databases.ts'

const FUTURE = 4_000_000_000
const PAST = 1_000

describePorts('credentials', (ports) => {
  test('a value is used once, until it expires', async () => {
    const credentials = createCredentialStore(ports.stores.database)
    const [one, other, old] = [randomBytes(32), randomBytes(32), randomBytes(32)]
    const spent = await Promise.all(
      [one, one, one].map((value) => credentials.spend(value, FUTURE)),
    )
    expect(spent.filter(Boolean)).toHaveLength(1)
    expect(await credentials.spend(other, FUTURE)).toBe(true)
    expect(await credentials.spend(old, PAST)).toBe(true)
    expect(await credentials.spend(old, PAST)).toBe(true)
  })

  test('a value is bound to the first of several at once, permanently', async () => {
    const credentials = createCredentialStore(ports.stores.database)
    const value = randomBytes(32)
    const others = Array.from({ length: 5 }, () => randomBytes(32))
    const bind = () => Promise.all(others.map((to) => credentials.bind(value, to, FUTURE)))
    const bound = await bind()
    expect(bound.filter(Boolean)).toHaveLength(1)
    expect(await bind()).toEqual(bound)
  })

  test('an offer can be redeemed a fixed number of times', async () => {
    const offer = { digest: randomBytes(32), expiresAt: FUTURE, uses: 3, isRight: true }
    const credentials = createCredentialStore(ports.stores.database)
    const all = await Promise.all(Array.from({ length: 6 }, () => credentials.redeem(offer)))
    expect(all.sort()).toEqual([...Array(3).fill('redeemed'), ...Array(3).fill('used_up')])
  })

  test('five concurrent wrong tries end an offer', async () => {
    const credentials = createCredentialStore(ports.stores.database)
    const offer = { digest: randomBytes(32), expiresAt: FUTURE, uses: 9, isRight: true }
    const wrong = { ...offer, isRight: false }
    expect(await credentials.redeem(offer)).toBe('redeemed')
    const tries = await Promise.all(Array.from({ length: 7 }, () => credentials.redeem(wrong)))
    expect(tries.filter((result) => result === 'wrong')).toHaveLength(5)
    expect(await credentials.redeem(offer)).toBe('used_up')
  })
})
