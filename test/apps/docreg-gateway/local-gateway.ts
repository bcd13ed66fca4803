import { openIdentity } from '#operate/identity.ts'
import { readConfig } from '#settings/config.ts'
import { startGatewayFor } from '../../support/stack.ts'

/** A gateway in this process, which a test stops and starts again like one in its own. */
export type LocalGateway = {
  url: string
  /** Rejects with what a process would print. */
  start(env?: Record<string, string>): Promise<void>
  /** Stops it, if it runs. */
  stop(): Promise<void>
}

/** @param env The settings, as of `gatewayProcess`. Without `RPC_URL` it runs the local chain. */
export function localGateway(env: Record<string, string>): LocalGateway {
  const stops: (() => Promise<void>)[] = []

  async function stop(): Promise<void> {
    for (const one of stops.splice(0)) await one()
  }

  return {
    url: `http://127.0.0.1:${env.PORT}`,
    async start(more = {}) {
      const config = readConfig({ LOG_LEVEL: 'silent', RATE_LIMIT: 'off', ...env, ...more })
      try {
        const identity = await openIdentity(config, stops, () => {})
        const gateway = await startGatewayFor(config, identity)
        stops.unshift(gateway.stop)
      } catch (error) {
        await stop()
        throw error
      }
    },
    stop,
  }
}
