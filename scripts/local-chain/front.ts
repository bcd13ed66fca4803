import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { parseStrictJson } from '../../document/json.ts'
import { LocalChainError } from './errors.ts'
import { READS } from './methods.ts'
import { type Call, callOf, errorFor, textOf } from './rpc.ts'
import { WRITES } from './write-requests.ts'
import type { Writer } from './writer.ts'

const BODY_LIMIT = 2_000_000
const NO_CONTENT = 204
const UNSUPPORTED_MEDIA_TYPE = 415
const BAD_GATEWAY = 502
const SWEEP_MS = 10

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= BODY_LIMIT) chunks.push(chunk)
  }
  if (size > BODY_LIMIT) return undefined
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws if it is not JSON in UTF-8, or if another program could read it in another way (a key twice) */
const parse = (body: Buffer | string): unknown =>
  parseStrictJson(typeof body === 'string' ? body : utf8.decode(body))

const isJson = (contentType = ''): boolean =>
  contentType.split(';')[0]?.trim().toLowerCase() === 'application/json'

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

type Answered = Buffer | string

const NOT_A_REQUEST = { code: -32600, message: 'not a JSON-RPC 2.0 request' }

/** Past the journal, Anvil gets only the methods that are known to leave the chain as it is. */
const answerCall = async (writer: Writer, call: Call): Promise<Answered> => {
  const { id, method } = call
  if (READS.has(method)) return writer.anvil.post(textOf(call))
  const write = WRITES.get(method)
  if (write === undefined)
    return errorFor(call, {
      code: -32601,
      message: `${method} is not offered by the local chain: it is not a read, and its effect would not come back after a restart`,
    })
  if (id === undefined) return errorFor(call, { code: -32600, message: `${method} needs an id` })
  return write(writer, call)
}

const answerItem = async (writer: Writer, item: unknown): Promise<Answered> => {
  const call = callOf(item)
  return call === undefined ? errorFor(undefined, NOT_A_REQUEST) : answerCall(writer, call)
}

/** Does the calls of a batch one after another. A notification has no answer. */
const answerBatch = async (writer: Writer, batch: readonly unknown[]): Promise<string> => {
  if (batch.length === 0) return errorFor(undefined, NOT_A_REQUEST)
  const answers: string[] = []
  for (const item of batch) answers.push((await answerItem(writer, item)).toString())
  const nonEmpty = answers.filter((answer) => answer !== '')
  return nonEmpty.length === 0 ? '' : `[${nonEmpty.join(',')}]`
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
  if (!isJson(request.headers['content-type']))
    return send(
      response,
      UNSUPPORTED_MEDIA_TYPE,
      errorFor(undefined, {
        code: -32600,
        message: 'the Content-Type must be application/json',
      }),
    )
  const { status, body: answer } = await answerTo(writer, body)
  send(response, status, answer)
}

/**
 * Answers the body of a JSON-RPC request, wherever it came from.
 *
 * @returns The HTTP status of the answer, and its body.
 */
export async function answerTo(
  writer: Writer,
  text: Buffer | string,
): Promise<{ status: number; body: Buffer | string }> {
  let parsed: unknown
  try {
    parsed = parse(text)
  } catch (error) {
    const message = `invalid JSON: ${(error as Error).message}`
    return { status: 200, body: errorFor(undefined, { code: -32700, message }) }
  }
  try {
    const body = Array.isArray(parsed)
      ? await answerBatch(writer, parsed)
      : await answerItem(writer, parsed)
    return { status: body.length === 0 ? NO_CONTENT : 200, body }
  } catch (error) {
    const message = `the local chain does not answer: ${(error as Error).message}`
    return {
      status: BAD_GATEWAY,
      body: errorFor(callOf(parsed), { code: -32000, message }),
    }
  }
}

export type Front = { server: Server; port: number; close: () => Promise<void> }

/**
 * Listens for JSON-RPC over HTTP. Reads go to Anvil, as they were understood here; what changes the chain goes through the writer.
 * @throws `port_taken` if something else listens there
 */
export const listen = (
  writer: Writer,
  host: string,
  port: number,
  drainMs: number,
): Promise<Front> =>
  new Promise((resolve, reject) => {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      serve(writer, request, response).catch((error: Error) => response.destroy(error))
    })
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
          const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
          server.close(() => {
            clearTimeout(cut)
            clearInterval(sweep)
            done()
          })
        })
      resolve({
        server,
        port: typeof address === 'object' && address !== null ? address.port : port,
        close,
      })
    })
  })
