import { request as httpRequest } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { bareApp } from '#test/support/bare-app.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '15' })
})
afterEach(() => {
  stack.proxy.refuse = () => false
})
afterAll(() => stack.stop())

const NDJSON = 'application/x-ndjson'
const UNKNOWN = `0x${'5a'.repeat(32)}`

async function issueMany(count: number): Promise<{ publicId: string; documentHash: string }[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => stack.issue(ADA)))
  return answers.map(({ body }) => body.data)
}

const revoke = (body: string, headers: Record<string, string> = {}) =>
  send('revocations', body, headers)

async function send(
  what: 'revocations' | 'suspensions' | 'releases',
  body: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${stack.url}/v1/${what}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': NDJSON, ...headers },
    body,
  })
  const text = await response.text()
  const isLines = response.headers.get('content-type') === NDJSON
  return {
    status: response.status,
    headers: response.headers,
    lines: isLines ? parseLines(text) : [],
    error: isLines ? undefined : JSON.parse(text).error,
  }
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
const parseLines = (text: string): any[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const lines = (entries: readonly (object | string)[]) =>
  entries.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')

describe('POST /v1/revocations', () => {
  test('revokes by publicId and documentHash, with one envelope per line, in order', async () => {
    const [first, second, third] = await issueMany(3)
    const {
      status,
      headers,
      lines: answers,
    } = await revoke(
      `${lines([
        { publicId: first?.publicId, reason: 'keyCompromise' },
        { documentHash: second?.documentHash },
      ])}\n`,
    )
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(answers).toEqual([
      {
        line: 1,
        success: true,
        data: {
          publicId: first?.publicId,
          documentHash: first?.documentHash,
          status: 'revoked',
          reason: 'keyCompromise',
          revokedAt: expect.stringMatching(/Z$/),
          network: 'test',
          blockchainHash: expect.stringMatching(/^0x/),
        },
      },
      expect.objectContaining({
        line: 2,
        data: expect.objectContaining({ status: 'revoked', reason: 'unspecified' }),
      }),
    ])
    const statuses = [first, second, third].map(async (one) => {
      const { body } = await stack.verify(one?.publicId ?? '')
      return body.data.status
    })
    expect(await Promise.all(statuses)).toEqual(['revoked', 'revoked', 'valid'])
  })

  test('accepts a JSON array', async () => {
    const [one] = await issueMany(1)
    const { lines: answers } = await revoke(JSON.stringify([{ publicId: one?.publicId }]), {
      'content-type': 'application/json',
    })
    expect(answers).toMatchObject([{ line: 1, success: true, data: { status: 'revoked' } }])
  })

  test('a bad line names its fields, and the other lines are processed', async () => {
    const [one] = await issueMany(1)
    const foreign = encodePublicId({ ...decodePublicId(one?.publicId ?? ''), issuerId: 7 })
    const { lines: answers } = await revoke(
      lines([
        'nonsense',
        { publicId: one?.publicId, documentHash: one?.documentHash },
        { documentHash: '0x12', reason: 'because', more: 1 },
        { documentHash: UNKNOWN },
        { publicId: foreign },
        { publicId: 'x' },
        '',
        `{"publicId":"${'1'.repeat(2000)}"}`,
        { documentHash: one?.documentHash },
      ]),
    )
    expect(answers.map(({ line, success, error }) => [line, success, error?.code])).toEqual([
      [1, false, 'bad_json'],
      [2, false, 'bad_fields'],
      [3, false, 'bad_fields'],
      [4, false, 'not_issued'],
      [5, false, 'other_issuer'],
      [6, false, 'bad_public_id'],
      [7, false, 'bad_json'],
      [8, false, 'too_large'],
      [9, true, undefined],
    ])
    const named = answers[2].error.details.map(({ field }: { field: string }) => field)
    expect(named.toSorted()).toEqual(['documentHash', 'more', 'reason'])
  })

  test('a repeat reports the first revocation', async () => {
    const [one] = await issueMany(1)
    const body = (reason: string) => lines([{ documentHash: one?.documentHash, reason }])
    const [first] = (await revoke(body('keyCompromise'))).lines
    const [again] = (await revoke(body('superseded'))).lines
    expect(again.data).toEqual(first.data)
  })

  test('answers before a block when asked, and keeps the promise', async () => {
    const issued = await issueMany(2)
    const { lines: answers } = await revoke(
      lines(issued.map(({ documentHash }) => ({ documentHash }))),
      { prefer: 'respond-async' },
    )
    expect(answers.map(({ data }) => data.status)).toEqual(['pending', 'pending'])
    for (const { publicId } of issued)
      await expect.poll(async () => (await stack.verify(publicId)).body.data.status).toBe('revoked')
  })

  test('revokes hundreds in few transactions', async () => {
    const issued = await issueMany(300)
    const { lines: answers } = await revoke(
      lines(issued.map(({ documentHash }) => ({ documentHash }))),
    )
    expect(answers.map(({ line }) => line)).toEqual(issued.map((_, i) => i + 1))
    const hashes = answers.flatMap(({ data }) => data?.blockchainHash ?? [])
    expect(answers.filter(({ success }) => !success)).toEqual([])
    expect(new Set(hashes).size).toBeLessThan(50)
  })

  test('refuses a body that is no list, or too long, before it changes anything', async () => {
    const json = { 'content-type': 'application/json' }
    const cases = [
      [await revoke('{}', json), 422, 'bad_fields'],
      [await revoke('[]', json), 422, 'bad_fields'],
      [await revoke(''), 422, 'bad_fields'],
      [await revoke('[', json), 400, 'bad_json'],
      [await revoke('{}', { 'content-type': 'text/plain' }), 415, 'not_json'],
      [await revoke('{}\n'.repeat(10_001)), 413, 'too_large'],
      [await revoke(' '.repeat(2 * 1024 * 1024 + 1)), 413, 'too_large'],
    ] as const
    for (const [{ status, error }, expected, code] of cases)
      expect([status, error?.code]).toEqual([expected, code])
  })

  test('slow requests of one tenant block no other tenant and no admin', async () => {
    const slow = stack.key(['documents:revoke'])
    const other = stack.key(['documents:revoke'], 'other')
    const revokeWith = async (key: string) =>
      (await revoke(lines([{ documentHash: UNKNOWN }]), { authorization: `Bearer ${key}` })).status
    const refused: (number | undefined)[] = []
    const requests = Array.from({ length: 6 }, () => {
      const request = httpRequest(`${stack.url}/v1/revocations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slow}`, 'content-type': NDJSON },
      })
      request.on('error', () => {})
      request.on('response', (response) => refused.push(response.resume().statusCode))
      request.write('{')
      return request
    })
    await expect.poll(() => refused).toEqual([503, 503])
    expect(await revokeWith(slow)).toBe(503)
    expect(await revokeWith(other)).toBe(200)
    expect(await revokeWith(API_KEY)).toBe(200)
    for (const request of requests) request.destroy()
    const four = () => Promise.all(Array.from({ length: 4 }, () => revokeWith(slow)))
    await expect.poll(four).toEqual([200, 200, 200, 200])
  })

  test('starts few entries per turn of the event loop, so that others are served', async () => {
    let begun = 0
    const { app } = bareApp({
      async findDocument() {
        begun++
        return undefined
      },
    })
    const answer = app.request('/v1/revocations', {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': NDJSON },
      body: lines(Array.from({ length: 1_000 }, () => ({ documentHash: UNKNOWN }))),
    })
    const steps: number[] = []
    while (begun < 1_000) {
      const before = begun
      await nextTurn()
      steps.push(begun - before)
    }
    expect(Math.max(...steps)).toBeLessThan(200)
    expect((await answer).status).toBe(200)
  })

  test('frees the slots of clients that leave before the answer', async () => {
    const entries = lines(Array.from({ length: 2_000 }, () => ({ documentHash: UNKNOWN })))
    for (let i = 0; i < 5; i++) {
      const request = httpRequest(`${stack.url}/v1/revocations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': NDJSON },
      })
      request.on('error', () => {})
      request.end(entries)
      await sleep(20)
      request.destroy()
    }
    const one = async () => (await revoke(lines([{ documentHash: UNKNOWN }]))).status
    const four = () => Promise.all(Array.from({ length: 4 }, one))
    await expect.poll(four).toEqual([200, 200, 200, 200])
  })

  test('refuses a key without the scope', async () => {
    const key = stack.key(['documents:issue'])
    const { status } = await revoke('{}', { authorization: `Bearer ${key}` })
    expect(status).toBe(403)
  })

  test('reports an outage on each line', async () => {
    const [one] = await issueMany(1)
    stack.proxy.refuse = () => true
    const { status, lines: answers } = await revoke(lines([{ documentHash: one?.documentHash }]))
    expect(status).toBe(200)
    expect(answers).toMatchObject([{ line: 1, error: { code: 'chain_unavailable' } }])
  })
})

describe('POST /v1/suspensions and /v1/releases', () => {
  test('suspend and release many documents, in order', async () => {
    const issued = await issueMany(3)
    const body = lines(issued.map(({ publicId }) => ({ publicId })))
    const suspended = await send('suspensions', body)
    expect(suspended.lines.map(({ line, data }) => [line, data.status, data.reason])).toEqual(
      issued.map((_, i) => [i + 1, 'suspended', 'certificateHold']),
    )
    expect(suspended.lines[0].data.suspendedAt).toMatch(/Z$/)
    const released = await send('releases', body)
    expect(released.lines.map(({ data }) => data.status)).toEqual(issued.map(() => 'valid'))
    expect(released.lines[0].data.releasedAt).toMatch(/Z$/)
  })

  test('refuses an impossible change on its own line', async () => {
    const [never, revoked] = await issueMany(2)
    await revoke(lines([{ publicId: revoked?.publicId }]))
    const names = [{ publicId: never?.publicId }, { publicId: revoked?.publicId }]
    const { lines: released } = await send('releases', lines(names))
    expect(released.map(({ error }) => error?.code)).toEqual(['not_suspended', 'already_revoked'])
    const { lines: bad } = await send(
      'suspensions',
      lines([{ publicId: never?.publicId, reason: 'keyCompromise' }]),
    )
    expect(bad[0].error.details).toMatchObject([{ field: 'reason' }])
  })
})
