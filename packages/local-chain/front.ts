import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { decodeUtf8 } from '#document/bytes.ts'
import { parseStrictJson } from '#document/json.ts'
import { LocalChainError } from './errors.ts'
import { READS, WRITES } from './methods.ts'
import * as rpc from './rpc.ts'
import type { Writer } from './writer.ts'

const MAX_BODY_BYTES = 2_000_000
/** How long `stop` waits for unfinished requests. */
const DRAIN_MS = 1_000
const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Answers the body of a JSON-RPC request from HTTP or from this process.
 *
 * @returns The response body; empty for notifications
 * @throws if Anvil does not answer
 */
export async function answer(writer: Writer, text: string | Uint8Array): Promise<string> {
  let value: unknown
  try {
    // Refuses input that other programs could read differently: duplicate keys, text that is not
    // UTF-8.
    value = parseStrictJson(typeof text === 'string' ? text : decodeUtf8(text))
  } catch (error) {
    const message = `invalid JSON: ${(error as Error).message}`
    return rpc.errorFor(null, new rpc.RpcError(rpc.INVALID_JSON, message))
  }
  if (!Array.isArray(value) || value.length === 0) return answerOne(writer, value)
  const answers: string[] = []
  // The calls run one after another, because a batch may send a transaction and then look it up.
  for (const item of value) answers.push(await answerOne(writer, item))
  const nonEmpty = answers.filter((one) => one !== '')
  return nonEmpty.length === 0 ? '' : `[${nonEmpty.join(',')}]`
}

async function answerOne(writer: Writer, value: unknown): Promise<string> {
  let id: unknown = null
  try {
    const call = rpc.parseCall(value)
    id = call.id ?? null
    return (await carryOut(writer, call)).toString()
  } catch (error) {
    if (error instanceof rpc.RpcError) return rpc.errorFor(id, error)
    throw error
  }
}

/** Without the journal, Anvil gets only methods that are known not to change the chain. */
async function carryOut(writer: Writer, call: rpc.Call): Promise<Buffer | string> {
  const { id, method } = call
  if (READS.has(method)) return writer.chain.anvil.post(rpc.requestOf(call))
  const write = WRITES.get(method)
  if (write === undefined)
    throw new rpc.RpcError(
      rpc.UNKNOWN_METHOD,
      `the local chain does not offer ${method}, because its effect would be lost at a restart`,
    )
  if (id === undefined) throw new rpc.RpcError(rpc.INVALID_REQUEST, `${method} requires an id`)
  return write(writer, call)
}

/**
 * Listens for JSON-RPC over HTTP.
 * @throws {LocalChainError} `port_taken` if something else listens there
 */
export async function listen(writer: Writer, host: string, port: number) {
  const server = createServer(getRequestListener(createApp(writer).fetch)).listen(port, host)
  await once(server, 'listening').catch((cause) => {
    if (cause.code !== 'EADDRINUSE') throw cause
    throw new LocalChainError(
      'port_taken',
      `Another program uses CHAIN_PORT ${port} on ${host}. Stop it, or start with another port: CHAIN_PORT=${port + 1} npm start`,
      { cause },
    )
  })
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref()
      await closed
    },
  }
}

function createApp(writer: Writer): Hono {
  const app = new Hono()
  const refused = (message: string) =>
    rpc.errorFor(null, new rpc.RpcError(rpc.INVALID_REQUEST, message))
  // Web pages may use it, as they may use Anvil. It has no secrets, and a page can do no more than
  // any program on this machine.
  app.use(cors({ allowMethods: ['POST'], allowHeaders: ['content-type'] }))
  const onError = (c: Context) => c.body(refused('the request is too large'), 413, JSON_TYPE)
  app.post('*', bodyLimit({ maxSize: MAX_BODY_BYTES, onError }), async (c) => {
    const [type] = c.req.header('content-type')?.toLowerCase().split(';') ?? []
    if (type?.trim() !== 'application/json')
      return c.body(refused('the Content-Type must be application/json'), 415, JSON_TYPE)
    const body = await answer(writer, new Uint8Array(await c.req.arrayBuffer()))
    return body === '' ? c.body(null, 204) : c.body(body, 200, JSON_TYPE)
  })
  app.all('*', (c) => c.text('The JSON-RPC endpoint of the local chain: POST only.\n', 405))
  app.onError(({ message }, c) => {
    const error = new rpc.RpcError(rpc.UNAVAILABLE, `the local chain does not answer: ${message}`)
    return c.body(rpc.errorFor(null, error), 502, JSON_TYPE)
  })
  return app
}
