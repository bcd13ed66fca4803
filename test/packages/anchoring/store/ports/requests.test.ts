import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { fromHex } from '#document/hex.ts'
import type { IssueAction } from '#promise/action.ts'
import type { Added } from '#promise/ports.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { describePorts } from '#test/support/databases.ts'
import { waitingFor } from '#test/support/outbox.ts'
import { anchorAll, ENTRY, issueOf, placeIn, resolve } from './given.ts'

const DAY = 86_400

describePorts('the keys of requests', (ports) => {
  let stores: DatabaseStores
  beforeEach(() => {
    stores = ports.stores
  })

  const newKey = () => new Uint8Array(randomBytes(16))
  /** Asks for a document, whose payload is in the database, with a key. */
  const ask = (request: Uint8Array, action = issueOf()): Promise<Added> => {
    const bytes = new Uint8Array(randomBytes(40))
    const sealed = { documentHash: fromHex(action.documentHash), bytes }
    return stores.outbox.add(action, { payload: { ...sealed, entry: { ...ENTRY, request } } })
  }
  const isThere = async ({ documentHash }: IssueAction) =>
    (await stores.documentIndex.find(documentHash)) !== undefined
  const isStored = async ({ documentHash }: IssueAction) =>
    (await stores.embedded.get(fromHex(documentHash))).status === 'found'
  /** Lets time pass since all documents were requested. */
  const pass = (seconds: number) =>
    ports.run(`UPDATE record SET created_at = created_at - ${seconds}`)

  test('a key leads to the document of its first request', async () => {
    const [request, action] = [newKey(), issueOf()]
    expect(await stores.requests.find(request)).toBeUndefined()
    expect(await ask(request, action)).toBe(true)
    expect(await stores.requests.find(request)).toBe(action.documentHash)
    expect(await stores.requests.find(newKey())).toBeUndefined()
  })

  test('a repeat adds nothing', async () => {
    const [request, action] = [newKey(), issueOf()]
    await ask(request, action)
    expect(await ask(request, action)).toBe(false)
    const place = await anchorAll(ports.outbox, [action])
    await ports.outbox.finish(place)
    expect(await ask(request, action)).toBe(false)
    expect(await waitingFor(ports.outbox)).toEqual([])
  })

  test('another document of the same key is refused, with its payload', async () => {
    const [request, first, second] = [newKey(), issueOf(), issueOf()]
    await ask(request, first)
    expect(await ask(request, second)).toBe('key_reused')
    expect(await isThere(second)).toBe(false)
    expect(await isStored(second)).toBe(false)
    expect(await stores.requests.find(request)).toBe(first.documentHash)
    expect(await waitingFor(ports.outbox)).toHaveLength(1)
  })

  test('one of several concurrent requests with one key adds its document', async () => {
    const request = newKey()
    const actions = Array.from({ length: 10 }, () => issueOf())
    const others = Array.from({ length: 10 }, () => issueOf())
    const answers = await Promise.all([
      ...actions.map((action) => ask(request, action)),
      ...others.map((action) => ask(newKey(), action)),
    ])
    expect(answers.slice(0, 10).filter((answer) => answer === true)).toHaveLength(1)
    expect(answers.slice(0, 10).filter((answer) => answer === 'key_reused')).toHaveLength(9)
    expect(answers.slice(10)).toEqual(others.map(() => true))
    const added = actions[answers.indexOf(true)]
    expect(await stores.requests.find(request)).toBe(added?.documentHash)
    expect(await ports.count('record')).toBe(11)
  })

  test('the payloads of refused requests are not stored', async () => {
    const request = newKey()
    const actions = Array.from({ length: 3 }, () => issueOf())
    await Promise.all(actions.map((action) => ask(request, action)))
    expect(await ports.count('payload')).toBe(1)
  })

  test('a key is kept for 400 days, and may then be used again', async () => {
    const [request, first, second] = [newKey(), issueOf(), issueOf()]
    await ask(request, first)
    await pass(399 * DAY)
    expect(await stores.requests.find(request)).toBe(first.documentHash)
    expect(await ask(request, second)).toBe('key_reused')
    await pass(DAY)
    expect(await stores.requests.find(request)).toBeUndefined()
    expect(await ask(request, second)).toBe(true)
    expect(await stores.requests.find(request)).toBe(second.documentHash)
    expect(await isThere(first)).toBe(true)
    // The new one is remembered in turn.
    expect(await ask(request)).toBe('key_reused')
  })

  test('the same document can be requested again after that', async () => {
    const [request, action] = [newKey(), issueOf()]
    await ask(request, action)
    await pass(400 * DAY)
    expect(await ask(request, action)).toBe(false)
  })

  test('the key of an erased document may be used again', async () => {
    const [request, erased, other] = [newKey(), issueOf(), issueOf()]
    await ask(request, erased)
    await stores.erasures.begin(erased.documentHash, 'default')
    expect(await stores.requests.find(request)).toBeUndefined()
    expect(await ask(request, other)).toBe(true)
    expect(await stores.requests.find(request)).toBe(other.documentHash)
  })

  test('the key of a document that can never be issued may be used again', async () => {
    const [request, refused, other] = [newKey(), issueOf(), issueOf()]
    await ask(request, refused)
    await resolve(ports.outbox, refused, { status: 'conflict' })
    expect(await stores.requests.find(request)).toBeUndefined()
    expect(await ask(request, other)).toBe(true)
  })

  test('a key leads to a document that another gateway has issued, once that is known', async () => {
    const [request, action] = [newKey(), issueOf()]
    await ports.outbox.guard(action, placeIn(5), { entry: { ...ENTRY, request } })
    expect(await stores.requests.find(request)).toBe(action.documentHash)
    expect(await ask(request)).toBe('key_reused')
  })
})
