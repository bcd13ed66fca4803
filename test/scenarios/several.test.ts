import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { Role } from '#keys/roles.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { type Desk, invite, JSON_TYPE, signIn, useInvitation } from '../support/desk.ts'
import { postgresFolder } from '../support/postgres.ts'
import { type SharedGateway, type SharedStack, startSharedStack } from '../support/shared-stack.ts'
import { ADA, type Answer, requestsTo } from '../support/stack.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const folder = postgresFolder()
const ASYNC = { prefer: 'respond-async' }
const keyed = (key: string) => ({ 'idempotency-key': key })
const codeOf = ({ status, body }: Answer) => [status, body.error?.code]
const hashOf = (publicId: string) => toHex(decodePublicId(publicId).hash)
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

/** Three gateways with two accounts: one of them always is without. */
describe.skipIf(folder === undefined)('several gateways on one database', () => {
  let stack: SharedStack
  let gateways: SharedGateway[]
  beforeAll(async () => {
    stack = await startSharedStack(folder ?? '', 2, {
      WEBHOOK_ALLOW_PRIVATE: 'true',
      RPC_TIMEOUT_SECONDS: '60',
      ADDRESS_RATE_LIMIT: 'off',
    })
    gateways = [await stack.start(), await stack.start(), await stack.start()]
  })
  afterEach(() => mine(true))
  afterAll(() => stack?.remove())

  let release = () => {}
  /** @param on Whether transactions reach the chain. */
  function mine(on: boolean): void {
    release()
    const held = Promise.withResolvers<boolean>()
    release = () => held.resolve(false)
    for (const { proxy } of gateways)
      proxy.refuse = (method) => !on && method === 'eth_sendRawTransaction' && held.promise
  }

  const at = (i: number): SharedGateway => gateways[i % gateways.length] as SharedGateway
  const atAll = <T>(work: (gateway: SharedGateway) => Promise<T>) => Promise.all(gateways.map(work))
  const issueAt = (gateway: SharedGateway, headers = {}, fields: object = ADA) =>
    gateway.call('POST', '/v1/documents', fields, headers)
  const changeAt = (gateway: SharedGateway, change: string, publicId: string, headers = {}) =>
    gateway.call('POST', `/v1/documents/${publicId}/${change}`, {}, headers)
  const statusAt = async (gateway: SharedGateway, publicId: string) =>
    (await gateway.call('GET', `/v1/verify?publicId=${publicId}`)).body.data?.status
  const same = (value: unknown) => gateways.map(() => value)

  async function issue(i: number, headers = {}): Promise<string> {
    const { status, body } = await issueAt(at(i), headers)
    expect(status).toBe(201)
    return body.data.publicId
  }

  /** Reads the whole feed, each page at another gateway. */
  async function readEvents(turn = 0, limit = 7) {
    const events: { id: string; type: string; data: { documentHash: string } }[] = []
    let after = ''
    for (let page = turn; ; page++) {
      const { body } = await at(page).call('GET', `/v1/events?limit=${limit}${after}`)
      events.push(...body.data.events)
      if (!body.data.hasMore) return events
      after = `&after=${body.data.next}`
    }
  }
  /** Finality comes in its own time. */
  async function typesOf(publicId: string): Promise<string[]> {
    const events = await readEvents()
    return events
      .filter(({ data, type }) => data.documentHash === hashOf(publicId) && !type.endsWith('final'))
      .map(({ type }) => type)
  }

  describe('people', () => {
    const asPage = async (gateway: SharedGateway, method: string, path: string, sent = {}) => {
      const { cookie = '', csrfToken = '', body }: Partial<Desk> & { body?: object } = sent
      return requestsTo(gateway.url)(path, {
        method,
        headers: { ...(cookie && { cookie }), 'x-csrf-token': csrfToken, ...JSON_TYPE },
        ...(body && { body: JSON.stringify(body) }),
      })
    }
    const signInAt = (gateway: SharedGateway, role: Role = 'clerk') =>
      signIn({ request: requestsTo(gateway.url) }, { role })

    test('a session of one gateway is valid at all', async () => {
      const desk = await signInAt(at(0))
      const answers = await atAll((gateway) => asPage(gateway, 'GET', '/v1/session', desk))
      expect(answers.map(({ body }) => body.data.person.id)).toEqual(same(desk.id))
      const issued = await asPage(at(1), 'POST', '/v1/documents', { ...desk, body: ADA })
      expect(issued.status).toBe(201)
    })

    test.each(['DELETE', 'PATCH', 'sign out'])(
      '%s ends it at all gateways at once',
      async (how) => {
        const desk = await signInAt(at(0))
        if (how === 'sign out') await asPage(at(1), 'DELETE', '/v1/session', desk)
        else await at(1).call(how, `/v1/people/${desk.id}`, { role: 'reader' })
        const answers = await atAll((gateway) => asPage(gateway, 'GET', '/v1/session', desk))
        expect(answers.map(({ status }) => status)).toEqual(same(401))
      },
    )

    test('an invitation works once, at any gateway', async () => {
      const { invitation } = await invite({ request: requestsTo(at(0).url) })
      const used = await atAll(({ url }) => useInvitation({ request: requestsTo(url) }, invitation))
      expect(used.map(({ status }) => status).sort()).toEqual([201, 401, 401])
    })

    test('accepts the answer to a challenge of another gateway, once', async () => {
      const authenticator = createAuthenticator('https://documents.example')
      const desk = await signInAt(at(0))
      const options = await asPage(at(0), 'POST', '/v1/passkeys/options', desk)
      const made = { response: authenticator.create(options.body.data), label: 'Laptop' }
      const registered = await asPage(at(1), 'POST', '/v1/passkeys', { ...desk, body: made })
      expect(registered.status).toBe(201)
      const challenge = await asPage(at(1), 'POST', '/v1/session/passkey/options')
      const body = { response: authenticator.get(challenge.body.data) }
      const answers = await atAll((gateway) =>
        asPage(gateway, 'POST', '/v1/session/passkey', { body }),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401])
    })

    test('two administrators cannot remove each other', async () => {
      const [one, other] = [
        await signInAt(at(0), 'administrator'),
        await signInAt(at(0), 'administrator'),
      ]
      const answers = await Promise.all([
        asPage(at(1), 'DELETE', `/v1/people/${other.id}`, one),
        asPage(at(2), 'DELETE', `/v1/people/${one.id}`, other),
      ])
      expect(answers.map(({ status }) => status)).toContain(200)
      const { people } = (await at(0).call('GET', '/v1/people')).body.data
      const roles = people.map(({ role }: { role: Role }) => role)
      expect(roles.filter((role: Role) => role === 'administrator')).toHaveLength(1)
    })
  })

  describe('documents', () => {
    test('a promise of one gateway is pending at all, and later valid at all', async () => {
      mine(false)
      const key = keyed(randomUUID())
      for (const i of [0, 1, 2]) {
        const promised = await issueAt(at(i), {
          ...ASYNC,
          ...keyed(`${key['idempotency-key']}${i}`),
        })
        expect(promised.status).toBe(202)
        const { publicId } = promised.body.data
        expect(await atAll((one) => statusAt(one, publicId))).toEqual(same('pending'))
        const retrieved = await atAll((one) => one.call('GET', `/v1/documents/${publicId}`))
        expect(retrieved.map(({ body }) => body.data.status)).toEqual(same('pending'))
      }
      mine(true)
      for (const i of [0, 1, 2]) {
        const repeated = await atAll((one) => issueAt(one, keyed(`${key['idempotency-key']}${i}`)))
        const [publicId] = repeated.map(({ body }) => body.data.publicId)
        expect(repeated.map(({ body }) => body.data.publicId)).toEqual(same(publicId))
        expect(repeated.map(({ status }) => status)).toEqual(same(201))
        expect(await atAll((one) => statusAt(one, publicId))).toEqual(same('valid'))
        expect(await typesOf(publicId)).toEqual(['document.issued'])
      }
    })

    test('a repeat gets the same answer at each gateway while it is pending', async () => {
      mine(false)
      const key = keyed(randomUUID())
      const answers = await atAll((one) => issueAt(one, { ...ASYNC, ...key }))
      expect(answers.map(({ status }) => status)).toEqual(same(202))
      expect(new Set(answers.map(({ body }) => body.data.publicId)).size).toBe(1)
      const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed'))
      expect(replayed.length).toBe(2)
    })

    test('a key is for one body, whichever gateways get the others', async () => {
      const key = keyed(randomUUID())
      const answers = await Promise.all(
        gateways.map((one, i) => issueAt(one, key, { ...ADA, subjectId: `${i}` })),
      )
      expect(answers.map(codeOf).sort()).toEqual([
        [201, undefined],
        ...[1, 2].map(() => [422, 'idempotency_key_reused']),
      ])
    })

    test('a request that waits at one gateway is answered when another anchors it', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => issueAt(at(i))))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      for (const { body } of answers) expect(body.data.blockchainHash).toMatch(/^0x\w{64}$/)
    })

    test('a revocation at another gateway waits for the pending document', async () => {
      mine(false)
      const promised = await issueAt(at(0), ASYNC)
      const { publicId } = promised.body.data
      const revoked = await Promise.all(
        [1, 2].map((i) => changeAt(at(i), 'revoke', publicId, ASYNC)),
      )
      expect(revoked.map(({ status }) => status)).toEqual([202, 202])
      mine(true)
      for (const one of gateways) await expect.poll(() => statusAt(one, publicId)).toBe('revoked')
      expect(await typesOf(publicId)).toEqual(['document.issued', 'document.revoked'])
    })

    test('each gateway can change what another one did', async () => {
      const publicId = await issue(0)
      for (const [i, change, status] of [
        [1, 'suspend', 'suspended'],
        [2, 'release', 'valid'],
        [0, 'suspend', 'suspended'],
        [1, 'revoke', 'revoked'],
      ] as const) {
        expect((await changeAt(at(i), change, publicId)).status).toBe(200)
        expect(await atAll((one) => statusAt(one, publicId))).toEqual(same(status))
      }
      expect(codeOf(await changeAt(at(2), 'release', publicId))).toEqual([409, 'already_revoked'])
    })

    test('refuses a release while a suspension is pending at another gateway', async () => {
      const publicId = await issue(0)
      mine(false)
      expect((await changeAt(at(1), 'suspend', publicId, ASYNC)).status).toBe(202)
      const released = await atAll((one) => changeAt(one, 'release', publicId, ASYNC))
      expect(released.map(codeOf)).toEqual(same([409, 'change_pending']))
    })

    test('of concurrent successors at several gateways, one is issued', async () => {
      const publicId = await issue(0)
      const answers = await Promise.all(
        gateways.map((one, i) =>
          one.call('POST', `/v1/documents/${publicId}/supersede`, { ...ADA, subjectId: `${i}9` }),
        ),
      )
      expect(answers.map(codeOf).sort()).toEqual([
        [201, undefined],
        ...[1, 2].map(() => [409, 'already_superseded']),
      ])
      expect(await atAll((one) => statusAt(one, publicId))).toEqual(same('superseded'))
      expect(await typesOf(publicId)).toEqual(['document.issued', 'document.superseded'])
    })

    test('a document erased at one gateway is gone at all, also for a repeat', async () => {
      const key = keyed(randomUUID())
      const publicId = await issue(0, key)
      const erased = await at(1).call('DELETE', `/v1/documents/${publicId}/payload`)
      expect(erased.status).toBe(200)
      const cid = cidOf(decodePublicId(publicId).hash)
      for (const one of gateways) {
        expect(codeOf(await issueAt(one, key))).toEqual([410, 'erased'])
        const blocks = await fetch(`${one.url}/ipfs/${cid}?format=raw`)
        expect(blocks.status).toBe(410)
      }
    })

    test('lists, bundles and payloads are the same at all gateways', async () => {
      const publicId = await issue(2)
      const answers = await atAll((one) => one.call('GET', '/v1/documents?limit=3'))
      const [first] = answers.map(({ body }) => body.data)
      expect(answers.map(({ body }) => body.data)).toEqual(same(first))
      expect(first.documents[0]).toMatchObject({ publicId })
      const cursor = encodeURIComponent(first.nextCursor)
      const next = await atAll((one) => one.call('GET', `/v1/documents?limit=3&cursor=${cursor}`))
      expect(next.map(({ body }) => body.data)).toEqual(same(next[0]?.body.data))
      const found = await atAll((one) =>
        one.call('POST', '/v1/documents/search', { subjectId: ADA.subjectId, limit: 1 }),
      )
      expect(found.map(({ body }) => body.data.documents[0]?.publicId)).toEqual(same(publicId))
      const bundles = await atAll((one) => one.call('GET', `/v1/documents/${publicId}/bundle`))
      expect(bundles.map(({ status }) => status)).toEqual(same(200))
    })
  })

  describe('batches', () => {
    let series = 0
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        JSON.stringify({ ...ADA, subjectId: `${series}7${i}` }),
      ).join('\n')
    async function issueBatch({ url }: SharedGateway, body: string, headers = {}) {
      const response = await fetch(`${url}/v1/batches`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', ...bearer(apiKey), ...headers },
        body,
      })
      const text = await response.text()
      const lines = response.ok
        ? text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : []
      return { status: response.status, text, lines }
    }
    let apiKey: string
    beforeAll(async () => {
      const { body } = await at(0).call('POST', '/v1/keys', {
        scopes: ['admin', 'documents:issue'],
      })
      apiKey = body.data.secret
    })

    test('a batch of one gateway is known to all, with its documents', async () => {
      series++
      const body = linesOf(5)
      const { status, lines } = await issueBatch(at(0), body)
      expect(status).toBe(201)
      const publicIds = lines.map(({ data }) => data.publicId)
      expect(publicIds.length).toBe(5)
      for (const publicId of publicIds)
        expect(await atAll((one) => statusAt(one, publicId))).toEqual(same('valid'))
      const repeated = []
      for (const one of gateways) repeated.push(await issueBatch(one, body))
      expect(repeated.map(({ lines }) => lines.map(({ data }) => data.publicId))).toEqual(
        same(publicIds),
      )
      const listed = await atAll((one) => one.call('GET', '/v1/batches?limit=1'))
      const [first] = listed.map(({ body }) => body.data)
      expect(listed.map(({ body }) => body.data)).toEqual(same(first))
      const { root } = first.batches[0]
      expect((await at(1).call('POST', `/v1/batches/${root}/suspend`, {})).status).toBe(200)
      const [some] = publicIds
      expect(await atAll((one) => statusAt(one, some))).toEqual(same('suspended'))
      expect((await at(2).call('POST', `/v1/batches/${root}/release`, {})).status).toBe(200)
      expect(await atAll((one) => statusAt(one, some))).toEqual(same('valid'))
    })

    test('the same batch at all gateways at once is issued once, completely', async () => {
      series++
      const body = linesOf(40)
      const before = (await readEvents()).filter(({ type }) => type === 'batch.issued').length
      const answers = await atAll((one) => issueBatch(one, body))
      const issued = answers.filter(({ status }) => status === 201)
      expect(issued.length).toBeGreaterThan(0)
      for (const { status } of answers) expect([201, 503]).toContain(status)
      const publicIds: string[] = issued[0]?.lines.map(({ data }) => data.publicId) ?? []
      const verdicts = await Promise.all(publicIds.map((one, i) => statusAt(at(i), one)))
      expect(verdicts).toEqual(publicIds.map(() => 'valid'))
      const after = (await readEvents()).filter(({ type }) => type === 'batch.issued').length
      expect(after - before).toBe(1)
    })
  })

  describe('events and webhooks', () => {
    let receiver: WebhookReceiver
    const made: string[] = []
    beforeAll(async () => {
      receiver = await startWebhookReceiver()
    })
    afterEach(async () => {
      for (const id of made.splice(0)) await at(0).call('DELETE', `/v1/webhooks/${id}`)
    })
    afterAll(() => receiver.close())

    async function createAt(gateway: SharedGateway, body: object = {}): Promise<Answer> {
      const answer = await gateway.call('POST', '/v1/webhooks', { url: receiver.url, ...body })
      if (answer.status === 201) made.push(answer.body.data.id)
      return answer
    }

    test('readers at different gateways see each event once, in the same order', async () => {
      const issuing = Promise.all(Array.from({ length: 20 }, (_, i) => issueAt(at(i))))
      const seen: string[] = []
      let after = ''
      const readOn = async (turn: number) => {
        const { body } = await at(turn).call('GET', `/v1/events?limit=3${after}`)
        seen.push(...body.data.events.map(({ id }: { id: string }) => id))
        after = `&after=${body.data.next}`
        return body.data.hasMore
      }
      let working = true
      issuing.finally(() => {
        working = false
      })
      for (let turn = 0; working; turn++) await readOn(turn)
      await issuing
      for (let turn = 0; await readOn(turn); turn++);
      const all = (await readEvents(1, 1_000)).map(({ id }) => id)
      expect(seen.slice(0, all.length)).toEqual(all.slice(0, seen.length))
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.length).toBeGreaterThanOrEqual(20)
    })

    test('each event of any gateway is delivered once', async () => {
      const { body } = await createAt(at(1), { types: ['document.issued', 'document.revoked'] })
      receiver.secret = body.data.secret
      const publicIds = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => issue(i)))
      for (const [i, publicId] of publicIds.entries()) await changeAt(at(i + 1), 'revoke', publicId)
      const typesSent = (publicId: string) =>
        receiver.accepted
          .filter(({ event }) => event.data.documentHash === hashOf(publicId))
          .map(({ event }) => event.type)
      const both = ['document.issued', 'document.revoked']
      for (const publicId of publicIds) await expect.poll(() => typesSent(publicId)).toEqual(both)
      expect(receiver.once().length).toBe(receiver.accepted.length)
    })

    test('a webhook removed at one gateway gets nothing from the others', async () => {
      const { body } = await createAt(at(0))
      receiver.secret = body.data.secret
      const { id } = body.data
      const found = await atAll((one) => one.call('GET', `/v1/webhooks/${id}`))
      expect(found.map(({ status }) => status)).toEqual(same(200))
      expect((await at(2).call('DELETE', `/v1/webhooks/${id}`)).status).toBe(200)
      const other = await createAt(at(1), { types: ['document.suspended'] })
      receiver.secret = other.body.data.secret
      const before = receiver.forged
      const publicId = await issue(1)
      await changeAt(at(0), 'suspend', publicId)
      const hashes = () => receiver.accepted.map(({ event }) => event.data.documentHash)
      await expect.poll(hashes).toContain(hashOf(publicId))
      // The secret of the removed one differs.
      expect(receiver.forged).toBe(before)
    })

    test('when the gateway that delivers stops, another one continues', async () => {
      const { body } = await createAt(at(1), { types: ['document.issued'] })
      receiver.secret = body.data.secret
      // The first one has had all chores from its start on.
      await at(0).stop()
      const publicIds = await Promise.all([1, 2, 1, 2].map((i) => issue(i)))
      gateways[0] = await stack.start()
      const sent = () => receiver.accepted.map(({ event }) => event.data.documentHash)
      for (const publicId of publicIds) await expect.poll(sent).toContain(hashOf(publicId))
      expect(receiver.once().length).toBe(receiver.accepted.length)
    })

    test('the limit of webhooks applies over all gateways', async () => {
      const answers = await Promise.all(Array.from({ length: 27 }, (_, i) => createAt(at(i))))
      expect(answers.filter(({ status }) => status === 201).length).toBe(20)
    })
  })

  describe('API keys', () => {
    test('a key made at one gateway works at all, until another one revokes it', async () => {
      const { body } = await at(0).call('POST', '/v1/keys', { scopes: ['documents:read'] })
      const { id, secret } = body.data
      const readAll = () =>
        atAll((one) => one.call('GET', '/v1/documents', undefined, bearer(secret)))
      expect((await readAll()).map(({ status }) => status)).toEqual(same(200))
      expect((await at(1).call('DELETE', `/v1/keys/${id}`)).status).toBe(200)
      await expect
        .poll(async () => (await readAll()).map(({ status }) => status))
        .toEqual(same(401))
    })
  })
})
