import type { Failure } from './api.ts'
import {
  CallError,
  type ClientOptions,
  type Loose,
  type Outcome,
  outcomeOf,
  type Request,
  repeated,
  type Target,
} from './call.ts'

/** The answer about one of many documents; `line` is its number in the request, from 1. */
export type Line<T> =
  | { line: number; success: true; data: T }
  | ({ line: number } & Failure & { success: false })

/** An answer begins once the whole request has been read, and its lines arrive as blocks do. */
const MAX_SILENCE_MS = 5 * 60_000

/**
 * Sends lines, and reads the lines of the answer as they arrive.
 *
 * @throws {CallError} when the request was refused; `no_answer` when the answer was cut off.
 */
export async function* callForLines(
  options: ClientOptions,
  target: Target,
  input: Loose,
): AsyncGenerator<Line<unknown>> {
  yield* await repeated(options, target, input, (request) => begin(options, request, input.signal))
}

async function begin(
  { fetch: send = fetch }: ClientOptions,
  { url, ...init }: Request,
  signal: AbortSignal | undefined,
): Promise<Outcome<AsyncGenerator<Line<unknown>>>> {
  const silence = silenceOf(MAX_SILENCE_MS)
  const failed = (cause: unknown) => {
    silence.end()
    signal?.throwIfAborted()
    return new CallError('no_answer', 'the service did not answer', { cause })
  }
  try {
    const response = await send(url, {
      ...init,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    })
    // The answer about a batch of which nothing was issued has lines too.
    if (response.headers.get('content-type')?.startsWith('application/x-ndjson') && response.body)
      return { data: linesOf(response.body, silence, failed) }
    const outcome = outcomeOf(response, await response.text())
    silence.end()
    if ('error' in outcome) return outcome
    const { status } = response
    throw new CallError(
      'not_understood',
      `the service did not answer with NDJSON: HTTP ${status}`,
      { status },
    )
  } catch (cause) {
    if (cause instanceof CallError) throw cause
    return { error: failed(cause), retryAfterMs: 0 }
  }
}

async function* linesOf(
  body: ReadableStream<Uint8Array>,
  silence: ReturnType<typeof silenceOf>,
  failed: (cause: unknown) => CallError,
): AsyncGenerator<Line<unknown>> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await (reader.read() as Promise<ReadableStreamReadResult<string>>)
      if (done) break
      silence.broken()
      const lines = (text + value).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
    }
    if (text !== '') throw new Error('the last line is incomplete')
  } catch (cause) {
    throw failed(cause)
  } finally {
    silence.end()
    // A caller that stops reading ends the answer, but not the work of the service.
    await reader.cancel().catch(() => {})
  }
}

/** Aborts after a time in which nothing was received. */
function silenceOf(milliseconds: number) {
  const controller = new AbortController()
  const start = () =>
    setTimeout(() => controller.abort(new Error('nothing was received in time')), milliseconds)
  let timer = start()
  const end = () => clearTimeout(timer)
  return {
    signal: controller.signal,
    end,
    broken() {
      end()
      timer = start()
    },
  }
}
