import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import { createPaceWatch, cutOffIdleReaders, type Pace } from '#base/stalls.ts'
import { failUnrouted } from '#http/core/envelope.ts'
import { createRequestLines } from '#http/core/request-log.ts'
import type { openApp } from './app.ts'

/** How long clients may take to finish their requests when the service stops. */
const CLOSE_GRACE_MS = 1_000

/**
 * How long clients may take, in milliseconds. Slower ones are disconnected, if possible with 408.
 */
export type Patience = Pace & {
  /**
   * The time from the connection, or from the end of the previous request, to the end of the
   * headers.
   */
  headersTimeout: number
  /** The time between two checks of the connections. */
  connectionsCheckingInterval: number
}
const PATIENCE: Patience = {
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  windowMs: 60_000,
  // The minimum is 16 KiB per second.
  minBytes: 960 * 1024,
  totalMs: 5 * 60_000,
  bytesPerSecond: 64 * 1024,
}
/** With larger headers, a client gets 431 and is disconnected. */
const MAX_HEADER_BYTES = 16 * 1024

export type Listener = {
  port: number
  /**
   * Accepts no more connections, lets `work` finish, and then gives clients a short time to finish
   * their requests.
   */
  stop(work: () => Promise<unknown>): Promise<void>
}

/** Serves an app over HTTP. Rejects when the port cannot be opened. */
export async function listen(
  app: ReturnType<typeof openApp>,
  { host, port }: { host: string; port: number },
  { log, metrics }: { log: Log; metrics: Pick<Metrics, 'served'> },
  patience: Patience = PATIENCE,
): Promise<Listener> {
  const { headersTimeout, connectionsCheckingInterval } = patience
  // `requestTimeout` would limit the time of a whole request, however fast its bytes come.
  const timeouts = { headersTimeout, connectionsCheckingInterval, requestTimeout: 0 }
  const write = createRequestLines(log)
  const clients = createPaceWatch(patience, connectionsCheckingInterval)
  const options = { ...timeouts, maxHeaderSize: MAX_HEADER_BYTES }
  const server = createServer(options, (incoming, outgoing) => {
    const { method = '' } = incoming
    clients.watch(incoming, outgoing)
    const started = performance.now()
    // Each request has its own listener, because the error handler gets only the error.
    const respond = getRequestListener(app.fetch, {
      hostname: host,
      errorHandler(error) {
        const response = failUnrouted(error, { method, started }, log, write)
        const milliseconds = performance.now() - started
        metrics.served({ method, route: '*', status: response.status, milliseconds })
        return response
      },
    })
    return respond(incoming, outgoing)
  })
  cutOffIdleReaders(server, patience)
  server.listen(port, host)
  await new Promise((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const address = server.address() as AddressInfo
  log.info('listening', { port: address.port })

  return {
    port: address.port,
    async stop(work) {
      const closed = new Promise((resolve) => server.close(resolve))
      await work()
      // Clients that are still sending or have stopped reading have had enough time.
      setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS).unref()
      await closed
      clients.stop()
    },
  }
}
