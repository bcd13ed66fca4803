import { createDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'
import { createApp } from '#http/app.ts'
import { bind, type Resource } from '#http/core/operation.ts'
import type { AppDeps } from '#http/deps.ts'
import type { Grant } from '#keys/grant.ts'
import { MODULES } from '#modules/all.ts'
import type { DeskDeps } from '#modules/desk/deps.ts'
import { bySession } from '#modules/desk/people/signed-in.ts'
import { API_KEY } from './given.ts'

const GRANT: Grant = { id: 'test', tenant: 'default', scopes: ['admin'] }

const limiter = createMemoryRateLimiter(100)

export const ADDRESSES: AppDeps['addresses'] = {
  baseUrl: 'http://gateway.example',
  verifyUrl: 'http://gateway.example/verify',
  registry: `eip155:31337:0x${'11'.repeat(20)}`,
  network: 'test',
  issuerId: 1,
}

type Parts = AppDeps & DeskDeps

/** A part of the gateway that throws when it is used. */
const unused: unknown = new Proxy(() => {}, {
  get: () => unused,
  apply() {
    throw new Error('a part that should not be reached')
  },
})

/** The gateway's routes without any parts except those that a test supplies, also for modules. */
export function bareApp(parts: Partial<Parts> & Record<string, unknown> = {}) {
  const known: Partial<Parts> = {
    findKey: async (key) => (key === API_KEY ? GRANT : undefined),
    addresses: ADDRESSES,
    rateLimits: {
      keys: limiter,
      addresses: limiter,
      addressOf: () => '192.0.2.1',
      refused: () => {},
    },
    verifyPage: { html: '', policy: '' },
    deskPage: { html: '', policy: '', reader: '', texts: {} },
    peoplePage: 'desk',
    isErased: async () => false,
    metrics: { served: () => {} } as unknown as AppDeps['metrics'],
    wait: 0,
    newDeadline: () => createDeadline(1_000),
    ...parts,
  }
  const log: string[] = []
  const write = (event: string, fields?: object) => {
    log.push(JSON.stringify({ event, ...fields }))
  }
  const sink: Log = { debug: write, info: write, warn: write, error: write }
  const deps = new Proxy({ ...known, log: sink } as Parts, {
    get: (target, name) => (name in target ? Reflect.get(target, name) : unused),
  })
  deps.authenticators = [bySession(deps.addresses.baseUrl, (secret) => deps.sessions.find(secret))]
  // Each takes what it needs from the parts.
  const resources = MODULES.flatMap((one) => one.resources as readonly Resource[])
  return { app: createApp(deps, bind(resources, deps)), log }
}
