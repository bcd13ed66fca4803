import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeDatabases } from '#test/support/databases.ts'
import { type Desk, signIn } from '#test/support/desk.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

type Shown = { act: string; actor: { kind: string; label: string | null } | null }

describeDatabases('actors', (settings) => {
  let stack: Stack
  let maria: Desk
  let noor: Desk
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '15', ...(await settings()) })
    maria = await signIn(stack, { name: 'Maria', role: 'registrar', tenant: 'one' })
    noor = await signIn(stack, { name: 'Noor Ali', role: 'registrar', tenant: 'one' })
  })
  afterAll(() => stack.stop())

  const issue = async (desk: Desk) =>
    (await desk.send('POST', '/v1/documents', ADA)).body.data.documentHash as string
  const actsOf = async (desk: Desk, hash: string) =>
    ((await desk.send('GET', `/v1/documents/${hash}/acts`)).body.data.acts as Shown[]).map(
      ({ act, actor }) => `${act} ${actor?.kind} ${actor?.label}`,
    )
  const admin = (method: string, path: string) =>
    stack.request(path, { method, headers: { authorization: `Bearer ${API_KEY}` } })
  /** Events are written after the answer. */
  const actorsOf = async (desk: Desk, hash: string, count: number) => {
    const read = async (): Promise<string[]> => {
      const { events } = (await desk.send('GET', '/v1/events?limit=1000')).body.data
      return events
        .filter(({ data, type }: { data: { documentHash?: string }; type: string }) =>
          data.documentHash === hash ? !type.endsWith('.final') : false,
        )
        .map(
          ({ type, data }: { type: string; data: { actor: Shown['actor'] } }) =>
            `${type.split('.')[1]} ${data.actor?.label}`,
        )
    }
    await expect.poll(async () => (await read()).length).toBe(count)
    return read()
  }

  test('are named for issuing, suspending, releasing and revoking', async () => {
    const hash = await issue(maria)
    for (const change of ['suspend', 'release', 'suspend', 'suspend'])
      expect((await noor.send('POST', `/v1/documents/${hash}/${change}`)).status).toBe(200)
    await maria.send('POST', `/v1/documents/${hash}/revoke`)
    await noor.send('POST', `/v1/documents/${hash}/revoke`)
    expect(await actsOf(noor, hash)).toEqual([
      'issue person Maria',
      'suspend person Noor Ali',
      'release person Noor Ali',
      'suspend person Noor Ali',
      'revoke person Maria',
    ])
    expect(await actorsOf(maria, hash, 5)).toEqual([
      'issued Maria',
      'suspended Noor Ali',
      'released Noor Ali',
      'suspended Noor Ali',
      'revoked Maria',
    ])
  })

  test('are named for correcting and erasing', async () => {
    const hash = await issue(maria)
    const { body } = await noor.send('POST', `/v1/documents/${hash}/supersede`, ADA)
    expect(body.data.superseded.documentHash).toBe(hash)
    expect(await actsOf(maria, body.data.documentHash)).toEqual(['issue person Noor Ali'])
    await maria.send('DELETE', `/v1/documents/${hash}/payload`)
    expect(await actsOf(maria, hash)).toEqual([
      'issue person Maria',
      'supersede person Noor Ali',
      'erase person Maria',
    ])
    expect(await actorsOf(maria, hash, 3)).toEqual([
      'issued Maria',
      'superseded Noor Ali',
      'erased Maria',
    ])
  })

  test('of a batch are actors of each of its documents', async () => {
    const { body } = await stack.request('/v1/batches', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-ndjson',
        cookie: maria.cookie,
        'x-csrf-token': maria.csrfToken,
      },
      body: JSON.stringify(ADA),
    })
    const { documentHash, batchRoot } = JSON.parse(Buffer.from(body).toString()).data
    await noor.send('POST', `/v1/batches/${batchRoot}/suspend`)
    await noor.send('POST', `/v1/documents/${documentHash}/revoke`)
    expect(await actsOf(maria, documentHash)).toEqual([
      'issue person Maria',
      'suspend person Noor Ali',
      'revoke person Noor Ali',
    ])
  })

  test('of another tenant are not named', async () => {
    const hash = await issue(maria)
    await admin('POST', `/v1/documents/${hash}/suspend`)
    expect(await actsOf(maria, hash)).toEqual(['issue person Maria', 'suspend undefined undefined'])
    expect(await actorsOf(maria, hash, 2)).toEqual(['issued Maria', 'suspended undefined'])
    const { acts } = (await admin('GET', `/v1/documents/${hash}/acts`)).body.data
    expect(acts[1].actor.kind).toBe('key')
  })

  test('keep their name when the person is removed', async () => {
    const eve = await signIn(stack, { name: 'Eve', role: 'clerk', tenant: 'one' })
    const hash = await issue(eve)
    await admin('DELETE', `/v1/people/${eve.id}`)
    expect((await eve.send('GET', '/v1/documents')).status).toBe(401)
    expect(await actsOf(maria, hash)).toEqual(['issue person Eve'])
  })
})
