import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { LocalChainError } from './errors.ts'
import { changesState } from './methods.ts'
import { type Call, callOf, errorFor } from './rpc.ts'
import { WRITES } from './write-requests.ts'
import type { Writer } from './writer.ts'

const BODY_LIMIT = 2_000_000
const BAD_GATEWAY = 502
const SWEEP_MS = 10

const bodyOf = async (
  request: IncomingMessage,
): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= BODY_LIMIT) chunks.push(chunk)
  }
  if (size > BODY_LIMIT) return undefined
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString())
  } catch {
    // Anvil says in its own words what is wrong with it.
    return undefined
  }
}

const send = (
  response: ServerResponse,
  status: number,
  body: Buffer | string,
  type = 'application/json',
): void => {
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}

/** Answers a call that changes the chain. */
const handle = async (
  writer: Writer,
  call: Call,
  body: Buffer | string,
): Promise<Buffer | string> => {
  const write = WRITES.get(call.method)
  if (write === undefined) {
    return errorFor(call, {
      code: -32601,
      message: `${call.method} is not offered by the local chain: its effect would not come back after a restart`,
    })
  }
  if (call.id === undefined)
    return errorFor(call, {
      code: -32600,
      message: `${call.method} needs an id`,
    })
  return write(writer, call, body)
}

/** A batch with a write in it: its calls one after another. */
const handleBatch = async (
  writer: Writer,
  batch: unknown[],
): Promise<string> => {
  const answers: string[] = []
  for (const item of batch) {
    const call = callOf(item)
    const body = JSON.stringify(item)
    const isRead = call === undefined || !changesState(call.method)
    answers.push(
      (isRead
        ? (await writer.anvil.post(body)).body
        : await handle(writer, call, body)
      ).toString(),
    )
  }
  return `[${answers.filter((answer) => answer !== '').join(',')}]`
}

const serve = async (
  writer: Writer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  // Like Anvil: web pages may use it. It has no secrets, and a page cannot do more than any program of this machine.
  response.setHeader('access-control-allow-origin', '*')
  if (request.method === 'OPTIONS') {
    response
      .writeHead(204, {
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type',
      })
      .end()
    return
  }
  if (request.method !== 'POST')
    return send(
      response,
      405,
      'This is the JSON-RPC endpoint of the local chain: POST only.\n',
      'text/plain',
    )
  const body = await bodyOf(request)
  if (body === undefined)
    return send(
      response,
      413,
      errorFor(undefined, {
        code: -32600,
        message: 'the request is too large',
      }),
    )
  const contentType = request.headers['content-type'] ?? ''
  const answer = await answerTo(writer, body, contentType)
  send(response, answer.status, answer.body, answer.contentType)
}

/** Answers a JSON-RPC request, wherever it came from. */
export async function answerTo(
  writer: Writer,
  body: Buffer,
  contentType: string,
): Promise<{
  status: number
  body: Buffer | string
  contentType?: string | undefined
}> {
  const parsed = contentType.startsWith('application/json')
    ? parse(body)
    : undefined
  const call = callOf(parsed)
  try {
    if (call !== undefined && changesState(call.method))
      return { status: 200, body: await handle(writer, call, body) }
    if (
      Array.isArray(parsed) &&
      parsed.some((item) => changesState(callOf(item)?.method ?? ''))
    )
      return { status: 200, body: await handleBatch(writer, parsed) }
    return await writer.anvil.post(body, contentType)
  } catch (error) {
    const message = `the local chain does not answer: ${(error as Error).message}`
    return {
      status: BAD_GATEWAY,
      body: errorFor(call, { code: -32000, message }),
    }
  }
}

export type Front = { server: Server; port: number; close: () => Promise<void> }

/**
 * Listens for JSON-RPC over HTTP. Reads go to Anvil and back byte for byte; what changes the chain goes through the writer.
 * @throws `port_taken` if something else listens there
 */
export const listen = (
  writer: Writer,
  host: string,
  port: number,
  drainMs: number,
): Promise<Front> =>
  new Promise((resolve, reject) => {
    const server = createServer(
      { keepAliveTimeout: 60_000 },
      (request, response) => {
        serve(writer, request, response).catch((error: Error) =>
          response.destroy(error),
        )
      },
    )
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        cause.code === 'EADDRINUSE'
          ? new LocalChainError(
              'port_taken',
              `CHAIN_PORT ${port} on ${host} is taken by another program. Stop that one, or start with another port: CHAIN_PORT=${port + 1} npm start`,
              { cause },
            )
          : cause,
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      const close = () =>
        new Promise<void>((done) => {
          const cut = setTimeout(() => server.closeAllConnections(), drainMs)
          // A connection that has got its answer is idle, and would be kept alive.
          const sweep = setInterval(
            () => server.closeIdleConnections(),
            SWEEP_MS,
          )
          server.close(() => {
            clearTimeout(cut)
            clearInterval(sweep)
            done()
          })
        })
      resolve({
        server,
        port:
          typeof address === 'object' && address !== null ? address.port : port,
        close,
      })
    })
  })
