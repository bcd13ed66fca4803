import type { Failure } from './api.ts'

export type ClientOptions = {
  /** The address of the service, such as `https://documents.example`. */
  baseUrl: string
  /** Absent in a page of the service, whose requests carry the cookie of a session. */
  apiKey?: string
  /** Milliseconds for one attempt. The service waits up to 15 s for a block by default. */
  timeoutMs?: number
  /** The maximum number of attempts of one call. */
  maxAttempts?: number
  /** Milliseconds before the second attempt; doubled for each further one, up to 30 s. */
  backOffMs?: number
  /** Another `fetch`, for example that of a proxy. */
  fetch?: typeof fetch
}

export type Settings = {
  /** Ends the call, also between attempts. */
  signal?: AbortSignal
  /** `respond-async`: do not wait for a block. */
  prefer?: 'respond-async'
  /** Only for calls that accept one. By default, each call gets a new one. */
  idempotencyKey?: string
}
/**
 * A call that failed. `code` is one of the service; or `no_answer` = the outcome is unknown, unless
 * the call is repeated with the same Idempotency-Key; or `not_understood` = the answer is not one
 * of this API.
 */
export class CallError extends Error {
  override name = 'CallError'
  readonly code: Failure['error']['code'] | 'no_answer' | 'not_understood'
  /** The HTTP status; `undefined` without an answer. */
  readonly status: number | undefined
  /** The bad fields, or the checks of a document that could not be checked. */
  readonly details: NonNullable<Failure['error']['details']>
  /** The id of the request, for the operator's log. */
  readonly requestId: string | undefined

  constructor(
    code: CallError['code'],
    message: string,
    options: { status?: number; failure?: Failure['error']; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status
    this.details = options.failure?.details ?? []
    this.requestId = options.failure?.requestId
  }
}

const MAX_BACK_OFF_MS = 30_000

/** The input of any call. */
export type Loose = Settings & {
  path?: Record<string, string>
  query?: Record<string, string | number | undefined>
  body?: unknown
}
/** The address of a call. */
export type Target = {
  method: string
  path: string
  hasIdempotencyKey: boolean
  /** Whether body and answer are NDJSON. */
  isNdjson?: true
  /** Whether the answer is a file. */
  isFile?: true
}

/** @returns The data of the answer. */
export function call(options: ClientOptions, target: Target, input: Loose): Promise<unknown> {
  return repeated(options, target, input, (request) =>
    attemptOnce(options, request, input.signal, target.isFile),
  )
}

/** Repeats attempts until one succeeds, or fails in a way that another attempt cannot fix. */
export async function repeated<T>(
  options: ClientOptions,
  target: Target,
  input: Loose,
  attemptOnce: (request: Request) => Promise<Outcome<T>>,
): Promise<T> {
  const { maxAttempts = 5, backOffMs = 500 } = options
  const request = requestOf(options, target, input)
  const isRepeatable = target.method === 'GET' || target.hasIdempotencyKey
  for (let attempt = 1; ; attempt++) {
    input.signal?.throwIfAborted()
    const outcome = await attemptOnce(request)
    if ('data' in outcome) return outcome.data
    const { error, retryAfterMs } = outcome
    const mayRepeat = error.code === 'no_answer' ? isRepeatable : isBusy(error.status)
    if (!mayRepeat || attempt >= maxAttempts) throw error
    const backOff = Math.min(backOffMs * 2 ** (attempt - 1), MAX_BACK_OFF_MS)
    // The random part keeps clients that failed together from coming back together.
    await sleep(Math.max(retryAfterMs, backOff * (0.5 + Math.random() / 2)), input.signal)
  }
}

export type Request = ReturnType<typeof requestOf>

function requestOf({ baseUrl, apiKey }: ClientOptions, target: Target, input: Loose) {
  const path = target.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(input.path?.[name] ?? ''),
  )
  const query = Object.entries(input.query ?? {}).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(query as [string, string][]).toString()
  const { body } = input
  return {
    url: `${baseUrl.replace(/\/$/, '')}${path}${search && `?${search}`}`,
    method: target.method,
    headers: {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && {
        'content-type': target.isNdjson ? 'application/x-ndjson' : 'application/json',
      }),
      ...(input.prefer && { prefer: input.prefer }),
      // Browsers have no randomUUID in pages over plain HTTP, which give keys of their own.
      ...(target.hasIdempotencyKey && {
        'idempotency-key': `"${input.idempotencyKey ?? crypto.randomUUID()}"`,
      }),
    },
    ...(body !== undefined && { body: target.isNdjson ? linesOf(body) : JSON.stringify(body) }),
  }
}

const linesOf = (body: unknown) =>
  (body as unknown[]).map((one) => `${JSON.stringify(one)}\n`).join('')

/** The outcome of an attempt. */
export type Outcome<T> = { data: T } | { error: CallError; retryAfterMs: number }

async function attemptOnce(
  { fetch: send = fetch, timeoutMs = 30_000 }: ClientOptions,
  { url, ...init }: Request,
  signal: AbortSignal | undefined,
  isFile = false,
): Promise<Outcome<unknown>> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await send(url, {
      ...init,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    if (isFile && response.ok) return { data: new Uint8Array(await response.arrayBuffer()) }
    return outcomeOf(response, await response.text())
  } catch (cause) {
    signal?.throwIfAborted()
    return {
      error: new CallError('no_answer', 'the service did not answer', { cause }),
      retryAfterMs: 0,
    }
  }
}

/** @param text The body of the answer. */
export function outcomeOf({ ok, status, headers }: Response, text: string): Outcome<unknown> {
  const seconds = Number(headers.get('retry-after') ?? 0)
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_BACK_OFF_MS) : 0
  const body = parse(text)
  // A bundle has no envelope.
  if (ok && body) return { data: body.success === true ? body.data : body }
  const failure = body?.error as Failure['error'] | undefined
  const error =
    failure === undefined
      ? new CallError('not_understood', `the answer is not one of this API: HTTP ${status}`, {
          status,
        })
      : new CallError(codeOf(failure), failure.message, { status, failure })
  return { error, retryAfterMs }
}

/** Of `outcome_unknown` one knows as little as without an answer. */
function codeOf({ code }: Failure['error']): CallError['code'] {
  return code === 'outcome_unknown' ? 'no_answer' : code
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The answer may also come from a proxy in front of the service. */
function isBusy(status: number | undefined): boolean {
  return status === 429 || status === 503
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
