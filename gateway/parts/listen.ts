import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import { failUnrouted } from '#http/core/envelope.ts'
import { createRequestLines } from '#http/core/request-log.ts'
import type { openApp } from './app.ts'

/** How long clients may take to finish their requests when the service stops. */
const CLOSE_GRACE_MS = 1_000

/**
 * How slow a client may be, in milliseconds. Slower ones are disconnected, if possible with 408. The
 * time that the service takes does not count, so a request may wait long for its block.
 */
export type Patience = {
  /**
   * The time from the connection, or from the end of the previous request, to the end of the
   * headers.
   */
  headersTimeout: number
  /** The time between two checks of the connections. */
  connectionsCheckingInterval: number
  /** How long a client may take to send or read at least `minBytes`, in milliseconds. */
  windowMs: number
  /**
   * The minimum number of bytes of a body that a client must send in a window, unless the body
   * ends.
   */
  minBytes: number
  /** How long a client may take to send a request and to read its answer, in milliseconds. */
  totalMs: number
  /** For this many bytes, sent or read, a client gets one more second. */
  bytesPerSecond: number
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
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

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
  app: ReturnType<typeof openApp>['app'],
  { host, port }: { host: string; port: number },
  { log, metrics }: { log: Log; metrics: Pick<Metrics, 'served'> },
  patience: Patience = PATIENCE,
): Promise<Listener> {
  const { headersTimeout, connectionsCheckingInterval } = patience
  // `requestTimeout` would limit the time of a whole request, however fast its bytes come.
  const timeouts = { headersTimeout, connectionsCheckingInterval, requestTimeout: 0 }
  const write = createRequestLines(log)
  const clients = watchClients(patience)
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

/**
 * Disconnects clients that read nothing of their answer for a window.
 *
 * Node notices when nothing moves on a connection for a window. This is the client's fault only
 * while there is something for it to read, because a request may wait longer for its block.
 */
function cutOffIdleReaders(server: Server, { windowMs }: Patience): void {
  server.setTimeout(windowMs, (socket: Socket) => {
    // The connection is reset, because the system would otherwise keep what was sent and not read.
    if (socket.writableLength > 0) socket.resetAndDestroy()
  })
}

/** Disconnects clients that send their bodies or read their answers too slowly. */
type ClientWatch = {
  watch(incoming: IncomingMessage, outgoing: ServerResponse): void
  stop(): void
}

function watchClients(patience: Patience): ClientWatch {
  // The newest request of each connection, because there are fewer connections than requests.
  const newest = new Map<Socket, Watched>()

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, request] of newest) {
      const { incoming, outgoing } = request
      const hasEnded = incoming.complete && outgoing.writableFinished
      if (hasEnded || socket.destroyed) newest.delete(socket)
      else if (isTooSlow(request, patience, now)) cutOff(request)
    }
  }, patience.connectionsCheckingInterval).unref()

  return {
    watch(incoming, outgoing) {
      const { socket } = incoming
      const now = performance.now()
      const start = { waited: 0, before: socket.bytesRead + socket.bytesWritten }
      const former = newest.get(socket)
      // A client that sends several requests at once has not yet read the earlier answers.
      const { waited, before } = former && !former.outgoing.writableFinished ? former : start
      newest.set(socket, {
        incoming,
        outgoing,
        since: now,
        bytes: socket.bytesRead,
        checkedAt: now,
        waited,
        before,
      })
    },
    stop: () => clearInterval(timer),
  }
}

/** A request. Its times are those of `performance.now()`. */
type Watched = {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** When the current window of its body began. */
  since: number
  /** The number of bytes that its connection had received at that time. */
  bytes: number
  /** When it was last checked. */
  checkedAt: number
  /** How long the service has waited for the client, in milliseconds. */
  waited: number
  /** The number of bytes that its connection had moved when the request came. */
  before: number
}

/** Records the progress of a request. @returns Whether its client is too slow. */
function isTooSlow(request: Watched, patience: Patience, now: number): boolean {
  const { complete, readableLength, socket } = request.incoming
  // Bytes that have not been read yet wait for the service, and so does a client that has nothing
  // to read.
  const waitsForUs = complete ? socket.writableLength === 0 : readableLength > 0
  if (!waitsForUs) request.waited += now - request.checkedAt
  request.checkedAt = now
  if (complete || waitsForUs || socket.bytesRead - request.bytes >= patience.minBytes) {
    request.since = now
    request.bytes = socket.bytesRead
  }
  const moved = socket.bytesRead + socket.bytesWritten - request.before
  const total = patience.totalMs + (1_000 * moved) / patience.bytesPerSecond
  return now - request.since > patience.windowMs || request.waited > total
}

function cutOff({ incoming, outgoing }: Watched): void {
  if (incoming.complete) return void incoming.socket.resetAndDestroy()
  if (!outgoing.headersSent) incoming.socket.write(TIMED_OUT)
  incoming.destroy()
}
