import { setTimeout as sleep } from 'node:timers/promises'
import { IS_LONG } from '#test/support/long.ts'

/** An offer, as its holder gives it to a wallet. */
export type HandedOffer = { offerUrl: string; txCode: string }

/** What a module of the suite said, with the checks that failed or warned. */
export type Outcome = { module: string; result: string; findings: string[] }

type Plan = {
  name: string
  variant: Record<string, string>
  config: Record<string, unknown> & { alias: string }
  /** The only modules to run; absent = all. */
  only?: readonly string[]
}

const MODULE_TIMEOUT_MS = 60_000
const INTERVAL_MS = 100

/** @returns The address of a running suite, if somebody named one; else its tests are skipped. */
export function findSuite(): string | undefined {
  // biome-ignore lint/style/noProcessEnv: which suite is the choice of whoever runs it.
  const url = process.env.CONFORMANCE_SUITE
  if (IS_LONG && url === undefined)
    // biome-ignore lint/suspicious/noConsole: a skipped test needs a reason.
    console.warn('skipped: CONFORMANCE_SUITE is not the address of a conformance suite')
  return url
}

/**
 * Runs modules of the OpenID Foundation's conformance suite, which plays the wallet.
 *
 * @param url The address of a suite that runs in its development mode.
 * @param offer Makes an offer whenever a module waits for one.
 */
export async function runPlan(
  url: string,
  { name, variant, config, only }: Plan,
  offer: () => Promise<HandedOffer>,
): Promise<Outcome[]> {
  // It expects a proxy for https in front of it.
  const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' }
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, { ...init, headers })
    if (response.ok) return response.json()
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
  /** The module fails by itself when the wallet fails at what it gets. */
  const hand = (path: string, parameters: Record<string, string>) =>
    fetch(`${url}/test/a/${config.alias}/${path}?${new URLSearchParams(parameters)}`, { headers })

  async function run(testModule: string, own: object): Promise<Outcome> {
    const parameters = { test: testModule, plan: id, variant: JSON.stringify(own) }
    const started = await ask(`/api/runner?${new URLSearchParams(parameters)}`, { method: 'POST' })
    const end = Date.now() + MODULE_TIMEOUT_MS
    for (;;) {
      const { status, result } = await ask(`/api/info/${started.id}`)
      if (status === 'FINISHED' || status === 'INTERRUPTED') {
        const log: { result?: string; src: string; msg: string }[] = await ask(
          `/api/log/${started.id}`,
        )
        const bad = log.filter((entry) => entry.result === 'FAILURE' || entry.result === 'WARNING')
        return { module: testModule, result, findings: bad.map(({ src, msg }) => `${src}: ${msg}`) }
      }
      if (Date.now() > end) throw new Error(`${testModule} is still ${status}`)
      // It also waits for a moment before it begins.
      const { exposed } = await ask(`/api/runner/${started.id}`)
      const isAsking = 'credential_offer_endpoint' in exposed && !('tx_code_endpoint' in exposed)
      if (status === 'WAITING' && isAsking) {
        const { offerUrl, txCode } = await offer()
        await hand('credential_offer', { credential_offer_uri: offerUrl })
        await hand('tx_code', { code: txCode })
      }
      await sleep(INTERVAL_MS)
    }
  }

  const query = new URLSearchParams({ planName: name, variant: JSON.stringify(variant) })
  const plan = await ask(`/api/plan?${query}`, { method: 'POST', body: JSON.stringify(config) })
  const { id } = plan
  const modules: { testModule: string; variant?: object }[] = plan.modules
  const outcomes: Outcome[] = []
  for (const { testModule, variant: own = {} } of modules)
    if (only === undefined || only.includes(testModule)) outcomes.push(await run(testModule, own))
  return outcomes
}
