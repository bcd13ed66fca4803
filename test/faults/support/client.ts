import { Pool } from 'undici'

/** The gateway's answer to one request to issue. */
export type Told =
  | {
      kind: 'issued'
      status: 201 | 202
      publicId: string
      /** The status of the document. */
      document: string
      finality?: string
    }
  | { kind: 'refused'; status: number; code: string }
  | { kind: 'unanswered' }

/** One document that a client wants issued, and every answer to it. */
export type Wish = {
  /** The subjectId, by which the oracle recognizes the document on the chain. */
  number: string
  idempotencyKey?: string
  /** `Prefer: respond-async`. */
  respondAsync: boolean
  /** The finality to wait for, `?wait=`. */
  wait?: 'finalized'
  told: Told[]
  /** The answers to its revocation requests; absent when it sent none. */
  revocation?: Revocation[]
}

/** `done`: it is revoked (200). `promised`: it will be (202). */
export type Revocation = 'done' | 'promised' | 'refused' | 'unanswered'

export type Verdict = {
  httpStatus: number
  valid: boolean
  status: string
  /** The block number that it holds for; `undefined` without a verdict. */
  asOf: number | undefined
}

/**
 * Clients of one issuer's gateways. They remember all answers themselves, so that nothing depends
 * on the gateways' memory. Requests and repeats go to the gateways in turn.
 */
export type Client = {
  readonly wishes: readonly Wish[]
  /** Sends a new request. Never rejects. */
  issue(how?: {
    idempotencyKey?: string
    respondAsync?: boolean
    wait?: 'finalized'
  }): Promise<Wish>
  /** Sends the same request again; without an idempotency key, this makes a second document. */
  repeat(wish: Wish): Promise<Told>
  /** Requests the revocation of a promised document; may be repeated. Never rejects. */
  revoke(wish: Wish, how?: { respondAsync?: boolean }): Promise<Revocation>
  verify(publicId: string): Promise<Verdict>
  /** @returns The sealed block of a document; `undefined` when no gateway has it. */
  block(cid: string): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

export const API_KEY = 'a-key-that-only-the-fault-tests-have'

/**
 * More than the requests that wait for a block of 12 s at 60 a second, so that none waits for a
 * connection.
 */
const CONNECTIONS = 2_048

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

  async function sendRevocation(publicId: string, respondAsync: boolean): Promise<Revocation> {
    try {
      const { statusCode, body } = await poolsFromHere()[0].request({
        method: 'POST',
        path: `/v1/documents/${publicId}/revoke`,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(respondAsync && { prefer: 'respond-async' }),
        },
        body: JSON.stringify({ reason: 'keyCompromise' }),
      })
      await body.dump()
      if (statusCode === 200) return 'done'
      return statusCode === 202 ? 'promised' : 'refused'
    } catch {
      return 'unanswered'
    }
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
      error?: { code: string }
    }
    return {
      httpStatus: statusCode,
      valid: data.valid === true,
      status: data.status ?? error?.code ?? '',
      asOf: data.asOf?.blockNumber,
    }
  }

  return {
    wishes,
    async issue({ idempotencyKey, respondAsync = false, wait } = {}) {
      const number = String(wishes.length + 1)
      const wish: Wish = {
        number,
        ...(idempotencyKey && { idempotencyKey }),
        respondAsync,
        ...(wait && { wait }),
        told: [],
      }
      wishes.push(wish)
      await ask(wish)
      return wish
    },
    repeat: ask,
    async revoke(wish, { respondAsync = false } = {}) {
      const [publicId = ''] = promisesOf(wish)
      wish.revocation ??= []
      const told = await sendRevocation(publicId, respondAsync)
      wish.revocation.push(told)
      return told
    },
    async verify(publicId) {
      const [first, ...others] = poolsFromHere()
      let verdict = await verifyAt(first, publicId)
      // Like a round-robin proxy that tries the next gateway after a 503.
      for (const pool of others)
        if (verdict.httpStatus === 503) verdict = await verifyAt(pool, publicId)
      return verdict
    },
    async block(cid) {
      for (const pool of pools) {
        const { statusCode, body } = await pool.request({
          method: 'GET',
          path: `/ipfs/${cid}?format=raw`,
          headers: { accept: 'application/vnd.ipld.raw' },
        })
        const bytes = new Uint8Array(await body.arrayBuffer())
        if (statusCode === 200) return bytes
      }
      return undefined
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

/** The request body of a wish; equal each time. */
export function fieldsOf({ number }: Wish) {
  return {
    subjectName: `Person ${number}`,
    subjectId: number,
    category: 'fault_test',
    issuedAt: '2026-01-31',
    metadata: { number },
  }
}

/** @returns The publicIds that a gateway promised for a wish. */
export function promisesOf(wish: Wish): string[] {
  const ids = wish.told.flatMap((told) => (told.kind === 'issued' ? [told.publicId] : []))
  return [...new Set(ids)]
}

/** Whether a gateway has promised to revoke the document of a wish, or has done so. */
export function isRevocationPromised({ revocation = [] }: Wish): boolean {
  return revocation.some((told) => told === 'done' || told === 'promised')
}
