import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of PostgreSQL that can break connections. */
export type PostgresProxy = {
  /** The URL of the same database, through the proxy. */
  url: string
  /**
   * Breaks the connection of the next answer with this tag, such as `COMMIT` or `INSERT 0 1`. The
   * server has carried the statement out, and the client never hears of it.
   *
   * @param of Matches a statement of the transaction; absent = any.
   */
  loseNext(tag: string, of?: RegExp): void
  /**
   * Holds back the next COMMIT of a transaction with such a statement, and all that its client
   * sends after it, for so many milliseconds: to the server, the client is frozen inside the
   * transaction.
   */
  holdNext(of: RegExp, milliseconds: number): void
  /** Holds back what clients send from now on: to the server, they are frozen. */
  freeze(): void
  /** How many answers were lost. */
  readonly lost: number
  /** Breaks all connections. */
  cut(): void
  close(): Promise<void>
}

/** Reads the statements that a client sends: `Parse` has their text, and `Bind` their names. */
function readStatements() {
  const texts = new Map<string, string>()
  const asked: string[] = []
  let rest = Buffer.alloc(0)
  let isStarted = false

  function frame(type: string, body: Buffer): void {
    const [one = '', two = ''] = body.toString('latin1').split('\0')
    if (type === 'P') texts.set(one, two)
    if (type === 'B') asked.push(texts.get(two) ?? '')
    if (type === 'Q') asked.push(one)
  }

  return {
    read(bytes: Buffer): void {
      rest = Buffer.concat([rest, bytes])
      for (;;) {
        // The first packet has no type.
        const head = isStarted ? 1 : 0
        if (rest.length < head + 4) return
        const end = head + rest.readUInt32BE(head)
        if (rest.length < end) return
        if (isStarted) frame(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end))
        isStarted = true
        rest = rest.subarray(end)
      }
    },
    has: (of: RegExp) => asked.some((text) => of.test(text)),
    forget: () => void asked.splice(0),
  }
}

/** @param target The URL of a database. */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let wanted: { tag: string; of: RegExp } | undefined
  let toHold: { of: RegExp; milliseconds: number } | undefined
  let lost = 0

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    clients.add(client)
    client.on('close', () => clients.delete(client))
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
    const asked = readStatements()
    client.on('data', (bytes) => {
      asked.read(bytes)
      if (!toHold || !asked.has(/^COMMIT/) || !asked.has(toHold.of))
        return void upstream.write(bytes)
      client.pause()
      setTimeout(() => {
        upstream.write(bytes)
        client.resume()
      }, toHold.milliseconds)
      toHold = undefined
    })
    upstream.on('data', (bytes) => {
      const isLost = wanted && bytes.includes(`${wanted.tag}\0`) && asked.has(wanted.of)
      if (bytes.includes('COMMIT\0') || bytes.includes('ROLLBACK\0')) asked.forget()
      if (!isLost) return void client.write(bytes)
      wanted = undefined
      lost++
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
    loseNext(tag, of = /^/) {
      wanted = { tag, of }
    },
    holdNext(of, milliseconds) {
      toHold = { of, milliseconds }
    },
    freeze() {
      for (const client of clients) client.pause()
    },
    get lost() {
      return lost
    },
    cut,
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
