import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { shortFingerprint } from '#store/binding.ts'
import { ADA, API_KEY, randomKey } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { type LocalGateway, localGateway } from './local-gateway.ts'

const OLD = randomKey()
const NEW = randomKey()
const GRACE = { ...ADA, subjectName: 'Grace Hopper' }

let dataDir: string
let gateway: LocalGateway
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rotate-'))
  gateway = localGateway({
    PORT: String(await freePort()),
    CHAIN_PORT: '0',
    DATA_DIR: dataDir,
    API_KEY,
  })
})
afterEach(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(...secrets: Hex[]): Promise<void> {
  await gateway.stop()
  await gateway.start({ ISSUER_SECRET: secrets.join(',') })
}

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${API_KEY}`, ...init.headers },
  })
  const { data, error } = (await response.json()) as {
    data: { publicId: string; status: string; blockchainHash: string }
    error?: { code: string }
  }
  const replayed = response.headers.get('idempotency-replayed') === 'true'
  return { status: response.status, replayed, code: error?.code, data }
}

const issue = (key: string, fields: object = ADA) =>
  ask('/v1/documents', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(fields),
  })

const retrieve = (publicId: string) => ask(`/v1/documents/${publicId}`)

test('seals with the rotated secret; opens and repeats documents of the older one', async () => {
  await start(OLD)
  const first = await issue('before')
  expect(first).toMatchObject({ status: 201, replayed: false })

  await start(NEW, OLD)
  const second = await issue('after', GRACE)
  expect(second).toMatchObject({ status: 201, replayed: false })
  await start(NEW, OLD)
  for (const { data } of [first, second])
    expect(await retrieve(data.publicId)).toMatchObject({
      data: { status: 'valid', blockchainHash: data.blockchainHash },
    })
  const repeats = [await issue('before'), await issue('after', GRACE)]
  for (const [i, issued] of [first, second].entries())
    expect(repeats[i]).toMatchObject({
      replayed: true,
      data: { publicId: issued.data.publicId },
    })
  expect(await issue('before', GRACE)).toMatchObject({
    status: 422,
    code: 'idempotency_key_reused',
  })
})

test('finds a repeat under the older secret on the chain when its keys are lost', async () => {
  await start(OLD)
  const first = await issue('before')
  await gateway.stop()
  const database = new DatabaseSync(join(dataDir, 'gateway.db'))
  database.exec('UPDATE record SET request = NULL')
  database.close()
  await start(NEW, OLD)
  for (let time = 0; time < 2; time++)
    expect(await issue('before')).toMatchObject({
      replayed: true,
      data: { publicId: first.data.publicId },
    })
})

test('does not start without each secret it has used, and names the missing one', async () => {
  await start(OLD)
  await start(NEW, OLD)
  await gateway.stop()
  const [newer = '', older = ''] = fingerprintsOf([NEW, OLD]).map(shortFingerprint)
  const missing = (fingerprint: string) =>
    `its issuer secret with the fingerprint ${fingerprint} is missing`
  for (const [secrets, message] of [
    [[NEW], missing(older)],
    [[OLD], missing(newer)],
    [[randomKey(), NEW], missing(older)],
    [[OLD, NEW], `put the newest first and then ${newer}, ${older}`],
  ] as const) {
    const { message: told } = await start(...secrets).catch((error) => error)
    expect(told).toContain(message)
    for (const secret of [OLD, NEW]) expect(told).not.toContain(secret)
  }
  await start(NEW, OLD)
})
