import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../gateway/http/operations.ts'
import { type Listener, listen } from '../../gateway/listen.ts'
import { createLog } from '../../gateway/log.ts'
import { bareApp } from '../support/bare-app.ts'
import { API_KEY } from '../support/stack.ts'

// Hostile clients, through real sockets, at a server with little patience.

let listener: Listener
beforeAll(async () => {
  listener = await listen(
    bareApp({
      version: '0',
      webhooks: { list: async () => [{ id: 'x', secrets: [] }] } as never,
    }).app as Parameters<typeof listen>[0],
    { host: '127.0.0.1', port: 0 },
    { log: createLog('silent'), metrics: { served: () => {} } },
    { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 },
  )
})
afterAll(() => listener.stop(async () => {}))

const POST = `POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`

/** A connection, with what it receives. */
async function open() {
  const socket = connect(listener.port, '127.0.0.1')
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
  test('error: a client that sends nothing is disconnected', async () => {
    const { received, closed } = await open()
    await closed
    expect(received()).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })

  test('error: a client that sends its headers byte by byte is disconnected', async () => {
    const { socket, received, closed } = await open()
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    await flood(socket, 'a', 20)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('error: a client that sends its body byte by byte is disconnected', async () => {
    const { socket, received, closed } = await open()
    socket.write(`${POST}Content-Length: 60000\r\n\r\n{`)
    await flood(socket, ' ', 20)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 40[08] /)
  })

  test('behavior: others are served while a hundred clients are slow', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, open))
    for (const { socket } of slow) socket.write('GET /healthz HTTP/1.1\r\nX: ')
    expect(await isHealthy()).toBe(true)
    await Promise.all(slow.map(({ closed }) => closed))
  })
})

describe('floods', () => {
  test.each([
    ['one long header', 'X-Long: ', 'a'.repeat(1_000)],
    ['many headers', '', 'X-Many: a\r\n'.repeat(100)],
  ])('error: %s is cut off with 431', async (_, begin, chunk) => {
    const { socket, received, closed } = await open()
    socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n${begin}`)
    const written = await flood(socket, chunk, 1)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 431 /)
    expect(written).toBeLessThan(1_000_000)
    expect(await isHealthy()).toBe(true)
  })

  test('error: a body without an end is cut off with 413', async () => {
    const { socket, received, closed } = await open()
    socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`)
    const chunk = ' '.repeat(4_096)
    await flood(socket, `1000\r\n${chunk}\r\n`, 1)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 413 /)
    expect(received()).toContain('"too_large"')
    expect(await isHealthy()).toBe(true)
  })

  test('error: a body that is announced as too long is not read', async () => {
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

  test.each(withBody.map(({ method, path }) => [method.toUpperCase(), path]))(
    'error: %s %s does not unpack a body',
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
