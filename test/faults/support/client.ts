import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { RevocationReason } from '#verifier/reasons.ts'
import { API_KEY } from '../../support/given.ts'
import { fieldsOf, promisesOf, type Revocation, type Told, type Wish } from './wish.ts'

export type Verdict = {
  httpStatus: number
  /** The error of a 503. */
  outage?: string
  valid: boolean
  status: string
  /** The number of its block; `undefined` without a verdict. */
  asOf: number | undefined
}

export type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** An answer of any status. */
export type Reply = { status: number; text: string }

/**
 * Clients of one issuer's gateways. They remember all answers themselves, so that nothing depends
 * on the gateways' memory. Requests and repeats go to the gateways in turn.
 */
export type Client = {
  readonly wishes: readonly Wish[]
  /** Method and path of each `call` that was answered with 500. */
  readonly failures: readonly string[]
  /** The number of gateways. */
  readonly gateways: number
  /**
   * Sends any request with the API key.
   *
   * @param gateway The index of the gateway; absent = in turn.
   * @returns `undefined` without an answer.
   */
  call(call: Call, gateway?: number): Promise<Reply | undefined>
  /** Adds a document that another request than `issue` issues. */
  wish(how: Omit<Wish, 'number' | 'told' | 'respondAsync'>): Wish
  /** Sends a new request. Never rejects. */
  issue(how?: {
    idempotencyKey?: string
    respondAsync?: boolean
    wait?: 'finalized'
  }): Promise<Wish>
  /** Sends the same request again; without an idempotency key, this makes a second document. */
  repeat(wish: Wish): Promise<Told>
  /** Requests the revocation of a promised document; may be repeated. Never rejects. */
  revoke(
    wish: Wish,
    how?: { respondAsync?: boolean; reason?: RevocationReason },
  ): Promise<Revocation>
  verify(publicId: string): Promise<Verdict>
  /** Same as `verify`, but repeated while all gateways answer 503. */
  verdict(publicId: string): Promise<Verdict>
  /**
   * @returns The sealed block of a document; `undefined` when no gateway has it. Repeated while one
   * answers 503, which says nothing about the block.
   */
  block(cid: string): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/**
 * More than the requests that wait for a block of 12 s at 60 per second, so that none waits for a
 * connection.
 */
const CONNECTIONS = 2_048
/** How long a gateway on a busy machine may answer 503 while a run is judged. */
const MAX_OUTAGE_MS = 60_000

export function createClient(...urls: [string, ...string[]]): Client {
  const pools = urls.map(
    (url) => new Pool(url, { connections: CONNECTIONS, headersTimeout: 60_000 }),
  )
  let turn = 0
  const poolsFromHere = () => {
    const at = turn++ % pools.length
    return [...pools.slice(at), ...pools.slice(0, at)] as [Pool, ...Pool[]]
  }
  const wishes: Wish[] = []
  const failures: string[] = []
  const authorization = `Bearer ${API_KEY}`

  async function send(wish: Wish): Promise<Told> {
    try {
      const { statusCode, body } = await poolsFromHere()[0].request({
        method: 'POST',
        path: `/v1/documents${wish.wait ? `?wait=${wish.wait}` : ''}`,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(wish.respondAsync && { prefer: 'respond-async' }),
          ...(wish.idempotencyKey && {
            'idempotency-key': wish.idempotencyKey,
          }),
        },
        body: JSON.stringify(fieldsOf(wish)),
      })
      const { data, error } = (await body.json()) as {
        data: { publicId: string; status: string; finality?: string }
        error?: { code: string }
      }
      if (statusCode === 201 || statusCode === 202) {
        const { publicId, status: document, finality } = data
        return {
          kind: 'issued',
          status: statusCode,
          publicId,
          document,
          ...(finality && { finality }),
        }
      }
      if (error?.code === 'outcome_unknown') return { kind: 'unanswered' }
      return { kind: 'refused', status: statusCode, code: error?.code ?? '' }
    } catch {
      return { kind: 'unanswered' }
    }
  }

  async function ask(wish: Wish): Promise<Told> {
    const told = await send(wish)
    wish.told.push(told)
    return told
  }

  async function sendRevocation(
    publicId: string,
    respondAsync: boolean,
    reason: RevocationReason,
  ): Promise<Revocation> {
    try {
      const { statusCode, body } = await poolsFromHere()[0].request({
        method: 'POST',
        path: `/v1/documents/${publicId}/revoke`,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(respondAsync && { prefer: 'respond-async' }),
        },
        body: JSON.stringify({ reason }),
      })
      await body.dump()
      if (statusCode === 200) return 'done'
      return statusCode === 202 ? 'promised' : 'refused'
    } catch {
      return 'unanswered'
    }
  }

  async function call(
    { method, path, headers, body: sent }: Call,
    gateway?: number,
  ): Promise<Reply | undefined> {
    const pool = (gateway === undefined ? undefined : pools[gateway]) ?? poolsFromHere()[0]
    try {
      const { statusCode, body } = await pool.request({
        method,
        path,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(sent !== undefined && { body: sent }),
      })
      const text = await body.text()
      if (statusCode === 500) failures.push(`${method} ${path}`)
      return { status: statusCode, text }
    } catch {
      return undefined
    }
  }

  function wish(how: Partial<Wish>): Wish {
    const number = String(wishes.length + 1)
    const added: Wish = { respondAsync: false, ...how, number, told: [] }
    wishes.push(added)
    return added
  }

  async function verifyAt(pool: Pool, publicId: string): Promise<Verdict> {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/v1/verify?publicId=${publicId}`,
      headers: { authorization },
    })
    const { data, error } = (await body.json()) as {
      data: {
        valid?: boolean
        status?: string
        asOf?: { blockNumber: number } | null
      }
      error?: { code: string; details?: object }
    }
    return {
      httpStatus: statusCode,
      ...(statusCode === 503 && { outage: `${JSON.stringify(error)}` }),
      valid: data.valid === true,
      status: data.status ?? error?.code ?? '',
      asOf: data.asOf?.blockNumber,
    }
  }

  async function verify(publicId: string): Promise<Verdict> {
    const [first, ...others] = poolsFromHere()
    let verdict = await verifyAt(first, publicId)
    // Behaves like a round-robin proxy that tries the next gateway after a 503.
    for (const pool of others)
      if (verdict.httpStatus === 503) verdict = await verifyAt(pool, publicId)
    return verdict
  }

  return {
    wishes,
    failures,
    gateways: pools.length,
    call,
    wish,
    async issue({ idempotencyKey, respondAsync = false, wait } = {}) {
      const added = wish({
        ...(idempotencyKey && { idempotencyKey }),
        respondAsync,
        ...(wait && { wait }),
      })
      await ask(added)
      return added
    },
    repeat: ask,
    async revoke(wish, { respondAsync = false, reason = 'keyCompromise' } = {}) {
      const [publicId = ''] = promisesOf(wish)
      wish.revocation ??= []
      const told = await sendRevocation(publicId, respondAsync, reason)
      wish.revocation.push(told)
      return told
    },
    verify,
    async block(cid) {
      return insist(async () => {
        const statuses: number[] = []
        for (const pool of pools) {
          const { statusCode, body } = await pool.request({
            method: 'GET',
            path: `/ipfs/${cid}?format=raw`,
            headers: { accept: 'application/vnd.ipld.raw' },
          })
          const bytes = new Uint8Array(await body.arrayBuffer())
          if (statusCode === 200) return bytes
          statuses.push(statusCode)
        }
        return statuses.includes(503) ? new Outage(`/ipfs/${cid}`) : undefined
      })
    },
    verdict: (publicId) =>
      insist(async () => {
        const verdict = await verify(publicId)
        return verdict.outage === undefined ? verdict : new Outage(verdict.outage)
      }),
    async close() {
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

class Outage {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** Repeats a request while its result is an outage, up to {@link MAX_OUTAGE_MS}. */
async function insist<T>(request: () => Promise<T | Outage>): Promise<T> {
  for (const end = performance.now() + MAX_OUTAGE_MS; ; await sleep(100)) {
    const result = await request()
    if (!(result instanceof Outage)) return result
    if (performance.now() > end) throw new Error(`every gateway answers 503: ${result.why}`)
  }
}
