import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { Env } from '#http/core/env.ts'
import { OPERATIONS } from '#modules/all.ts'
import { type Listener, listen } from '#parts/listen.ts'
import { bareApp } from '../../support/bare-app.ts'
import { API_KEY } from '../../support/given.ts'

// Hostile clients, through real sockets, at a server with little patience.

const PATIENCE = {
  headersTimeout: 300,
  connectionsCheckingInterval: 50,
  windowMs: 600,
  minBytes: 10_000,
  totalMs: 1_000,
  bytesPerSecond: 40_000,
}
let listener: Listener
beforeAll(async () => {
  listener = await listen(
    bareApp({
      version: '0',
      webhooks: { list: async () => [{ id: 'x', secrets: [] }] } as never,
    }).app as Parameters<typeof listen>[0],
    { host: '127.0.0.1', port: 0 },
    { log: createLog('silent'), metrics: { served: () => {} } },
    PATIENCE,
  )
})
afterAll(() => listener.stop(async () => {}))

const POST = `POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`

/** A connection, with what it receives. */
async function open(port = listener.port) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  // The server may close while the client still writes.
  socket.on('error', () => {})
  await once(socket, 'connect')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  return { socket, received: () => received, closed }
}

/** Writes again and again, until the server closes. @returns Bytes written. */
async function flood(socket: Socket, chunk: string, pauseMs: number): Promise<number> {
  let written = 0
  while (!socket.destroyed && socket.writable) {
    socket.write(chunk)
    written += chunk.length
    await sleep(pauseMs)
  }
  return written
}

const isHealthy = async () =>
  (await fetch(`http://127.0.0.1:${listener.port}/healthz`)).status === 200

describe('slow clients', () => {
  test('a client that sends nothing is disconnected', async () => {
    const { received, closed } = await open()
    await closed
    expect(received()).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })

  test('a client that sends its headers byte by byte is disconnected', async () => {
    const { socket, received, closed } = await open()
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    await flood(socket, 'a', 20)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('a client that sends its body byte by byte is disconnected', async () => {
    const { socket, received, closed } = await open()
    socket.write(`${POST}Content-Length: 60000\r\n\r\n{`)
    await flood(socket, ' ', 20)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 40[08] /)
  })

  test('others are served while a hundred clients are slow', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => open()))
    for (const { socket } of slow) socket.write('GET /healthz HTTP/1.1\r\nX: ')
    expect(await isHealthy()).toBe(true)
    await Promise.all(slow.map(({ closed }) => closed))
  })
})

describe('large requests and answers', () => {
  /** Longer than a busy machine stops this process, which is the client as well. */
  const windowMs = 1_500
  const MEGABYTE = Buffer.alloc(2 ** 20, 'x')
  let large: Listener
  /** Gives hardly any time for bytes. */
  let strict: Listener
  /** How often a client that did not read was given up. */
  let cancelled = 0

  beforeAll(async () => {
    const app = new Hono<Env>()
    app.onError((_, c) => c.text('cut off', 400))
    app.post('/upload', async (c) => {
      let length = 0
      for await (const chunk of c.req.raw.body ?? []) length += chunk.length
      return c.text(`${length} bytes`)
    })
    app.get('/stream', () => {
      const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(MEGABYTE)
      return new Response(new ReadableStream({ pull, cancel: () => void cancelled++ }))
    })
    app.get('/whole', (c) => c.body(new Uint8Array(64 * 2 ** 20)))
    app.get('/late', async (c) => {
      await sleep(2 * windowMs)
      return c.text('done')
    })
    const address = { host: '127.0.0.1', port: 0 }
    const seen = { log: createLog('silent'), metrics: { served: () => {} } }
    const patience = { ...PATIENCE, windowMs }
    large = await listen(app as Parameters<typeof listen>[0], address, seen, patience)
    const hurried = { ...patience, bytesPerSecond: 10_000_000 }
    strict = await listen(app as Parameters<typeof listen>[0], address, seen, hurried)
  })
  afterAll(() => Promise.all([large, strict].map((one) => one.stop(async () => {}))))

  test('the time for an upload grows with what has arrived', async () => {
    const { socket, received, closed } = await open(large.port)
    socket.write('POST /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n')
    socket.write('Content-Length: 400000\r\n\r\n')
    const started = performance.now()
    for (let sent = 0; sent < 400_000; sent += 20_000) {
      socket.write(Buffer.alloc(20_000))
      await sleep(windowMs / 8)
    }
    await closed
    expect(received()).toContain('400000 bytes')
    expect(performance.now() - started).toBeGreaterThan(2 * windowMs)
  })

  test('cuts off an upload after its time, however steadily its bytes come', async () => {
    const { socket, received, closed } = await open(strict.port)
    socket.write('POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n')
    const started = performance.now()
    await flood(socket, 'x'.repeat(2_000), 50)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
    expect(performance.now() - started).toBeGreaterThan(PATIENCE.totalMs)
  })

  test.each([
    ['', ''],
    [', whatever is asked meanwhile', 'GET /none HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('cuts off an answer after its time, however steadily it is read%s', async (_, more) => {
    const before = cancelled
    const socket = connect({
      port: strict.port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(20_000),
        callback() {
          setTimeout(() => socket.resume(), 5)
          return false
        },
      },
    })
    socket.on('error', () => {})
    socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    const asking = setInterval(() => socket.write(more), 100)
    try {
      await expect.poll(() => cancelled).toBe(before + 1)
    } finally {
      clearInterval(asking)
      socket.destroy()
    }
  })

  test('cuts off an upload that stalls after a good start', async () => {
    const { socket, received, closed } = await open(large.port)
    socket.write('POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n')
    socket.write(Buffer.alloc(200_000))
    await flood(socket, 'x', 20)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('a client may wait for its answer longer than it may stall', async () => {
    const response = await fetch(`http://127.0.0.1:${large.port}/late`)
    expect(await response.text()).toBe('done')
  })

  test('cuts off a client that does not read a stream, and ends the stream', async () => {
    const before = cancelled
    const { socket, closed } = await open(large.port)
    socket.pause()
    socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => cancelled).toBe(before + 1)
    socket.resume()
    await closed
  })

  test('cuts off a client that does not read an answer in one piece', async () => {
    const { socket, received, closed } = await open(large.port)
    socket.pause()
    socket.write('GET /whole HTTP/1.1\r\nHost: x\r\n\r\n')
    // A write finds out that the server has reset the connection.
    while (socket.writable) {
      socket.write(' ')
      await sleep(20)
    }
    await closed
    expect(received().length).toBeLessThan(64 * 2 ** 20)
  })

  test('a client that reads slowly gets the whole answer', async () => {
    const { socket, received, closed } = await open(large.port)
    socket.write('GET /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const started = performance.now()
    while (performance.now() - started < 2 * windowMs) {
      socket.pause()
      await sleep(windowMs / 4)
      socket.resume()
      await sleep(1)
    }
    await closed
    expect(received().length).toBeGreaterThan(64 * 2 ** 20)
  })
})

describe('floods', () => {
  test.each([
    ['one long header', 'X-Long: ', 'a'.repeat(10_000)],
    ['many headers', '', 'X-Many: a\r\n'.repeat(1_000)],
  ])('%s is cut off with 431', async (_, begin, chunk) => {
    const { socket, received, closed } = await open()
    socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n${begin}`)
    const written = await flood(socket, chunk, 1)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 431 /)
    expect(written).toBeLessThan(1_000_000)
    expect(await isHealthy()).toBe(true)
  })

  test('a body without an end is cut off with 413', async () => {
    const { socket, received, closed } = await open()
    socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`)
    const chunk = ' '.repeat(4_096)
    await flood(socket, `1000\r\n${chunk}\r\n`, 1)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 413 /)
    expect(received()).toContain('"too_large"')
    expect(await isHealthy()).toBe(true)
  })

  test('does not read a body that is announced as too long', async () => {
    const { socket, received, closed } = await open()
    socket.write(`${POST}Content-Length: 1000000000000\r\n\r\n`)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 413 /)
  })
})

describe('compressed bodies', () => {
  /** 10 MB of spaces around a body: 10 KB as it is sent. */
  const bomb = gzipSync(`{${' '.repeat(10_000_000)}}`)
  const withBody = OPERATIONS.filter(({ body }) => body !== undefined)

  test.each(withBody.map(({ method, path }) => [method, path]))(
    '%s %s does not unpack a body',
    async (method, path) => {
      for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip']) {
        const response = await fetch(
          `http://127.0.0.1:${listener.port}${path.replaceAll(/:\w+/g, 'x')}`,
          {
            method,
            headers: {
              authorization: `Bearer ${API_KEY}`,
              'content-type': 'application/json',
              'content-encoding': encoding,
            },
            body: bomb,
          },
        )
        // Refused before it is read, or read as it is and found not to be JSON.
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.status).toBeLessThan(500)
        await response.body?.cancel()
      }
    },
  )
})
