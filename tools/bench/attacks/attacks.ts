// `node scripts/run.mjs tools/bench/attacks/attacks.ts [FOLDER]`: what others notice while one client
// attacks. FOLDER is a checkout of an older commit, set up, which is measured too.
//
//   --only NAME    one scenario
//   --seconds N    of each measurement, without and with the attack (10)
import { once } from 'node:events'
import { closeSync, openSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { API_KEY, inFolder, startService } from '../measure.ts'
import { readOptions } from '../options.ts'
import { metered, ROOT } from '../processes.ts'
import { median } from '../quantile.ts'
import { type Columns, ratio, table, tableOf, tenths, whole } from '../report.ts'
import { documentOf, post } from '../requests.ts'
import { type Attack, client, type Target } from './attack.ts'
import { SCENARIOS } from './scenarios.ts'

const { only, seconds, given } = readOptions({ only: '', seconds: 10 })
const HEALTH_INTERVAL_MS = 50
const WORK_INTERVAL_MS = 200
const SCOPES = ['documents:issue', 'documents:read', 'documents:revoke', 'webhooks', 'verify']

/**
 * Times in milliseconds, and the number of failures: an error, or an answer other than 200 or 201.
 */
type Times = { health: number[]; issue: number[]; other: number[]; failed: number }
type Measured = Times & { cores: number; logBytes: number }

/** @returns What others noticed without the attack, and with it. */
const measure = (name: string, attack: Attack, checkout: string): Promise<[Measured, Measured]> =>
  inFolder(async (folder) => {
    const log = join(folder, 'log')
    const errors = openSync(log, 'w')
    const { env = {} } = attack
    const gateway = await startService(join(folder, 'data'), { checkout, env, errors })
    closeSync(errors)
    try {
      const attacker = await targetOf(gateway.url, 'attacker')
      const other = await targetOf(gateway.url, 'other')
      const look = async (): Promise<Measured> => {
        const logged = statSync(log).size
        const { result, seconds, cpu } = await metered({ gateway: gateway.pid }, () =>
          measureTimes(attack, other),
        )
        const logBytes = (statSync(log).size - logged) / seconds
        return { ...result, cores: cpu.gateway / seconds, logBytes }
      }
      return [await look(), await during(name, attacker, look)]
    } finally {
      await gateway.stop()
    }
  })

async function during<T>(name: string, target: Target, work: () => Promise<T>): Promise<T> {
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
async function issue(target: Target): Promise<void> {
  const response = await post(target, '/v1/documents', documentOf(issued++))
  // Answers with 202 and 503 took time as well.
  if (response.status !== 503 && !response.ok)
    throw new Error(`issuing answered ${response.status}`)
  await response.arrayBuffer()
}

/** @returns The gateway with four keys of a tenant. */
async function targetOf(url: string, tenant: string): Promise<Target> {
  const keys: string[] = []
  while (keys.length < 4) {
    const response = await post({ url, key: API_KEY }, '/v1/keys', { tenant, scopes: SCOPES })
    keys.push(((await response.json()) as { data: { secret: string } }).data.secret)
  }
  return { url, key: keys[0] ?? '', keys }
}

const ms = (times: readonly number[]) =>
  times.length === 0 ? '' : `${tenths(median(times))} / ${whole(Math.max(...times))}`

const COLUMNS: Columns<Measured & { scenario: string }> = {
  scenario: ({ scenario }) => scenario,
  '/healthz, median / max ms': ({ health }) => ms(health),
  'issuing, median / max ms': ({ issue }) => ms(issue),
  'other work, median / max ms': ({ other }) => ms(other),
  failed: ({ failed }) => whole(failed),
  cores: ({ cores }) => ratio(cores),
  'log KiB/s': ({ logBytes }) => tenths(logBytes / 1024),
}

const [older] = given
const checkouts = { ...(older && { before: resolve(older) }), now: ROOT }
const rows: (Measured & { scenario: string })[] = []
for (const [name, attack] of Object.entries(SCENARIOS))
  for (const [which, checkout] of Object.entries(checkouts)) {
    if (only !== '' && only !== name) continue
    const [without, attacked] = await measure(name, attack, checkout)
    rows.push({ ...without, scenario: `${name}, ${which}, without the attack` })
    rows.push({ ...attacked, scenario: `${name}, ${which}, with the attack` })
  }
console.log(table(tableOf(COLUMNS, rows)))
// A receiver of webhooks may still listen.
process.exit()
