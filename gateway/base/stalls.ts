import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How slow a client may be. The time that the service takes does not count, so a request may wait
 * long for its block.
 */
export type Pace = {
  /** How long a client may take to send, or to read, as little as follows; milliseconds. */
  windowMs: number
  /** Bytes of a body that a client sends in a window, at least, unless the body ends. */
  minBytes: number
  /** How long a client may take to send a request and to read its answer; milliseconds. */
  totalMs: number
  /** Bytes, sent or read, that give a client one second more. */
  bytesPerSecond: number
}

const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/**
 * Cuts off clients that read nothing of their answer for a window.
 *
 * Node notices a window without any movement on a connection. That is a client's fault only while
 * there is something to read for it: a request may wait longer for its block.
 */
export function cutOffIdleReaders(server: Server, { windowMs }: Pace): void {
  server.setTimeout(windowMs, (socket: Socket) => {
    // A reset: the system would keep what was sent and not read.
    if (socket.writableLength > 0) socket.resetAndDestroy()
  })
}

/** Cuts off clients that send their bodies, or read their answers, too slowly. */
export type PaceWatch = {
  watch(incoming: IncomingMessage, outgoing: ServerResponse): void
  stop(): void
}

/** @param intervalMs Between two checks of the connections. */
export function createPaceWatch(pace: Pace, intervalMs: number): PaceWatch {
  // By connection, of which there are fewer than requests.
  const newest = new Map<Socket, Watched>()

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, request] of newest) {
      const { incoming, outgoing } = request
      const hasEnded = incoming.complete && outgoing.writableFinished
      if (hasEnded || socket.destroyed) newest.delete(socket)
      else if (isTooSlow(request, pace, now)) cutOff(request)
    }
  }, intervalMs).unref()

  return {
    watch(incoming, outgoing) {
      const { socket } = incoming
      const now = performance.now()
      const start = { waited: 0, before: socket.bytesRead + socket.bytesWritten }
      const former = newest.get(socket)
      // A client that sends requests ahead has not read the answers of the former ones.
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

/** A request. Times are as `performance.now()` counts. */
type Watched = {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** When the newest window of its body began. */
  since: number
  /** That its connection had received then. */
  bytes: number
  /** When it was last checked. */
  checkedAt: number
  /** For how long the client was waited for; milliseconds. */
  waited: number
  /** Bytes that its connection had moved when the request came. */
  before: number
}

/** Notes how a request gets on. @returns Whether its client takes too long. */
function isTooSlow(request: Watched, pace: Pace, now: number): boolean {
  const { complete, readableLength, socket } = request.incoming
  // Bytes that nobody has taken yet wait for us, and so does a client without anything to read.
  const waitsForUs = complete ? socket.writableLength === 0 : readableLength > 0
  if (!waitsForUs) request.waited += now - request.checkedAt
  request.checkedAt = now
  if (complete || waitsForUs || socket.bytesRead - request.bytes >= pace.minBytes) {
    request.since = now
    request.bytes = socket.bytesRead
  }
  const moved = socket.bytesRead + socket.bytesWritten - request.before
  const total = pace.totalMs + (1_000 * moved) / pace.bytesPerSecond
  return now - request.since > pace.windowMs || request.waited > total
}

function cutOff({ incoming, outgoing }: Watched): void {
  if (incoming.complete) return void incoming.socket.resetAndDestroy()
  if (!outgoing.headersSent) incoming.socket.write(TIMED_OUT)
  incoming.destroy()
}
