import { beforeEach, expect, test } from 'vitest'
import type { Passkey, PeopleStore, Person, Session } from '#people/ports.ts'
import { describePorts } from '#test/support/databases.ts'

const EVER = '2099-01-01T00:00:00.000Z'
const NOW = '2026-01-01T00:00:00.000Z'

const ADA: Person = {
  ...{ id: 'ada', name: 'Ada Lovelace', role: 'registrar', tenant: 'one', createdAt: NOW },
  categories: ['diploma', 'permit'],
}
const BOB: Person = { id: 'bob', name: 'Bob', role: 'reader', tenant: 'two', createdAt: NOW }

const sessionOf = (id: string): Omit<Session, 'person'> => ({
  ...{ id, digest: `digest of ${id}`, createdAt: NOW, expiresAt: EVER, lastUsedAt: NOW },
})
const PASSKEY: Passkey = {
  ...{ id: 'passkey', person: 'ada', label: 'Laptop', credential: 'AQID', counter: 1 },
  ...{ publicKey: new Uint8Array([0, 1, 255]), transports: ['internal'], createdAt: NOW },
}
const challenge = (name: string) => ({ challenge: name, expiresAt: Date.parse(EVER) })

describePorts('people', (ports) => {
  let store: PeopleStore
  beforeEach(async () => {
    store = ports.stores.people
    expect(await store.add(ADA, { digest: 'of ada', expiresAt: EVER }, 2)).toBe(true)
    expect(await store.add(BOB, { digest: 'of bob' }, 2)).toBe(true)
  })

  test('default: returns people as they were added, with what is theirs', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.addPasskey(PASSKEY, challenge('a'))
    const session = { ...sessionOf('first'), person: 'ada' }
    expect(await store.list()).toEqual([
      { ...ADA, sessions: [session], passkeys: 1 },
      { ...BOB, sessions: [], passkeys: 0, invitation: { digest: 'of bob' } },
    ])
    expect(await store.get('ada')).toEqual(ADA)
    expect(await store.passkeysOf('ada')).toEqual([PASSKEY])
    expect(await store.findSession('digest of first')).toEqual({ session, person: ADA })
    await ports.reopen()
    expect(await ports.stores.people.findPasskey('AQID')).toEqual(PASSKEY)
  })

  test('error: adds nobody beyond the limit', async () => {
    expect(await store.add({ ...BOB, id: 'cy' }, { digest: 'of cy' }, 2)).toBe(false)
    expect(await store.list()).toHaveLength(2)
  })

  test('behavior: an invitation is used once, of many at the same time', async () => {
    const used = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => store.useInvitation('of ada', sessionOf(id))),
    )
    expect(used.filter((person) => person?.id === 'ada')).toHaveLength(1)
    expect(await store.useInvitation('of ada', sessionOf('e'))).toBeUndefined()
    expect(await store.useInvitation('unknown', sessionOf('e'))).toBeUndefined()
  })

  test('behavior: a new invitation replaces the one before, and an old one is over', async () => {
    expect(await store.invite('bob', { digest: 'next', expiresAt: NOW })).toBe(true)
    expect(await store.useInvitation('of bob', sessionOf('a'))).toBeUndefined()
    expect(await store.useInvitation('next', sessionOf('a'))).toBeUndefined()
    expect(await store.invite('nobody', { digest: 'x' })).toBe(false)
  })

  test('behavior: a challenge is used once, of many at the same time', async () => {
    const { id } = PASSKEY
    expect(await store.addPasskey(PASSKEY, challenge('one'))).toBe(true)
    const used = await Promise.all(
      ['a', 'b', 'c'].map((session) =>
        store.usePasskey({ id, counter: 2 }, challenge('two'), sessionOf(session)),
      ),
    )
    expect(used.filter((person) => person?.id === 'ada')).toHaveLength(1)
    const counted = await Promise.all(
      ['three', 'four', 'five'].map((one) =>
        store.usePasskey({ id, counter: 3 }, challenge(one), sessionOf(one)),
      ),
    )
    // A copy of the authenticator has counted as far as this one.
    expect(counted.filter(Boolean)).toHaveLength(1)
    expect(await store.usePasskey({ id, counter: 0 }, challenge('six'), sessionOf('six'))).toBe(
      undefined,
    )
    const again = { ...PASSKEY, id: 'other', credential: 'BAUG' }
    expect(await store.addPasskey(again, challenge('two'))).toBe(false)
    expect(await store.passkeysOf('ada')).toEqual([{ ...PASSKEY, counter: 3, lastUsedAt: NOW }])
  })

  test('error: adds no passkey twice, nor for somebody who is gone', async () => {
    await store.addPasskey(PASSKEY, challenge('one'))
    const ofBob = { ...PASSKEY, id: 'other', person: 'bob' }
    expect(await store.addPasskey(ofBob, challenge('two'))).toBe(false)
    const ofNobody = { ...PASSKEY, id: 'x', person: 'nobody', credential: 'BAUG' }
    expect(await store.addPasskey(ofNobody, challenge('three'))).toBe(false)
    expect(await store.removePasskey('bob', PASSKEY.id)).toBe(false)
    expect(await store.removePasskey('ada', PASSKEY.id)).toBe(true)
    const signIn = store.usePasskey(
      { id: PASSKEY.id, counter: 2 },
      challenge('four'),
      sessionOf('a'),
    )
    expect(await signIn).toBeUndefined()
  })

  test('behavior: an update changes a person, and ends the sessions if it says so', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    const { categories: _, ...after } = { ...ADA, name: 'A. L.' }
    const seen: (readonly Person[])[] = []
    const change = (endsSessions: boolean) =>
      store.update('ada', (_, all) => {
        seen.push(all)
        return { after, endsSessions }
      })
    expect(await change(false)).toBe(true)
    expect(await store.findSession('digest of first')).toMatchObject({ person: after })
    await change(true)
    expect(await store.findSession('digest of first')).toBeUndefined()
    expect(seen).toEqual([
      [ADA, BOB],
      [after, BOB],
    ])
  })

  test('behavior: a person has twenty sessions at most, the newest', async () => {
    for (let i = 0; i < 22; i++) {
      await store.invite('ada', { digest: `link ${i}` })
      await store.useInvitation(`link ${i}`, sessionOf(`${i}`))
    }
    await store.useInvitation('of bob', sessionOf('of bob'))
    const [ada, bob] = await store.list()
    expect(ada?.sessions.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, i) => `${i + 2}`),
    )
    expect(bob?.sessions).toHaveLength(1)
  })

  test('behavior: a removal removes everything of the person, and nothing else', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.useInvitation('of bob', sessionOf('second'))
    await store.addPasskey(PASSKEY, challenge('one'))
    await store.invite('ada', { digest: 'again' })
    await store.update('ada', () => ({ after: null, endsSessions: true }))
    expect(await store.list()).toMatchObject([{ id: 'bob', sessions: [{ id: 'second' }] }])
    expect(await store.findPasskey('AQID')).toBeUndefined()
    expect(await store.findSession('digest of first')).toBeUndefined()
    expect(await store.useInvitation('again', sessionOf('third'))).toBeUndefined()
  })

  test('behavior: a login adds a person once, who then has its name and role', async () => {
    const login = { digest: 'of cy', name: 'Cy', role: 'clerk', tenant: 'one' } as const
    const cy: Person = { ...BOB, ...login, id: 'cy', categories: ['diploma'] }
    const { digest: _, ...added } = cy as Person & { digest: string }
    expect(await store.useLogin(login, added, sessionOf('none'), 2)).toBeUndefined()
    const isFromProvider = true
    expect(await store.useLogin(login, added, sessionOf('a'), 3)).toEqual({
      ...added,
      isFromProvider,
    })
    await store.useLogin({ ...login, name: 'Cy X' }, { ...added, id: 'dy' }, sessionOf('b'), 3)
    expect((await store.get('cy'))?.name).toBe('Cy X')
    expect(await store.findSession('digest of a')).toBeDefined()
    const { categories: __, ...all } = added
    expect(
      await store.useLogin({ ...login, role: 'administrator' }, added, sessionOf('c'), 3),
    ).toEqual({ ...all, role: 'administrator', isFromProvider })
    expect(await store.findSession('digest of b')).toBeUndefined()
    // Their restriction stays while it does not count.
    await store.update('cy', (before) => ({
      after: { ...before, tenant: 'two' },
      endsSessions: false,
    }))
    const { categories } = added
    await store.endLogin('of cy')
    expect(await store.get('cy')).toMatchObject({ role: 'reader', tenant: 'two', categories })
    expect(await store.useLogin(login, added, sessionOf('e'), 3)).toMatchObject({ categories })
    expect(await store.findSession('digest of c')).toBeUndefined()
    await store.update('cy', () => ({ after: null, endsSessions: true }))
    expect(await store.useLogin(login, added, sessionOf('d'), 3)).toMatchObject({ id: 'cy' })
  })

  test('error: nothing changes when the change throws, or there is no such person', async () => {
    const failing = store.update('ada', () => {
      throw new TypeError('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    const update = { after: null, endsSessions: true }
    expect(await store.update('nobody', () => update)).toBe(false)
    expect(await store.get('ada')).toEqual(ADA)
  })

  test('behavior: a use of a session is recorded, its end ends it, and old ones go', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.markUsed('first', EVER)
    const { session } = (await store.findSession('digest of first')) ?? {}
    expect(session).toMatchObject({ lastUsedAt: EVER })
    await store.endSession('first')
    expect(await store.findSession('digest of first')).toBeUndefined()
    await store.invite('ada', { digest: 'a' })
    await store.useInvitation('a', { ...sessionOf('old'), expiresAt: '2026-02-01T00:00:00.000Z' })
    await store.invite('ada', { digest: 'b' })
    await store.useInvitation('b', { ...sessionOf('new'), createdAt: '2026-03-01T00:00:00.000Z' })
    expect(await store.findSession('digest of old')).toBeUndefined()
    expect(await store.list()).toMatchObject([{ sessions: [{ id: 'new' }] }, {}])
  })
})
