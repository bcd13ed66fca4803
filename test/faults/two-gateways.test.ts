import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { type GatewayProcess, gatewayProcess, settingsOf } from '../support/gateway-process.ts'
import { ADA, API_KEY } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { type LocalIssuer, startLocalIssuer } from '../support/local-issuer.ts'

type Issued = { publicId: string; documentHash: Hex; status: string }

let folder: string
let issuer: LocalIssuer
let gateways: [GatewayProcess, GatewayProcess]

/**
 * One issuer with two accounts and a gateway for each. They share the issuer secret and read each
 * other's payloads.
 */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  issuer = await startLocalIssuer(join(folder, 'chain'), 2)
  const settings = { ...settingsOf(issuer.chain.url, issuer.registry), LOG_LEVEL: 'silent' }
  const ports = [await freePort(), await freePort()]
  const [one, two] = issuer.keys.map((key, i) =>
    gatewayProcess({
      ...settings,
      PORT: String(ports[i]),
      DATA_DIR: join(folder, `gateway-${i}`),
      ISSUER_KEY: key,
      IPFS_GATEWAYS: `http://127.0.0.1:${ports[1 - i]}`,
    }),
  )
  if (!one || !two) throw new Error('two gateways')
  gateways = [one, two]
  await Promise.all([one.start(), two.start()])
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.kill()))
  await issuer.chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

const authorization = `Bearer ${API_KEY}`

/** @returns `undefined` when the gateway did not answer. */
async function issue({ url }: GatewayProcess, idempotencyKey: string): Promise<Issued | undefined> {
  try {
    const response = await fetch(`${url}/v1/documents`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(ADA),
    })
    const { data } = (await response.json()) as { data: Issued }
    return response.ok ? data : undefined
  } catch {
    return undefined
  }
}

async function statusOf({ url }: GatewayProcess, publicId: string) {
  const response = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
    headers: { authorization },
  })
  const { data } = (await response.json()) as { data: { status: string } }
  return data.status
}

async function issuedEvents(): Promise<Hex[]> {
  const topic = registryAbi.getEvent('DocumentIssued')?.topicHash
  const logs = await issuer.provider.request({
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', topics: [topic] }],
  })
  return (logs as { topics: Hex[] }[]).map(({ topics }) => topics[1] as Hex)
}

test('the same request at both gateways issues one document', async () => {
  const [one, two] = gateways
  const both = await Promise.all([issue(one, 'shared'), issue(two, 'shared')])
  expect(both[0]?.publicId).toBeDefined()
  expect(both[1]?.publicId).toBe(both[0]?.publicId)
  for (const gateway of gateways)
    await expect.poll(() => statusOf(gateway, both[0]?.publicId ?? '')).toBe('valid')
})

test('when one is killed under load, its clients continue at the other', async () => {
  const [doomed, other] = gateways
  const before = new Set(await issuedEvents())
  const answered = new Map<string, Issued>()
  const work = async (gateway: GatewayProcess, name: string) => {
    for (let i = 0; i < 20; i++) {
      const key = `${name}-${i}`
      const issued = (await issue(gateway, key)) ?? (await issue(other, key))
      if (issued) answered.set(key, issued)
    }
  }
  const load = [doomed, other].flatMap((gateway, g) =>
    Array.from({ length: 10 }, (_, i) => work(gateway, `load-${g}-${i}`)),
  )
  await expect.poll(() => answered.size).toBeGreaterThan(60)
  await doomed.kill()
  await Promise.all(load)
  expect(answered.size).toBe(400)
  await doomed.start()

  const ids = [...answered.values()]
  expect(new Set(ids.map(({ publicId }) => publicId)).size).toBe(400)
  for (const { publicId } of ids)
    for (const gateway of gateways)
      await expect.poll(() => statusOf(gateway, publicId)).toBe('valid')
  const events = (await issuedEvents()).filter((hash) => !before.has(hash))
  expect(events.length).toBe(new Set(events).size)
  expect(new Set(events)).toEqual(new Set(ids.map(({ documentHash }) => documentHash)))
})
