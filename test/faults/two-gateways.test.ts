import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { ensureRegistry } from '#operate/local-registry.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { freePort } from '../support/http.ts'
import { ADA, API_KEY, randomKey } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

type Chain = Awaited<ReturnType<typeof startLocalChain>>
type Issued = { publicId: string; documentHash: Hex; status: string }

let folder: string
let chain: Chain
let provider: Eip1193Provider
let gateways: [GatewayProcess, GatewayProcess]

/**
 * One issuer with two accounts and a gateway for each. They share the issuer secret and read each
 * other's payloads.
 */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const [adminKey, ...issuerKeys] = [randomKey(), randomKey(), randomKey()]
  const [first = '', second = ''] = issuerKeys.map((key) => new Wallet(key).address)
  chain = await startLocalChain({
    dataDir: join(folder, 'chain'),
    port: 0,
    host: '127.0.0.1',
    log: () => {},
    fund: [new Wallet(adminKey).address, first, second],
  })
  provider = createFetchProvider(chain.url)
  const registry = await ensureRegistry(provider, adminKey, {
    account: first,
    name: 'Two gateways',
    uri: '',
  })
  await transact(provider, registry, adminKey, 'addAccount', [1, second, 3])
  const ports = [await freePort(), await freePort()]
  const issuerSecret = randomKey()
  const [one, two] = issuerKeys.map((key, i) =>
    gatewayProcess({
      PORT: String(ports[i]),
      DATA_DIR: join(folder, `gateway-${i}`),
      API_KEY,
      RPC_URL: chain.url,
      REGISTRY_ADDRESS: parseRegistryId(registry).address,
      ISSUER_ID: '1',
      ISSUER_KEY: key,
      ISSUER_SECRET: issuerSecret,
      MAX_HEAD_AGE_SECONDS: '999999999',
      IPFS_GATEWAYS: `http://127.0.0.1:${ports[1 - i]}`,
      LOG_LEVEL: 'silent',
    }),
  )
  if (!one || !two) throw new Error('two gateways')
  gateways = [one, two]
  await Promise.all([one.start(), two.start()])
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.kill()))
  await chain.stop()
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
  const logs = await provider.request({
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', topics: [topic] }],
  })
  return (logs as { topics: Hex[] }[]).map(({ topics }) => topics[1] as Hex)
}

test('behavior: the same request at both yields one document', async () => {
  const [one, two] = gateways
  const both = await Promise.all([issue(one, 'shared'), issue(two, 'shared')])
  expect(both[0]?.publicId).toBeDefined()
  expect(both[1]?.publicId).toBe(both[0]?.publicId)
  for (const gateway of gateways)
    await expect.poll(() => statusOf(gateway, both[0]?.publicId ?? '')).toBe('valid')
})

test('behavior: when one is killed under load, its clients continue at the other', async () => {
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
