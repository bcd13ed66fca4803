import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Role } from '#keys/roles.ts'
import type { DeskDeps } from '#modules/desk/deps.ts'
import { cookieNameOf } from '#modules/desk/people/cookies.ts'
import type { PeopleStore, Person } from '#modules/desk/people/ports.ts'
import { createSessions } from '#modules/desk/people/sessions.ts'
import { createAuthenticator, type Deviation } from '#test/support/authenticator.ts'
import { ADDRESSES, bareApp } from '#test/support/bare-app.ts'
import { type CapturedLog, captureLog } from '#test/support/captured-log.ts'
import { type Desk, deskOf, invite, JSON_TYPE, signIn, useInvitation } from '#test/support/desk.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
let origin: string
beforeAll(async () => {
  stack = await startStack({ ADDRESS_RATE_LIMIT: 'off' })
  origin = `http://localhost:${new URL(stack.url).port}`
})
afterEach(() => void vi.useRealTimers())
afterAll(() => stack.stop())

const codeOf = ({ status, body }: Answer) => [status, body.error?.code]
const UNAUTHORIZED = [401, 'unauthorized']
const asAdmin = (method: string, path: string, body?: object) =>
  stack.request(path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, ...JSON_TYPE },
    ...(body && { body: JSON.stringify(body) }),
  })
const isSignedIn = async (desk: Desk) => (await desk.send('GET', '/v1/session')).status === 200
/** Lets the gateway, which runs in this process, believe that time has passed. */
function pass(minutes: number): void {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: now + minutes * 60_000 })
}

describe('an invitation', () => {
  test('signs a person in once', async () => {
    const settings = { name: 'Front desk', tenant: 'office', categories: ['diploma'] }
    const { id, invitation } = await invite(stack, settings)
    const answer = await useInvitation(stack, invitation)
    expect(answer.status).toBe(201)
    expect(answer.body.data).toEqual({
      person: { id, role: 'clerk', ...settings, isFromProvider: false, isBlocked: false },
      scopes: ['documents:read', 'verify', 'documents:issue'],
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.any(String),
      passkeys: 0,
      network: 'test',
    })
    const hours = (Date.parse(answer.body.data.expiresAt) - Date.now()) / 3_600_000
    expect(hours).toBeCloseTo(12, 1)
    const again = await deskOf(stack, answer).send('GET', '/v1/session')
    expect(again.body.data).toEqual(answer.body.data)
    expect(codeOf(await useInvitation(stack, invitation))).toEqual([401, 'invitation_invalid'])
  })

  test('the cookie is for this host only, and hidden from scripts', async () => {
    const { invitation } = await invite(stack)
    const { headers } = await useInvitation(stack, invitation)
    const [cookie, ...attributes] = headers.get('set-cookie')?.split('; ') ?? []
    expect(cookie).toMatch(/^docreg_session_\d+=drs_[\w-]{43}$/)
    expect(attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict'])
  })

  test('ends after a week, with a newer one, and with its person', async () => {
    const refused = [401, 'invitation_invalid']
    const lost = await invite(stack)
    const { body } = await asAdmin('POST', `/v1/people/${lost.id}/invitations`)
    expect(codeOf(await useInvitation(stack, lost.invitation))).toEqual(refused)
    const next = body.data.invitation.split('=').at(-1)
    expect((await useInvitation(stack, next)).status).toBe(201)
    const removed = await invite(stack)
    await asAdmin('DELETE', `/v1/people/${removed.id}`)
    expect(codeOf(await useInvitation(stack, removed.invitation))).toEqual(refused)
    const old = await invite(stack)
    pass(7 * 24 * 60 + 1)
    expect(codeOf(await useInvitation(stack, old.invitation))).toEqual(refused)
    for (const guess of ['', 'x', `${old.invitation}x`, API_KEY])
      expect(codeOf(await useInvitation(stack, guess))).toEqual(refused)
  })
})

describe('a session', () => {
  test.each<[Role, Record<string, number>]>([
    ['reader', { read: 200, issue: 403, revoke: 403, keys: 403 }],
    ['clerk', { read: 200, issue: 201, revoke: 403, keys: 403 }],
    ['registrar', { read: 200, issue: 201, revoke: 200, keys: 403 }],
    ['administrator', { read: 200, issue: 201, revoke: 200, keys: 200 }],
  ])('a %s may do what the role allows', async (role, statuses) => {
    const desk = await signIn(stack, { role })
    const { publicId } = (await stack.issue(ADA)).body.data
    const calls = {
      read: desk.send('GET', `/v1/documents/${publicId}`),
      issue: desk.send('POST', '/v1/documents', ADA),
      revoke: desk.send('POST', `/v1/documents/${publicId}/revoke`, {}),
      keys: desk.send('GET', '/v1/keys'),
    }
    for (const [name, call] of Object.entries(calls))
      expect([name, (await call).status]).toEqual([name, statuses[name]])
  })

  test('is limited to the categories of its person', async () => {
    const desk = await signIn(stack, { categories: ['diploma'] })
    const issue = (category: string) => desk.send('POST', '/v1/documents', { ...ADA, category })
    expect((await issue('diploma')).status).toBe(201)
    expect(codeOf(await issue('birth_certificate'))).toEqual([403, 'category_not_allowed'])
  })

  test('is not among the API keys, but listed with its person', async () => {
    const desk = await signIn(stack)
    const { people } = (await asAdmin('GET', '/v1/people')).body.data
    const mine = people.find(({ id }: { id: string }) => id === desk.id)
    expect(mine).toMatchObject({ passkeys: 0, invitation: null, sessions: [{}] })
    const listed = JSON.stringify([people, (await asAdmin('GET', '/v1/keys')).body])
    expect(listed).not.toContain(desk.cookie.split('=')[1])
    expect((await asAdmin('GET', '/v1/keys')).body.data.keys).toHaveLength(1)
  })

  test('ends after an hour without a request; requests extend it', async () => {
    const [idle, used] = [await signIn(stack), await signIn(stack)]
    pass(50)
    expect(await isSignedIn(used)).toBe(true)
    pass(11)
    expect([await isSignedIn(idle), await isSignedIn(used)]).toEqual([false, true])
    expect(codeOf(await idle.send('POST', '/v1/documents', ADA))).toEqual(UNAUTHORIZED)
    const { people } = (await asAdmin('GET', '/v1/people')).body.data
    const listed = people.filter(({ id }: { id: string }) => [idle.id, used.id].includes(id))
    expect(listed).toMatchObject([{ sessions: [] }, { sessions: [{}] }])
  })

  test('ends after twelve hours, even if it is used', async () => {
    const desk = await signIn(stack)
    for (let hours = 0; hours < 12; hours += 0.75) {
      expect([hours, await isSignedIn(desk)]).toEqual([hours, true])
      pass(45)
    }
    expect(await isSignedIn(desk)).toBe(false)
  })

  test('ends when the person signs out, in this browser only', async () => {
    const desk = await signIn(stack)
    const { body } = await asAdmin('POST', `/v1/people/${desk.id}/invitations`)
    const secret = body.data.invitation.split('=').at(-1)
    const other = deskOf(stack, await useInvitation(stack, secret))
    const { headers } = await desk.send('DELETE', '/v1/session')
    expect(headers.get('set-cookie')).toMatch(/^docreg_session_\d+=; Max-Age=0; Path=\/;/)
    expect([await isSignedIn(desk), await isSignedIn(other)]).toEqual([false, true])
  })

  test.each<[string, object | undefined, boolean]>([
    ['is removed', undefined, false],
    ['gets another role', { role: 'registrar' }, false],
    ['gets another tenant', { tenant: 'other' }, false],
    ['gets categories', { categories: ['diploma'] }, false],
    ['is blocked', { isBlocked: true }, false],
    ['is not blocked', { isBlocked: false }, true],
    ['gets another name', { name: 'Ada Byron' }, true],
    ['gets the same role', { role: 'clerk', categories: null }, true],
  ])('when the person %s (%j), it continues: %s', async (_, change, goesOn) => {
    const desk = await signIn(stack)
    const answer = await asAdmin(change ? 'PATCH' : 'DELETE', `/v1/people/${desk.id}`, change)
    expect(answer.status).toBe(200)
    expect(await isSignedIn(desk)).toBe(goesOn)
  })
})

test('refuses categories for an administrator, because they would limit nothing', async () => {
  const refused = [422, 'bad_fields']
  const categories = ['diploma']
  const added = { name: 'x', role: 'administrator', categories }
  expect(codeOf(await asAdmin('POST', '/v1/people', added))).toEqual(refused)
  const { id } = await invite(stack, { categories })
  const path = `/v1/people/${id}`
  expect(codeOf(await asAdmin('PATCH', path, { role: 'administrator' }))).toEqual(refused)
  const change = { role: 'administrator', categories: null }
  expect((await asAdmin('PATCH', path, change)).body.data).toMatchObject(change)
})

describe('a request from another site', () => {
  const CODE = [403, 'csrf_token_required']
  /** Requests that change something, each with what it does with the right token. */
  const CHANGES: [string, string, object | undefined, number][] = [
    ['POST', '/v1/documents', ADA, 201],
    ['PATCH', '/v1/people/none', { name: 'x' }, 404],
    ['DELETE', '/v1/keys/none', undefined, 404],
    ['POST', '/v1/passkeys/options', undefined, 200],
    ['DELETE', '/v1/session', undefined, 200],
  ]

  test.each(CHANGES)('%s %s needs the token of this session', async (...call) => {
    const [method, path, body, status] = call
    const [desk, other] = [
      await signIn(stack, { role: 'administrator' }),
      await signIn(stack, { role: 'administrator' }),
    ]
    const send = (headers: Record<string, string>) =>
      stack.request(path, {
        method,
        headers: { cookie: desk.cookie, ...JSON_TYPE, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
    const right = { 'x-csrf-token': desk.csrfToken }
    for (const headers of [
      {},
      { 'x-csrf-token': '' },
      { 'x-csrf-token': other.csrfToken },
      { 'x-csrf-token': desk.csrfToken.slice(1) },
      { 'x-csrf-token': desk.cookie.split('=')[1] ?? '' },
      { ...right, 'sec-fetch-site': 'cross-site' },
      { ...right, 'sec-fetch-site': 'same-site' },
      { ...right, 'sec-fetch-site': 'none' },
    ])
      expect([headers, codeOf(await send(headers))]).toEqual([headers, CODE])
    expect((await send({ ...right, 'sec-fetch-site': 'same-origin' })).status).toBe(status)
  })

  test('reading needs no token', async () => {
    const { cookie } = await signIn(stack)
    for (const method of ['GET', 'HEAD'])
      for (const path of ['/v1/session', '/v1/documents', '/api/documents'])
        expect((await stack.request(path, { method, headers: { cookie } })).status).toBe(200)
  })

  test('cannot sign a browser in', async () => {
    const { invitation } = await invite(stack)
    const send = (headers: Record<string, string>) =>
      stack.request('/v1/session/invitation', {
        method: 'POST',
        headers,
        body: JSON.stringify({ invitation }),
      })
    expect(codeOf(await send({ ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }))).toEqual(CODE)
    // What a form of another page can send.
    expect((await send({ 'content-type': 'text/plain' })).status).toBe(415)
    expect((await send(JSON_TYPE)).status).toBe(201)
  })
})

describe('a cookie and a key', () => {
  test('the key decides, and no token is required', async () => {
    const desk = await signIn(stack, { role: 'reader' })
    const send = (authorization: string) => stack.issue(ADA, { authorization, cookie: desk.cookie })
    expect((await send(`Bearer ${API_KEY}`)).status).toBe(201)
    for (const wrong of ['Bearer wrong', ''])
      expect(codeOf(await send(wrong))).toEqual(UNAUTHORIZED)
  })

  test('Basic authorization for a proxy does not count as a key', async () => {
    const { cookie } = await signIn(stack, { role: 'reader' })
    const headers = { authorization: 'Basic YTpi', cookie }
    for (const path of ['/v1/session', '/v1/documents'])
      expect((await stack.request(path, { headers })).status).toBe(200)
    expect(codeOf(await stack.issue(ADA, { authorization: 'Basic YTpi' }))).toEqual(UNAUTHORIZED)
  })

  test('a key has no session, and one is not accepted as the other', async () => {
    const desk = await signIn(stack)
    const secret = desk.cookie.split('=')[1]
    const authorization = `Bearer ${API_KEY}`
    for (const headers of [
      { authorization },
      { authorization, cookie: desk.cookie },
      { authorization: `Bearer ${secret}` },
      { cookie: `${cookieNameOf(stack.url)}=${API_KEY}` },
      { cookie: `${cookieNameOf(stack.url)}=` },
      { cookie: `other=${secret}` },
    ])
      expect(codeOf(await stack.request('/v1/session', { headers }))).toEqual(UNAUTHORIZED)
    const asKey = { authorization: `Bearer ${secret}` }
    expect(codeOf(await stack.issue(ADA, asKey))).toEqual(UNAUTHORIZED)
  })
})

describe('a passkey', () => {
  const optionsOf = async (desk: Desk) =>
    (await desk.send('POST', '/v1/passkeys/options')).body.data
  const signInOptions = async () =>
    (await stack.request('/v1/session/passkey/options', { method: 'POST' })).body.data
  const answer = (response: object) =>
    stack.request('/v1/session/passkey', {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ response }),
    })
  const register = (desk: Desk, response: object, label = 'Laptop', proof?: object) =>
    desk.send('POST', '/v1/passkeys', { response, label, ...(proof && { proof }) })
  const INVALID = [401, 'passkey_invalid']
  const REQUIRED = [403, 'passkey_required']
  type Authenticator = ReturnType<typeof createAuthenticator>
  /** Registers another one, with this one as the proof. */
  const registerAnother = async (desk: Desk, next: Authenticator, known: Authenticator) => {
    const options = await optionsOf(desk)
    return register(desk, next.create(options), 'Another', known.get(options.proof))
  }

  async function withPasskey() {
    const desk = await signIn(stack)
    const authenticator = createAuthenticator(origin)
    const { body } = await register(desk, authenticator.create(await optionsOf(desk)))
    return { desk, authenticator, id: body.data.id as string }
  }

  /** @returns A session that this passkey begins. */
  const signInWith = async (authenticator: Authenticator) =>
    deskOf(stack, await answer(authenticator.get(await signInOptions())))

  test('a stolen session cannot register one, however it began', async () => {
    const { desk, authenticator, id } = await withPasskey()
    const later = await signInWith(authenticator)
    const thief = createAuthenticator(origin)
    for (const stolen of [desk, later]) {
      const options = await optionsOf(stolen)
      expect(options.proof.allowCredentials).toHaveLength(1)
      const response = thief.create(options)
      expect(codeOf(await register(stolen, response))).toEqual(REQUIRED)
      const other = await withPasskey()
      for (const proof of [
        thief.get(options.proof),
        other.authenticator.get(options.proof),
        authenticator.get(options.proof, { isForged: true }),
        authenticator.get(options.proof, { isVerified: false }),
        authenticator.get(options.proof, { origin: 'https://evil.example' }),
        // What the person answers elsewhere.
        authenticator.get(await signInOptions()),
        authenticator.get(options),
      ])
        expect(codeOf(await register(stolen, response, 'x', proof))).toEqual(INVALID)
    }
    // Nor after the one that is there was removed.
    expect((await desk.send('DELETE', `/v1/passkeys/${id}`)).status).toBe(200)
    expect(codeOf(await desk.send('POST', '/v1/passkeys/options'))).toEqual(REQUIRED)
    expect(codeOf(await register(desk, thief.create(await signInOptions())))).toEqual(REQUIRED)
    expect(await isSignedIn(later)).toBe(false)
  })

  test('a proof counts once', async () => {
    const { desk, authenticator } = await withPasskey()
    const [options, again] = [await optionsOf(desk), await optionsOf(desk)]
    const proof = authenticator.get(options.proof)
    const next = () => createAuthenticator(origin)
    expect((await register(desk, next().create(options), 'Phone', proof)).status).toBe(201)
    expect(codeOf(await register(desk, next().create(again), 'x', proof))).toEqual(INVALID)
  })

  test('a link for a lost passkey removes it and ends the sessions; another does not', async () => {
    const { desk, authenticator } = await withPasskey()
    const link = async (body?: object) => {
      const made = await asAdmin('POST', `/v1/people/${desk.id}/invitations`, body)
      const secret = made.body.data.invitation.split('=').at(-1)
      return deskOf(stack, await useInvitation(stack, secret))
    }
    const device = await link()
    expect(await isSignedIn(desk)).toBe(true)
    const second = createAuthenticator(origin)
    expect(codeOf(await register(device, second.create(await optionsOf(device))))).toEqual(REQUIRED)
    expect((await registerAnother(device, second, authenticator)).status).toBe(201)
    const fresh = await link({ removePasskeys: true })
    expect([await isSignedIn(desk), await isSignedIn(device)]).toEqual([false, false])
    for (const old of [authenticator, second])
      expect(codeOf(await answer(old.get(await signInOptions())))).toEqual(INVALID)
    const options = await optionsOf(fresh)
    expect(options.proof).toBeNull()
    expect((await register(fresh, createAuthenticator(origin).create(options))).status).toBe(201)
  })

  test('administrators sign others out and remove their passkeys', async () => {
    const { desk, authenticator, id } = await withPasskey()
    const path = `/v1/people/${desk.id}`
    const listed = (await asAdmin('GET', `${path}/passkeys`)).body.data
    expect(listed).toEqual((await desk.send('GET', '/v1/passkeys')).body.data)
    expect((await asAdmin('DELETE', `${path}/sessions`)).status).toBe(200)
    expect(await isSignedIn(desk)).toBe(false)
    const later = await signInWith(authenticator)
    const other = await signIn(stack)
    const wrong = `/v1/people/${other.id}/passkeys/${id}`
    expect(codeOf(await asAdmin('DELETE', wrong))).toEqual([404, 'not_found'])
    expect((await asAdmin('DELETE', `${path}/passkeys/${id}`)).status).toBe(200)
    expect([await isSignedIn(later), await isSignedIn(other)]).toEqual([false, true])
    expect(codeOf(await answer(authenticator.get(await signInOptions())))).toEqual(INVALID)
    for (const [method, of] of [
      ['GET', 'passkeys'],
      ['DELETE', `passkeys/${id}`],
      ['DELETE', 'sessions'],
    ] as const)
      expect(codeOf(await asAdmin(method, `/v1/people/none/${of}`))).toEqual([404, 'not_found'])
    expect(codeOf(await other.send('DELETE', `${path}/sessions`))).toEqual([403, 'forbidden'])
  })

  test('neither it nor a link signs in a blocked person', async () => {
    const { desk, authenticator } = await withPasskey()
    const block = (isBlocked: boolean) => asAdmin('PATCH', `/v1/people/${desk.id}`, { isBlocked })
    expect((await block(true)).body.data).toMatchObject({ isBlocked: true })
    const { body } = await asAdmin('POST', `/v1/people/${desk.id}/invitations`)
    const link = body.data.invitation.split('=').at(-1)
    const blocked = [403, 'person_blocked']
    expect(codeOf(await useInvitation(stack, link))).toEqual(blocked)
    expect(codeOf(await answer(authenticator.get(await signInOptions())))).toEqual(blocked)
    await block(false)
    expect(await isSignedIn(await signInWith(authenticator))).toBe(true)
  })

  test('a signed-in person registers one, which then signs in', async () => {
    const { desk, authenticator, id } = await withPasskey()
    const { status, headers, body } = await answer(authenticator.get(await signInOptions()))
    expect(status).toBe(201)
    expect(headers.get('set-cookie')).toMatch(/^docreg_session_\d+=drs_/)
    expect(body.data).toMatchObject({ person: { id: desk.id }, passkeys: 1 })
    const { passkeys } = (await desk.send('GET', '/v1/passkeys')).body.data
    expect(passkeys).toEqual([
      {
        id,
        label: 'Laptop',
        createdAt: expect.any(String),
        lastUsedAt: expect.stringMatching(/Z$/),
      },
    ])
  })

  test('a second one is allowed, and each can be removed', async () => {
    const { desk, authenticator, id } = await withPasskey()
    expect((await optionsOf(desk)).excludeCredentials).toHaveLength(1)
    const second = createAuthenticator(origin)
    expect((await registerAnother(desk, second, authenticator)).status).toBe(201)
    const other = await signIn(stack)
    expect((await other.send('DELETE', `/v1/passkeys/${id}`)).status).toBe(404)
    expect((await desk.send('DELETE', `/v1/passkeys/${id}`)).status).toBe(200)
    expect(codeOf(await answer(authenticator.get(await signInOptions())))).toEqual(INVALID)
    expect((await answer(second.get(await signInOptions()))).status).toBe(201)
  })

  const DEVIATIONS: [string, Deviation][] = [
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['the same page by address', { origin: 'http://127.0.0.1' }],
    ['another service', { rpId: 'evil.example' }],
    ['an authenticator that did not check the person', { isVerified: false }],
  ]
  test.each(DEVIATIONS)('is not registered for %s', async (_, deviation) => {
    const desk = await signIn(stack)
    const response = createAuthenticator(origin).create(await optionsOf(desk), deviation)
    expect(codeOf(await register(desk, response))).toEqual(INVALID)
  })

  test.each<[string, Deviation]>([
    ...DEVIATIONS,
    ['another key', { isForged: true }],
    ['a copy that has signed less often', { counter: 1 }],
  ])('does not sign in for %s', async (_, deviation) => {
    const { authenticator } = await withPasskey()
    expect((await answer(authenticator.get(await signInOptions()))).status).toBe(201)
    const response = authenticator.get(await signInOptions(), deviation)
    expect(codeOf(await answer(response))).toEqual(INVALID)
  })

  test('an answer counts once, within five minutes, for its purpose', async () => {
    const { desk, authenticator } = await withPasskey()
    const response = authenticator.get(await signInOptions())
    expect((await answer(response)).status).toBe(201)
    expect(codeOf(await answer(response))).toEqual(INVALID)
    // The same challenge, answered anew.
    const options = await signInOptions()
    expect((await answer(authenticator.get(options))).status).toBe(201)
    expect(codeOf(await answer(authenticator.get(options)))).toEqual(INVALID)
    const late = await signInOptions()
    const other = await signIn(stack)
    const ofDesk = createAuthenticator(origin).create(await optionsOf(desk))
    expect(codeOf(await register(other, ofDesk))).toEqual(INVALID)
    const toSignIn = createAuthenticator(origin).create(late)
    expect(codeOf(await register(other, toSignIn))).toEqual(INVALID)
    const toRegister = authenticator.get(await optionsOf(desk))
    expect(codeOf(await answer(toRegister))).toEqual(INVALID)
    for (const challenge of ['AAAA', '', `${late.challenge}AAAA`])
      expect(codeOf(await answer(authenticator.get({ challenge })))).toEqual(INVALID)
    pass(6)
    expect(codeOf(await answer(authenticator.get(late)))).toEqual(INVALID)
  })

  test('refuses one of another person, or of a removed one', async () => {
    const { desk, authenticator } = await withPasskey()
    const other = await signIn(stack)
    const stolen = authenticator.create(await optionsOf(other))
    expect(codeOf(await register(other, stolen))).toEqual(INVALID)
    await asAdmin('DELETE', `/v1/people/${desk.id}`)
    expect(codeOf(await answer(authenticator.get(await signInOptions())))).toEqual(INVALID)
  })

  test('a person has at most ten', async () => {
    const { desk, authenticator } = await withPasskey()
    const options = await optionsOf(desk)
    const another = () => createAuthenticator(origin)
    for (let i = 1; i < 10; i++)
      expect((await registerAnother(desk, another(), authenticator)).status).toBe(201)
    const full = [409, 'too_many_passkeys']
    expect(codeOf(await desk.send('POST', '/v1/passkeys/options'))).toEqual(full)
    const proof = authenticator.get(options.proof)
    expect(codeOf(await register(desk, another().create(options), 'x', proof))).toEqual(full)
  })
})

describe('in general', () => {
  let log: CapturedLog
  let own: Stack
  async function start(env: Record<string, string>): Promise<void> {
    log = captureLog()
    own = await startStack({ LOG_LEVEL: 'debug', ...env })
  }
  afterEach(async () => {
    await own.stop()
    log.stop()
  })

  test('the last administrator can neither be removed nor demoted', async () => {
    await start({ ADDRESS_RATE_LIMIT: 'off' })
    const role = 'administrator'
    const [first, second] = [await signIn(own, { role }), await signIn(own, { role })]
    const last = [409, 'last_administrator']
    expect((await first.send('DELETE', `/v1/people/${second.id}`)).status).toBe(200)
    expect(codeOf(await first.send('DELETE', `/v1/people/${first.id}`))).toEqual(last)
    const demote = (id: string) => first.send('PATCH', `/v1/people/${id}`, { role: 'clerk' })
    expect(codeOf(await demote(first.id))).toEqual(last)
    const block = (id: string, isBlocked: boolean) =>
      first.send('PATCH', `/v1/people/${id}`, { isBlocked })
    expect(codeOf(await block(first.id, true))).toEqual(last)
    // Who is blocked administers nothing.
    const blocked = await signIn(own, { role })
    expect((await block(blocked.id, true)).status).toBe(200)
    expect(codeOf(await demote(first.id))).toEqual(last)
    expect((await block(blocked.id, false)).status).toBe(200)
    expect((await first.send('DELETE', `/v1/people/${blocked.id}`)).status).toBe(200)
    expect(await isSignedIn(first)).toBe(true)
    const third = await signIn(own, { role })
    // Both at once: one of them stays.
    const both = await Promise.all([
      first.send('DELETE', `/v1/people/${third.id}`),
      third.send('DELETE', `/v1/people/${first.id}`),
    ])
    expect(both.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
  })

  test('limits attempts to sign in by address', async () => {
    await start({ ADDRESS_RATE_LIMIT: '20' })
    const options = { method: 'POST' }
    const attempts = [
      useInvitation(own, 'guess'),
      own.request('/v1/session/passkey/options', options),
      useInvitation(own, 'guess'),
      useInvitation(own, 'guess'),
    ]
    const statuses = (await Promise.all(attempts)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1)
    expect(statuses.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(1)
    // Whoever is signed in already is not.
    expect((await own.issue(ADA)).status).toBe(201)
  })

  test('logs who signs in, without secret and name', async () => {
    await start({ ADDRESS_RATE_LIMIT: 'off' })
    const name = 'Nobody Logs This'
    const { id, invitation = '' } = await invite(own, { name, role: 'administrator' })
    const desk = deskOf(own, await useInvitation(own, invitation))
    await useInvitation(own, invitation)
    const options = (await desk.send('POST', '/v1/passkeys/options')).body.data
    const page = `http://localhost:${new URL(own.url).port}`
    const response = createAuthenticator(page).create(options)
    await desk.send('POST', '/v1/passkeys', { response, label: name })
    const added = await invite(own)
    await desk.send('PATCH', `/v1/people/${added.id}`, { name })
    await desk.send('DELETE', `/v1/people/${added.id}`)
    await desk.send('DELETE', '/v1/session')
    const session = expect.stringMatching(/^[0-9a-f]{12}$/)
    expect(log.lines('signed_in')).toMatchObject([{ person: id, session }])
    expect(log.lines('sign_in_refused')).toMatchObject([{ reason: 'invitation_invalid' }])
    expect(log.lines('passkey_registered')).toMatchObject([{ person: id }])
    expect(log.lines('person_added')).toMatchObject([{ id }, { id: added.id }])
    expect(log.lines('person_changed')).toMatchObject([{ id: added.id, by: id }])
    expect(log.lines('person_removed')).toMatchObject([{ id: added.id, by: id }])
    expect(log.lines('signed_out')).toMatchObject([{ person: id, session }])
    const secrets = [invitation, desk.cookie.split('=')[1], desk.csrfToken, options.challenge]
    for (const secret of [...secrets, response.id, name]) expect(log.text()).not.toContain(secret)
  })
})

test('another host cannot set the cookie behind https', async () => {
  const person = {
    id: 'ada',
    name: 'Ada',
    role: 'clerk',
    tenant: 'default',
    createdAt: '',
  } as const
  const times = { createdAt: '', expiresAt: '', lastUsedAt: '' }
  const session = { id: 'one', person: 'ada', digest: '', ...times }
  const { app } = bareApp({
    addresses: { ...ADDRESSES, baseUrl: 'https://documents.example' },
    sessions: {
      find: async (secret: string) => (secret === 'drs_x' ? { person, session } : undefined),
      useInvitation: async () => ({ person, session, secret: 'drs_x' }),
    } as unknown as DeskDeps['sessions'],
    passkeys: { list: async () => [] } as unknown as DeskDeps['passkeys'],
  })
  const { headers } = await app.request('/v1/session/invitation', {
    method: 'POST',
    headers: JSON_TYPE,
    body: '{"invitation":"x"}',
  })
  expect(headers.get('set-cookie')).toBe(
    '__Host-docreg_session=drs_x; Path=/; HttpOnly; Secure; SameSite=Strict',
  )
  const statusWith = async (cookie: string) =>
    (await app.request('/v1/session', { headers: { cookie } })).status
  expect(await statusWith('__Host-docreg_session=drs_x')).toBe(200)
  expect(await statusWith('docreg_session=drs_x')).toBe(401)
})

test('a session that started while its person was blocked is invalid', async () => {
  const person: Person = {
    id: 'ada',
    name: 'Ada',
    role: 'clerk',
    tenant: 'default',
    createdAt: '',
  }
  const times = { createdAt: '', expiresAt: '2099-01-01', lastUsedAt: new Date().toISOString() }
  const session = { id: 'one', person: 'ada', digest: '', ...times }
  const found = (isBlocked: boolean) =>
    createSessions(
      {
        findSession: async () => ({
          session,
          person: { ...person, ...(isBlocked && { isBlocked }) },
        }),
      } as unknown as PeopleStore,
      () => {},
    ).find('drs_x')
  expect(await found(false)).toBeDefined()
  expect(await found(true)).toBeUndefined()
})
