import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import { createKeySigner } from '#chain/signer.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { readConfig } from '#settings/config.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { ISSUER_KEY } from '../../support/corpus/chain.ts'
import { didFetchOf, identityTold } from '../../support/corpus/judge.ts'
import { FIELDS, ISSUER_SECRET, REGISTRY } from '../../support/corpus/payload.ts'
import type { CorpusCase, World } from '../../support/corpus/world.ts'
import { freePort } from '../../support/http.ts'
import { API_KEY, startGatewayFor } from '../../support/stack.ts'

export type RestAnswer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  body: any
}

/** A real gateway of the corpus's issuer that reads each case through its node and sources. */
export type RestDoor = {
  /** Verifies one case at a time, because a gateway has one list of nodes. */
  verify(one: CorpusCase, publicId: string): Promise<RestAnswer>
  stop(): Promise<void>
}

const noDomain: typeof fetch = async () => {
  throw new Error('no such domain')
}

/** Longer than the timeout of the domain, in milliseconds. */
const DOMAIN_PATIENCE = 60_000

/** The timeout in seconds; the gateway has one for all cases. */
const TIMEOUT = 3

export async function startRestDoor(world: World): Promise<RestDoor> {
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const rpc = switchable(world.chainUrl)
  const sources = Math.max(...world.cases.map(({ ipfs }) => ipfs.length))
  const widest = world.cases.find(({ ipfs }) => ipfs.length === sources)
  const config = readConfig({
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    API_KEY,
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    // The CID identifies the case, so one list of sources serves all.
    IPFS_GATEWAYS: (widest?.ipfs ?? []).join(','),
    IPFS_TIMEOUT_SECONDS: String(TIMEOUT),
    MAX_HEAD_AGE_SECONDS: String(widest?.maxHeadAge),
  })
  const erased = known(world, 'erased')
  await bury(
    dataDir,
    erased.map(({ documentHash }) => documentHash),
  )
  let fetchDid = noDomain
  const identity = {
    rpc,
    registry: REGISTRY,
    signer: createKeySigner(ISSUER_KEY),
    issuerSecrets: [ISSUER_SECRET] as [Hex],
    fetchDid: async (...args: Parameters<typeof fetch>) => fetchDid(...args),
  }
  const gateway = await startGatewayFor(config, identity)
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${API_KEY}`, ...init.headers }
    const url = `${config.baseUrl}${path}`
    const response = await fetch(url, { ...init, headers })
    return { status: response.status, body: await response.json() }
  }

  for (const { case: name } of known(world, 'promised')) await promise(request, name)
  return {
    async verify(one, publicId) {
      rpc.through(one.rpc)
      fetchDid = didFetchOf(one)
      const path = `/v1/verify?publicId=${encodeURIComponent(publicId)}`
      try {
        const answer = await request(path)
        if (!one.domain) return answer
        // The first verdict does not wait for the domain's answer.
        const deadline = performance.now() + DOMAIN_PATIENCE
        for (let later = answer; ; later = await request(path)) {
          const checks = later.body.data?.checks ?? later.body.error.details
          const told = identityTold(checks)
          if (told !== 'unknown not_asked') return later
          if (performance.now() > deadline) return later
          await sleep(20)
        }
      } finally {
        fetchDid = noDomain
        rpc.through([world.chainUrl])
      }
    },
    async stop() {
      await gateway.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function known(
  { cases }: World,
  what: 'promised' | 'erased',
): { case: string; documentHash: Hex }[] {
  return cases.flatMap(({ case: name, gateway }) =>
    gateway?.knows === what ? [{ case: name, documentHash: gateway.documentHash }] : [],
  )
}

type Request = (path: string, init?: RequestInit) => Promise<RestAnswer>

/** Issues with the case's name as the idempotency key, which gives the publicId of the case. */
async function promise(request: Request, name: string): Promise<void> {
  const { status } = await request('/v1/documents', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': name,
      prefer: 'respond-async',
    },
    body: JSON.stringify(FIELDS),
  })
  if (status !== 202) throw new Error(`${name}: expected a promise, got ${status}`)
}

/**
 * No route has erased yet, so this inserts the tombstone directly, before the gateway locks the
 * file.
 */
async function bury(dataDir: string, hashes: Hex[]): Promise<void> {
  const database = openSqlite(join(dataDir, 'gateway.db'))
  const insert = database.sqlite.prepare('INSERT INTO tombstone VALUES (?)')
  for (const hash of hashes) insert.run(fromHex(hash))
  await database.close()
}

/** A pool with replaceable endpoints. It drops transactions, so promises stay pending. */
function switchable(url: string): RpcPool & { through(urls: readonly string[]): void } {
  const pools = new Map<string, RpcPool>()
  const poolOf = (urls: readonly string[]) => {
    const key = urls.join()
    const pool = pools.get(key) ?? createRpcPool(urls, TIMEOUT * 1000)
    pools.set(key, pool)
    return pool
  }
  let current = poolOf([url])
  return {
    through(urls) {
      current = poolOf(urls)
    },
    async request(args) {
      if (args.method === 'eth_sendRawTransaction') throw new Error('the network is down')
      return current.request(args)
    },
    apart() {
      return this
    },
    sent: new Map(),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}
