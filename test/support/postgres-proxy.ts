import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of PostgreSQL that can break connections. */
export type PostgresProxy = {
  /** The URL of the same database, through the proxy. */
  url: string
  /**
   * Breaks the connection of the next answer with this tag, such as `COMMIT` or `INSERT 0 1`. The
   * server has carried the statement out, and the client never hears of it.
   */
  loseNext(tag: string): void
  /** Breaks all connections. */
  cut(): void
  close(): Promise<void>
}

/** @param target The URL of a database. */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let lost: string | undefined

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const close = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        close()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      if (lost === undefined || !bytes.includes(`${lost}\0`)) return void client.write(bytes)
      lost = undefined
      close()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    loseNext(tag) {
      lost = tag
    },
    cut,
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
