import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'

/** A real server on a free loopback port. */
export type TestServer = { url: string; close(): Promise<void> }

export async function serveHttp(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { url: urlOf(server), close: () => closeServer(server) }
}

export async function bodyOf(
  request: IncomingMessage,
  encoding: BufferEncoding = 'utf8',
): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString(encoding)
}

/** Ports below those that systems choose themselves, without any that `fetch` refuses. */
const PORTS = { first: 11_000, count: 21_000 }
/** Far from the ports of another worker, whose process id is near. */
let picked = process.pid * 97

/**
 * @returns A free port that stays free until it is used, because the system gives it to nobody else
 * while a process that listens there starts or restarts.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.count; tries++) {
    const port = PORTS.first + (picked++ % PORTS.count)
    if (await isFree(port)) return port
  }
  throw new Error('no port is free')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createTcpServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
