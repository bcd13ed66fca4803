import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { localAnvil } from '../support/anvil.ts'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { API_KEY, randomKey } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { freshSeed, type Random, seededRandom } from '../support/random.ts'
import { type Client, createClient } from './support/client.ts'
import { falseVerdict } from './support/false-verdict.ts'
import { type Ledger, readLedger } from './support/ledger.ts'
import { type Folder, temporaryFolder } from './support/machine.ts'
import { judge, NOTHING_WRONG } from './support/oracle.ts'
import { promisesOf, type Wish } from './support/wish.ts'

// A restore drill beside the live service: its data folder is copied while it issues, and the copy
// is started on other ports, used, stopped or killed. Each folder has a local chain.

const CONNECTIONS = 6
/** The test makes copies until the service has acknowledged this many more documents. */
const DOCUMENTS_PER_COPY = 60
/** How long an acknowledged document may take to reach the chain; milliseconds. */
const PATIENCE = 120_000

type Service = {
  dataDir: string
  gateway: GatewayProcess
  client: Client
  ledger: Ledger
  /** Its chain is never rewritten. */
  chain: { rewrites: number }
}

const issuerSecret = randomKey()
let folder: Folder
let services: Service[]
let live: Service
beforeEach(async () => {
  folder = temporaryFolder()
  services = []
  live = await startService(join(folder.dir, 'live'))
})
afterEach(async () => {
  for (const { gateway, client } of services) {
    if (gateway.running()) await gateway.stop()
    await client.close()
  }
  folder.remove()
})

async function startService(dataDir: string): Promise<Service> {
  const chainPort = await freePort()
  const gateway = gatewayProcess({
    PORT: String(await freePort()),
    CHAIN_PORT: String(chainPort),
    DATA_DIR: dataDir,
    API_KEY,
    ISSUER_SECRET: issuerSecret,
  })
  await gateway.start()
  const [registry = ''] = /eip155:\d+:0x[0-9a-f]{40}/.exec(gateway.output()) ?? []
  const node = createFetchProvider(`http://127.0.0.1:${chainPort}`, 60_000)
  const ledger = readLedger(
    <T>(method: string, ...params: unknown[]) => node.request({ method, params }) as Promise<T>,
    registry,
  )
  const client = createClient(gateway.url)
  const service = { dataDir, gateway, client, ledger, chain: { rewrites: 0 } }
  services.push(service)
  return service
}

test('copies of its data folder do not disturb a gateway that issues', async () => {
  const seed = freshSeed()
  const random = seededRandom(seed)
  let working = true
  let falseVerdicts = 0
  const work = async () => {
    while (working) {
      await issueOne(live, random)
      await sleep(100)
    }
  }
  const look = async () => {
    while (working) {
      const { wishes } = live.client
      const wish = wishes[random.below(wishes.length)]
      if (wish && (await falseVerdict(live, wish))) falseVerdicts++
      await sleep(10)
    }
  }
  const load = [...Array.from({ length: CONNECTIONS }, work), look()]
  const copies: Service[] = []
  try {
    for (const end of ['stop', 'kill', 'stop'] as const) {
      await untilAcknowledged(acknowledged().length + DOCUMENTS_PER_COPY)
      copies.push(await drill(copies.length + 1, end))
    }
    await untilAcknowledged(acknowledged().length + DOCUMENTS_PER_COPY)
  } finally {
    working = false
    await Promise.all(load)
  }

  const promised = acknowledged()
  await Promise.all(promised.map((wish) => untilValid(live, wish)))
  expect(await judge({ ...live, issuerSecret }), `seed ${seed}`).toMatchObject({
    ...NOTHING_WRONG,
    acknowledged: promised.length,
    onChain: promised.length,
  })
  expect(falseVerdicts).toBe(0)
  expect(live.gateway.output()).not.toMatch(/Anvil|Replayed/)
  expect(await live.gateway.stop()).toBe(0)
  for (const { dataDir } of [live, ...copies])
    expect(localAnvil(join(dataDir, 'chain'))).toBeUndefined()
})

/**
 * Starts a copy, checks it for what the service had acknowledged before, issues with it, and ends
 * it.
 */
async function drill(n: number, end: 'stop' | 'kill'): Promise<Service> {
  const before = acknowledged()
  const dataDir = join(folder.dir, `copy-${n}`)
  await copy(live.dataDir, dataDir)
  const service = await startService(dataDir)
  await Promise.all(before.map((wish) => untilValid(service, wish)))
  const own = await Promise.all(Array.from({ length: 5 }, () => service.client.issue()))
  if (end === 'kill') {
    await service.gateway.kill()
    await service.gateway.start()
  }
  for (const wish of own) expect(promisesOf(wish)).toHaveLength(1)
  await Promise.all(own.map((wish) => untilValid(service, wish)))
  expect(await service.gateway.stop()).toBe(0)
  return service
}

async function copy(from: string, to: string): Promise<void> {
  const [status] = await once(spawn('cp', ['-r', from, to]), 'exit')
  expect(status).toBe(0)
}

async function issueOne({ client }: Service, random: Random): Promise<void> {
  const respondAsync = random.next() < 0.2
  const idempotencyKey = random.next() < 0.3 ? crypto.randomUUID() : undefined
  const wish = await client.issue({
    respondAsync,
    ...(idempotencyKey && { idempotencyKey }),
  })
  if (idempotencyKey && random.next() < 0.5) await client.repeat(wish)
}

const acknowledged = (): Wish[] => live.client.wishes.filter((wish) => promisesOf(wish).length > 0)

async function untilAcknowledged(count: number): Promise<void> {
  const deadline = performance.now() + PATIENCE
  while (acknowledged().length < count) {
    if (performance.now() > deadline)
      throw new Error(`the service makes no progress:\n${live.gateway.output()}`)
    await sleep(20)
  }
}

async function untilValid({ client }: Service, wish: Wish): Promise<void> {
  const [publicId = ''] = promisesOf(wish)
  await expect
    .poll(async () => (await client.verify(publicId)).status, {
      timeout: PATIENCE,
      interval: 50,
    })
    .toBe('valid')
}
