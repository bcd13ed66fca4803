import { beforeEach, expect, test } from 'vitest'
import type {
  BegunSession,
  Passkey,
  PeopleStore,
  Person,
  UsedPasskey,
} from '#modules/desk/people/ports.ts'
import { createPeopleStore } from '#modules/desk/people/store.ts'
import { describePorts } from '#test/support/databases.ts'

const EVER = '2099-01-01T00:00:00.000Z'
const NOW = '2026-01-01T00:00:00.000Z'

const ADA: Person = {
  id: 'ada',
  name: 'Ada Lovelace',
  role: 'registrar',
  tenant: 'one',
  createdAt: NOW,
  categories: ['diploma', 'permit'],
}
const BOB: Person = { id: 'bob', name: 'Bob', role: 'reader', tenant: 'two', createdAt: NOW }

const sessionOf = (id: string): BegunSession => ({
  id,
  digest: `digest of ${id}`,
  createdAt: NOW,
  expiresAt: EVER,
  lastUsedAt: NOW,
})
const PASSKEY: Passkey = {
  id: 'passkey',
  person: 'ada',
  label: 'Laptop',
  credential: 'AQID',
  counter: 1,
  publicKey: new Uint8Array([0, 1, 255]),
  transports: ['internal'],
  createdAt: NOW,
}
const challenge = (name: string) => ({ challenge: name, expiresAt: Date.parse(EVER) })
/** A use of the passkey that answers this challenge. */
const used = (name: string, counter: number): UsedPasskey => ({
  id: PASSKEY.id,
  counter,
  challenge: challenge(name),
})

describePorts('people', (ports) => {
  let store: PeopleStore
  beforeEach(async () => {
    store = createPeopleStore(ports.stores.besideKeys)
    expect(await store.add(ADA, { digest: 'of ada', expiresAt: EVER }, 2)).toBe(true)
    expect(await store.add(BOB, { digest: 'of bob' }, 2)).toBe(true)
  })

  test('returns people in the order of their addition, with their data', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    const session = { ...sessionOf('first'), person: 'ada' }
    const mayRegister = { ...session, mayRegister: true }
    expect(await store.findSession('digest of first')).toEqual({
      session: mayRegister,
      person: ADA,
    })
    await store.addPasskey(PASSKEY, challenge('a'), 'first')
    expect(await store.list()).toEqual([
      { ...ADA, sessions: [session], passkeys: 1 },
      { ...BOB, sessions: [], passkeys: 0, invitation: { digest: 'of bob' } },
    ])
    expect(await store.get('ada')).toEqual(ADA)
    expect(await store.passkeysOf('ada')).toEqual([PASSKEY])
    expect(await store.findSession('digest of first')).toEqual({ session, person: ADA })
    await ports.reopen()
    expect(await createPeopleStore(ports.stores.besideKeys).findPasskey('AQID')).toEqual(PASSKEY)
  })

  test('refuses people over the limit', async () => {
    expect(await store.add({ ...BOB, id: 'cy' }, { digest: 'of cy' }, 2)).toBe(false)
    expect(await store.list()).toHaveLength(2)
  })

  test('an invitation is used once, also by many at the same time', async () => {
    const used = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => store.useInvitation('of ada', sessionOf(id))),
    )
    expect(used.filter((person) => person?.id === 'ada')).toHaveLength(1)
    expect(await store.useInvitation('of ada', sessionOf('e'))).toBeUndefined()
    expect(await store.useInvitation('unknown', sessionOf('e'))).toBeUndefined()
  })

  test('a new invitation replaces the last one, and an old one ends', async () => {
    expect(await store.invite('bob', { digest: 'next', expiresAt: NOW })).toBe(true)
    expect(await store.useInvitation('of bob', sessionOf('a'))).toBeUndefined()
    expect(await store.useInvitation('next', sessionOf('a'))).toBeUndefined()
    expect(await store.invite('nobody', { digest: 'x' })).toBe(false)
  })

  test('a challenge is used once, also by many at the same time', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    expect(await store.addPasskey(PASSKEY, challenge('one'), 'first')).toBe(true)
    const begun = await Promise.all(
      ['a', 'b', 'c'].map((session) => store.usePasskey(used('two', 2), sessionOf(session))),
    )
    expect(begun.filter((person) => person?.id === 'ada')).toHaveLength(1)
    const counted = await Promise.all(
      ['three', 'four', 'five'].map((one) => store.usePasskey(used(one, 3), sessionOf(one))),
    )
    // A copy of the authenticator has counted as far as this one.
    expect(counted.filter(Boolean)).toHaveLength(1)
    expect(await store.usePasskey(used('six', 0), sessionOf('six'))).toBeUndefined()
    const again = { ...PASSKEY, id: 'other', credential: 'BAUG' }
    expect(await store.addPasskey(again, challenge('two'), used('seven', 4))).toBe(false)
    expect(await store.addPasskey(again, challenge('eight'), used('six', 4))).toBe(false)
    expect(await store.passkeysOf('ada')).toEqual([{ ...PASSKEY, counter: 3, lastUsedAt: NOW }])
  })

  test('refuses a passkey twice, and for a removed person', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.useInvitation('of bob', sessionOf('of bob'))
    await store.addPasskey(PASSKEY, challenge('one'), 'first')
    const ofBob = { ...PASSKEY, id: 'other', person: 'bob' }
    expect(await store.addPasskey(ofBob, challenge('two'), 'of bob')).toBe(false)
    const ofNobody = { ...PASSKEY, id: 'x', person: 'nobody', credential: 'BAUG' }
    expect(await store.addPasskey(ofNobody, challenge('three'), used('four', 2))).toBe(false)
    // Bob has none yet, so his link still counts.
    const next = { ...ofBob, credential: 'BAUG' }
    expect(await store.addPasskey(next, challenge('five'), 'of bob')).toBe(true)
  })

  test('adds a passkey once per invitation, and then only with one of the same person', async () => {
    const next = (id: string): Passkey => ({ ...PASSKEY, id, credential: id })
    let count = 0
    const add = (id: string, by: UsedPasskey | string, person = 'ada') =>
      store.addPasskey({ ...next(id), person }, challenge(`${++count}`), by)
    await store.useInvitation('of ada', sessionOf('first'))
    // The session of a replaced invitation may register nothing any more.
    await store.invite('ada', { digest: 'again' })
    expect(await add('a', 'first')).toBe(false)
    await store.useInvitation('again', sessionOf('second'))
    await store.useInvitation('of bob', sessionOf('of bob'))
    expect(await add('a', 'of bob')).toBe(false)
    const added = await Promise.all(['a', 'b', 'c'].map((id) => add(id, 'second')))
    expect(added.filter(Boolean)).toHaveLength(1)
    const [first] = await store.passkeysOf('ada')
    const by = (name: string, counter: number): UsedPasskey => ({
      id: first?.id ?? '',
      counter,
      challenge: challenge(name),
    })
    expect(await add('of bob', by('x', 2), 'bob')).toBe(false)
    expect(await add('d', by('y', 3))).toBe(true)
    // The same signature, and the same challenge, count once.
    expect(await add('e', by('z', 3))).toBe(false)
    expect(await add('e', by('y', 4))).toBe(false)
    for (const { id } of await store.passkeysOf('ada'))
      await store.removePasskey('ada', id, 'second')
    expect(await add('f', 'second')).toBe(false)
    // Another link for somebody with a passkey does not register another one.
    expect(await add('g', 'of bob', 'bob')).toBe(true)
    await store.invite('bob', { digest: 'next' })
    await store.useInvitation('next', sessionOf('next'))
    expect(await add('h', 'next', 'bob')).toBe(false)
  })

  test('removing a passkey ends the other sessions, and it no longer signs in', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.useInvitation('of bob', sessionOf('of bob'))
    await store.addPasskey(PASSKEY, challenge('one'), 'first')
    await store.usePasskey(used('two', 2), sessionOf('second'))
    expect(await store.removePasskey('bob', PASSKEY.id)).toBe(false)
    expect(await store.findSession('digest of second')).toBeDefined()
    expect(await store.removePasskey('ada', PASSKEY.id, 'first')).toBe(true)
    expect(await store.findSession('digest of first')).toBeDefined()
    expect(await store.findSession('digest of second')).toBeUndefined()
    expect(await store.findSession('digest of of bob')).toBeDefined()
    expect(await store.usePasskey(used('three', 3), sessionOf('a'))).toBeUndefined()
  })

  test('an invitation removes passkeys and ends sessions if it says so', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.addPasskey(PASSKEY, challenge('one'), 'first')
    await store.invite('ada', { digest: 'kept' })
    expect(await store.findPasskey('AQID')).toBeDefined()
    expect(await store.findSession('digest of first')).toBeDefined()
    await store.invite('ada', { digest: 'lost' }, true)
    expect(await store.findPasskey('AQID')).toBeUndefined()
    expect(await store.findSession('digest of first')).toBeUndefined()
    await store.useInvitation('lost', sessionOf('second'))
    expect(await store.addPasskey(PASSKEY, challenge('two'), 'second')).toBe(true)
  })

  test('a blocked person cannot start a session until unblocked', async () => {
    const login = { digest: 'of cy', name: 'Cy', role: 'clerk', tenant: 'one' } as const
    const cy: Person = { ...BOB, id: 'cy', role: 'clerk' }
    await store.useLogin(login, cy, sessionOf('of cy'), 3)
    await store.useInvitation('of ada', sessionOf('first'))
    await store.addPasskey(PASSKEY, challenge('one'), 'first')
    await store.invite('ada', { digest: 'again' })
    const block = (id: string, isBlocked: boolean) =>
      store.update(id, ({ isBlocked: _, ...before }) => ({
        after: { ...before, ...(isBlocked && { isBlocked }) },
        endsSessions: true,
      }))
    for (const id of ['ada', 'cy']) await block(id, true)
    const attempts = [
      await store.useInvitation('again', sessionOf('a')),
      await store.usePasskey(used('two', 2), sessionOf('b')),
      await store.useLogin(login, cy, sessionOf('c'), 3),
    ]
    expect(attempts).toMatchObject(['ada', 'ada', 'cy'].map((id) => ({ id, isBlocked: true })))
    for (const session of ['first', 'of cy', 'a', 'b', 'c'])
      expect(await store.findSession(`digest of ${session}`)).toBeUndefined()
    expect(await store.get('cy')).toMatchObject({ isBlocked: true })
    for (const id of ['ada', 'cy']) await block(id, false)
    await store.usePasskey(used('three', 3), sessionOf('d'))
    await store.useLogin(login, cy, sessionOf('e'), 3)
    expect(await store.findSession('digest of d')).toBeDefined()
    expect((await store.findSession('digest of e'))?.person).not.toHaveProperty('isBlocked')
  })

  test('a removed person who returns from the provider keeps tenant and categories', async () => {
    const login = { digest: 'of cy', name: 'Cy', role: 'clerk', tenant: 'one' } as const
    const cy: Person = { ...BOB, id: 'cy', name: 'Cy', role: 'clerk', tenant: 'one' }
    await store.useLogin(login, cy, sessionOf('a'), 3)
    const categories = ['diploma', 'permit']
    await store.update('cy', (before) => ({
      after: { ...before, tenant: 'two', categories },
      endsSessions: true,
    }))
    // They do not count while the provider says administrator.
    await store.useLogin({ ...login, role: 'administrator' }, cy, sessionOf('b'), 3)
    await store.update('cy', () => ({ after: null, endsSessions: true }))
    await store.endLogin('of cy')
    expect(await store.useLogin(login, cy, sessionOf('c'), 2)).toBeUndefined()
    for (const id of ['next', 'last']) {
      const back = await store.useLogin(login, { ...cy, id }, sessionOf(id), 3)
      expect(back).toMatchObject({ id, tenant: 'two', categories, isFromProvider: true })
      await store.update(id, () => ({ after: null, endsSessions: true }))
    }
  })

  test('an update changes a person, and ends the sessions if it says so', async () => {
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

  test('a person has at most the newest twenty sessions', async () => {
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

  test('removing a person removes all their data, and nothing else', async () => {
    await store.useInvitation('of ada', sessionOf('first'))
    await store.useInvitation('of bob', sessionOf('second'))
    await store.addPasskey(PASSKEY, challenge('one'), 'first')
    await store.invite('ada', { digest: 'again' })
    await store.update('ada', () => ({ after: null, endsSessions: true }))
    expect(await store.list()).toMatchObject([{ id: 'bob', sessions: [{ id: 'second' }] }])
    expect(await store.findPasskey('AQID')).toBeUndefined()
    expect(await store.findSession('digest of first')).toBeUndefined()
    expect(await store.useInvitation('again', sessionOf('third'))).toBeUndefined()
  })

  test('a login adds a person once, and updates name and role', async () => {
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

  test('changes nothing when the change throws, or the person is unknown', async () => {
    const failing = store.update('ada', () => {
      throw new TypeError('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    const update = { after: null, endsSessions: true }
    expect(await store.update('nobody', () => update)).toBe(false)
    expect(await store.get('ada')).toEqual(ADA)
  })

  test('records the use of a session, and removes ended and old ones', async () => {
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
