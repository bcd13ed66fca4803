// `node scripts/run.mjs tools/bench/attacks/attacks.ts [FOLDER]`: what others notice while one client
// attacks. FOLDER is a checkout of an older commit, set up, which is measured too.
//
//   --only NAME    one scenario
//   --seconds N    of each measurement, without and with the attack (10)
import { once } from 'node:events'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { freePort } from '#local-chain/free-port.ts'
import { inFolder, PROGRAMS, START_FLAGS } from '../measure.ts'
import { startScript, untilReady, usageOf } from '../processes.ts'
import { median } from '../quantile.ts'
import { table } from '../report.ts'
import { type Attack, client, type Target } from './attack.ts'
import { SCENARIOS } from './scenarios.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, seconds: { type: 'string', default: '10' } },
})
const seconds = Number(values.seconds)
const ROOT = new URL('../../..', import.meta.url).pathname
const HEALTH_INTERVAL_MS = 50
const WORK_INTERVAL_MS = 200
const ADMIN_KEY = 'the-key-of-the-benchmark'
const SCOPES = ['documents:issue', 'documents:read', 'documents:revoke', 'webhooks', 'verify']

/**
 * Times in milliseconds, and the number of failures: an error, or an answer other than 200 or 201.
 */
type Times = { health: number[]; issue: number[]; other: number[]; failed: number }
type Measured = Times & { cores: number; logBytes: number }

async function measure(attack: Attack, checkout: string): Promise<Measured[]> {
  return inFolder(async (dataDir) => {
    const url = `http://127.0.0.1:${await freePort()}`
    const log = join(dataDir, 'log')
    const file = openSync(log, 'w')
    const gateway = startScript(
      PROGRAMS.map((place) => join(checkout, place)).find(existsSync) ?? '',
      ['start'],
      {
        PORT: new URL(url).port,
        CHAIN_PORT: '0',
        DATA_DIR: join(dataDir, 'data'),
        API_KEY: ADMIN_KEY,
        ...attack.env,
      },
      START_FLAGS,
      file,
    )
    closeSync(file)
    try {
      await untilReady(`${url}/readyz`)
      const attacker = await targetOf(url, 'attacker')
      const other = await targetOf(url, 'other')
      const look = async (): Promise<Measured> => {
        const [before, logged] = [usageOf(gateway.pid)?.cpu ?? 0, statSync(log).size]
        const began = performance.now()
        const times = await measureTimes(attack, other)
        const passed = (performance.now() - began) / 1000
        const cores = ((usageOf(gateway.pid)?.cpu ?? Number.NaN) - before) / passed
        return { ...times, cores, logBytes: (statSync(log).size - logged) / passed }
      }
      const without = await look()
      return [without, await during(attack, attacker, look)]
    } finally {
      await gateway.stop()
    }
  })
}

async function during<T>(attack: Attack, target: Target, work: () => Promise<T>): Promise<T> {
  const { name } = attack
  const thread = new Worker(new URL('thread.ts', import.meta.url), { workerData: { name, target } })
  try {
    await once(thread, 'message')
    return await work()
  } finally {
    thread.postMessage('stop')
    await once(thread, 'exit')
  }
}

async function measureTimes({ other }: Attack, target: Target): Promise<Times> {
  const send = client(target.url)
  const times: Times = { health: [], issue: [], other: [], failed: 0 }
  const until = performance.now() + seconds * 1000
  async function repeat(into: number[], interval: number, work: () => Promise<unknown>) {
    while (performance.now() < until) {
      const began = performance.now()
      await work().catch(() => times.failed++)
      into.push(performance.now() - began)
      await sleep(interval)
    }
  }
  await Promise.all([
    repeat(times.health, HEALTH_INTERVAL_MS, async () => {
      if ((await send('/healthz')) !== 200) times.failed++
    }),
    repeat(times.issue, WORK_INTERVAL_MS, () => issue(target)),
    other && repeat(times.other, WORK_INTERVAL_MS, () => other(target)),
  ])
  return times
}

let issued = 0
async function issue({ url, key }: Target): Promise<void> {
  const document = { subjectName: 'Ada Lovelace', subjectId: `${issued++}`, category: 'diploma' }
  const response = await post(url, '/v1/documents', key, { ...document, issuedAt: '2026-01-31' })
  // Answers with 202 and 503 took time as well.
  if (response.status !== 503 && !response.ok)
    throw new Error(`issuing answered ${response.status}`)
  await response.arrayBuffer()
}

/** @returns The gateway with four keys of a tenant. */
async function targetOf(url: string, tenant: string): Promise<Target> {
  const key = await keyOf(url, tenant)
  const more = [await keyOf(url, tenant), await keyOf(url, tenant), await keyOf(url, tenant)]
  return { url, key, keys: [key, ...more] }
}

async function keyOf(url: string, tenant: string): Promise<string> {
  const response = await post(url, '/v1/keys', ADMIN_KEY, { tenant, scopes: SCOPES })
  const { data } = (await response.json()) as { data: { secret: string } }
  return data.secret
}

const post = (url: string, path: string, key: string, body: object) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })

const ms = (times: readonly number[]) =>
  times.length === 0 ? '' : `${median(times).toFixed(1)} / ${Math.max(...times).toFixed(0)}`

const [older] = positionals
const checkouts = [...(older ? [['before', resolve(older)]] : []), ['now', ROOT]]
const rows: string[][] = []
for (const attack of SCENARIOS) {
  if (values.only !== undefined && values.only !== attack.name) continue
  for (const [which = '', checkout = ''] of checkouts)
    for (const [i, row] of (await measure(attack, checkout)).entries())
      rows.push([
        `${attack.name}, ${which}, ${i === 0 ? 'without' : 'with'} the attack`,
        ms(row.health),
        ms(row.issue),
        ms(row.other),
        `${row.failed}`,
        row.cores.toFixed(2),
        (row.logBytes / 1024).toFixed(1),
      ])
}
const times = ['/healthz', 'issuing', 'other work'].map((name) => `${name}, median / max ms`)
console.log(table({ head: ['scenario', ...times, 'failed', 'cores', 'log KiB/s'], rows }))
