import { Pool } from 'undici'

/** What a client was told about one request to issue. */
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

/** One document that a client wants issued, and everything that it was told. */
export type Wish = {
  /** The subjectId: it finds the document again on the chain. */
  number: string
  idempotencyKey?: string
  /** `Prefer: respond-async`. */
  respondAsync: boolean
  /** `?wait=`: how final it has to be. */
  wait?: 'finalized'
  told: Told[]
  /** What it was told when it asked for the document to be revoked; absent when it never did. */
  revocation?: Revocation[]
}

/** `done`: it is revoked (200). `promised`: it will be (202). */
export type Revocation = 'done' | 'promised' | 'refused' | 'unanswered'

export type Verdict = {
  httpStatus: number
  valid: boolean
  status: string
  /** The number of the block that it is true for; `undefined` without a verdict. */
  asOf: number | undefined
}

/** Clients of a gateway, with a memory of their own: the gateway's is not trusted. */
export type Client = {
  readonly wishes: readonly Wish[]
  /** Sends a new request. Never rejects. */
  issue(how?: {
    idempotencyKey?: string
    respondAsync?: boolean
    wait?: 'finalized'
  }): Promise<Wish>
  /** Sends the same request again; only with an idempotency key is that no second document. */
  repeat(wish: Wish): Promise<Told>
  /** Has a promised document revoked; the same again is harmless. Never rejects. */
  revoke(wish: Wish, how?: { respondAsync?: boolean }): Promise<Revocation>
  verify(publicId: string): Promise<Verdict>
  /** @returns The block of a document; `undefined` when the gateway does not give it. */
  block(cid: string): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

export const API_KEY = 'a-key-that-only-the-fault-tests-have'

export function createClient(url: string): Client {
  const pool = new Pool(url, { connections: 128, headersTimeout: 60_000 })
  const wishes: Wish[] = []
  const authorization = `Bearer ${API_KEY}`

  async function send(wish: Wish): Promise<Told> {
    try {
      const { statusCode, body } = await pool.request({
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
      const { statusCode, body } = await pool.request({
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
    },
    async block(cid) {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/ipfs/${cid}?format=raw`,
        headers: { accept: 'application/vnd.ipld.raw' },
      })
      const bytes = new Uint8Array(await body.arrayBuffer())
      return statusCode === 200 ? bytes : undefined
    },
    close: () => pool.destroy(),
  }
}

/** The document of a wish: the same each time that it is sent. */
export function fieldsOf({ number }: Wish) {
  return {
    subjectName: `Person ${number}`,
    subjectId: number,
    category: 'fault_test',
    issuedAt: '2026-01-31',
    metadata: { number },
  }
}

/** @returns What the gateway promised: the publicIds that it gave for a wish. */
export function promisesOf(wish: Wish): string[] {
  const ids = wish.told.flatMap((told) => (told.kind === 'issued' ? [told.publicId] : []))
  return [...new Set(ids)]
}

/** Whether the gateway promised that the document of a wish is revoked, now or soon. */
export function isRevocationPromised({ revocation = [] }: Wish): boolean {
  return revocation.some((told) => told === 'done' || told === 'promised')
}
