import { CALLS, type Calls, LINE_CALLS, type LineCalls } from './api.ts'
import { type ClientOptions, call, type Loose, type Settings } from './call.ts'
import { callForLines, type Line } from './lines.ts'

export type {
  ApiKey,
  ApiKeyWithSecret,
  Batch,
  BlockchainProof,
  Calls,
  Check,
  Document,
  ErasureReceipt,
  Event,
  EventType,
  Failure,
  FieldProblem,
  IssuedDocument,
  ListedPerson,
  Network,
  NewDocument,
  Passkey,
  Person,
  Reason,
  RetrievedDocument,
  Run,
  Scope,
  Search,
  Session,
  Status,
  SuccessorDocument,
  UnopenedDocument,
  Verdict,
  Webhook,
  WebhookWithSecret,
} from './api.ts'
export { CallError, type ClientOptions } from './call.ts'
export type { Line } from './lines.ts'

type Arguments<I> = Record<string, never> extends I ? [input?: I & Settings] : [input: I & Settings]

/**
 * Has a method for each call of the API, which resolves to the `data` of the answer, or to the bytes
 * of a file. Calls about many documents return the answer about each, in order, as it arrives.
 */
export type Client = {
  [K in keyof Calls]: (...args: Arguments<Calls[K]['input']>) => Promise<Calls[K]['data']>
} & {
  [K in keyof LineCalls]: (
    ...args: Arguments<LineCalls[K]['input']>
  ) => AsyncGenerator<Line<LineCalls[K]['data']>>
}

/**
 * A client of the REST API. A call is repeated when the service is busy or has an outage (429, 503:
 * nothing was done). It is repeated without an answer only where that is safe: for reads, and with
 * an Idempotency-Key, which issuing always has.
 *
 * @throws {CallError} from each method; whatever `signal` aborts with, when it does.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: 'https://documents.example', apiKey })
 * const { document } = await client.verifyDocument({ query: { publicId } })
 * document.subjectName // => 'Ada Lovelace'
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const methods = Object.entries(CALLS).map(([name, target]) => [
    name,
    (input: Loose = {}) => call(options, target, input),
  ])
  const lineMethods = Object.entries(LINE_CALLS).map(([name, target]) => [
    name,
    (input: Loose = {}) => callForLines(options, { ...target, isNdjson: true }, input),
  ])
  return Object.fromEntries([...methods, ...lineMethods])
}
