import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How slow a client may be. The time that the service takes does not count, so a request may wait
 * long for its block.
 */
export type Pace = {
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

const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/**
 * Disconnects clients that read nothing of their answer for a window.
 *
 * Node notices when nothing moves on a connection for a window. This is the client's fault only
 * while there is something for it to read, because a request may wait longer for its block.
 */
export function cutOffIdleReaders(server: Server, { windowMs }: Pace): void {
  server.setTimeout(windowMs, (socket: Socket) => {
    // The connection is reset, because the system would otherwise keep what was sent and not read.
    if (socket.writableLength > 0) socket.resetAndDestroy()
  })
}

/** Disconnects clients that send their bodies or read their answers too slowly. */
export type PaceWatch = {
  watch(incoming: IncomingMessage, outgoing: ServerResponse): void
  stop(): void
}

/** @param intervalMs Milliseconds between two checks of the connections. */
export function createPaceWatch(pace: Pace, intervalMs: number): PaceWatch {
  // The newest request of each connection, because there are fewer connections than requests.
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
function isTooSlow(request: Watched, pace: Pace, now: number): boolean {
  const { complete, readableLength, socket } = request.incoming
  // Bytes that have not been read yet wait for the service, and so does a client that has nothing
  // to read.
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
