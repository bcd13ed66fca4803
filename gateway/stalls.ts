import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How slow a client may be. What counts is that bytes move and not how long a request takes: an
 * upload of 1 GiB may take hours.
 */
export type Pace = {
  /** How long a client may take to send, or to read, as little as follows; milliseconds. */
  windowMs: number
  /** Bytes of a body that a client sends in a window, at least, unless the body ends. */
  minBytes: number
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

/** Cuts off clients that send their bodies too slowly. */
export type BodyWatch = {
  /** Watches the body of a request. */
  watch(incoming: IncomingMessage, outgoing: ServerResponse): void
  stop(): void
}

/** @param intervalMs Between two looks at the connections; milliseconds. */
export function createBodyWatch({ windowMs, minBytes }: Pace, intervalMs: number): BodyWatch {
  // By connection, of which there are fewer than requests.
  const newest = new Map<Socket, Watched>()

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, request] of newest) {
      const { incoming, since, bytes } = request
      // Bytes that nobody has taken yet wait for us, not for the client.
      const moves = socket.bytesRead - bytes >= minBytes || incoming.readableLength > 0
      if (incoming.complete || socket.destroyed) newest.delete(socket)
      else if (moves) newest.set(socket, { ...request, since: now, bytes: socket.bytesRead })
      else if (now - since > windowMs) cutOff(request)
    }
  }, intervalMs).unref()

  return {
    watch(incoming, outgoing) {
      const { socket } = incoming
      const since = performance.now()
      newest.set(socket, { incoming, outgoing, since, bytes: socket.bytesRead })
    },
    stop: () => clearInterval(timer),
  }
}

/** A request, and where its newest window began. */
type Watched = {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** As `performance.now()` counts. */
  since: number
  /** That its connection had received. */
  bytes: number
}

function cutOff({ incoming, outgoing }: Watched): void {
  if (!outgoing.headersSent) incoming.socket.write(TIMED_OUT)
  incoming.destroy()
}
