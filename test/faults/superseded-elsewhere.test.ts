import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { ADA, randomKey } from '../support/given.ts'
import { freePort } from '../support/http.ts'

const KEY = 'a-key-that-only-the-tests-have'
const CORRECTED = { ...ADA, subjectName: 'Augusta Ada King' }

let folder: string
let gateway: GatewayProcess
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  gateway = gatewayProcess({
    PORT: `${await freePort()}`,
    CHAIN_PORT: `${await freePort()}`,
    DATA_DIR: join(folder, 'data'),
    API_KEY: KEY,
    ISSUER_KEY: randomKey(),
  })
  await gateway.start()
})
afterEach(async () => {
  await gateway.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function post(path: string, fields: object, idempotencyKey: string) {
  const response = await fetch(`${gateway.url}/v1/documents${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(fields),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  return { status: response.status, body: (await response.json()) as any }
}

test('a repeat at a gateway that did not supersede gives the same successor', async () => {
  const old = (await post('', ADA, 'issue')).body.data
  const path = `/${old.publicId}/supersede`
  const { status, body } = await post(path, CORRECTED, 'correct')
  expect(status).toBe(201)
  // With the same secret and an empty database it is another gateway of the issuer.
  await gateway.stop()
  for (const name of ['gateway.db', 'gateway.db-wal'])
    rmSync(join(folder, 'data', name), { force: true })
  await gateway.start()

  const repeat = await post(path, CORRECTED, 'correct')
  expect(repeat.status, JSON.stringify(repeat.body)).toBe(201)
  expect(repeat.body.data).toEqual(body.data)
  const other = await post(path, CORRECTED, 'another')
  expect(other).toMatchObject({ status: 409, body: { error: { code: 'already_superseded' } } })
})
