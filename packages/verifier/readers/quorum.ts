import { ChainError } from '../errors.ts'
import { type ChainReader, type ChainReading, FINALITIES, type ReadOptions } from '../ports.ts'

/**
 * The maximum seconds by which the agreed block may be older than the newest block that enough
 * endpoints have.
 */
const MAX_LAG_SECONDS = 120

/**
 * Combines several endpoints into one reader that returns only what `quorum` of them answer alike
 * for the same block. With one honest endpoint more than `quorum` needs, a single one that lies,
 * lags or is down changes nothing.
 *
 * Endpoints rarely have the same newest block at the same moment. Those that are ahead are read
 * again at the newest block that `quorum` of them have, and then at older heads.
 *
 * @param readers Readers of one registry, each with another node.
 * @param quorum From 1 to the number of readers. Use more than half: with half or fewer, two groups
 * could agree on different answers.
 * @param options.maxLag Seconds; 120 if absent. An endpoint that is further behind does not count,
 * so there is no agreement unless enough others agree.
 * @throws {TypeError} for another quorum, readers of different registries, or the same reader
 * twice, which would agree with itself.
 *
 * Its methods reject with `endpoints_disagree`; with too few answers `rpc_unreachable`, or the code
 * that all failures have.
 *
 * @example
 * ```ts
 * const nodes = ['https://rpc.example', 'https://rpc.two.example']
 * const readers = nodes.map((url) => createChainReader(createFetchProvider(url), registry))
 * const chain = createQuorumReader(readers, 2)
 * const { status } = await verify(publicId, { chain, blocks: [] })
 * ```
 */
export function createQuorumReader(
  readers: readonly ChainReader[],
  quorum: number,
  { maxLag = MAX_LAG_SECONDS }: { maxLag?: number } = {},
): ChainReader {
  const registries = new Set(readers.map(({ registry }) => registry))
  const [registry] = registries
  if (registry === undefined || registries.size !== 1)
    throw new TypeError('readers must not be empty, and must all read the same registry')
  if (new Set(readers).size < readers.length)
    throw new TypeError('readers must not contain duplicates')
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > readers.length)
    throw new TypeError(`quorum must be from 1 to ${readers.length}`)

  return {
    registry,

    async read(key, { block, signal } = {}) {
      const heads = await ask(
        readers,
        (reader) => reader.read(key, { block, signal }),
        agreed(quorum, readingKey),
        signal,
      )
      if (heads.agreed) return heads.agreed.value
      assertEnough(heads, quorum)
      if (block !== undefined) throw disagreement()
      for (const height of commonHeights(heads.answers, quorum, maxLag)) {
        const having = heads.answers.filter(({ value }) => value.blockNumber >= height)
        const known = new Map(having.map(({ reader, value }) => [reader, value]))
        const again = await ask(
          [...known.keys()],
          async (reader) => {
            const head = known.get(reader)
            return head?.blockNumber === height ? head : reader.read(key, { block: height, signal })
          },
          agreed(quorum, readingKey),
          signal,
        )
        if (again.agreed) return again.agreed.value
      }
      throw disagreement()
    },

    async issuedEvent(key, blockNumber, options = {}) {
      const events = await ask(
        readers,
        (reader) => reader.issuedEvent(key, blockNumber, options),
        agreed(quorum, (event) => JSON.stringify(event ?? null)),
        options.signal,
      )
      if (events.agreed) return events.agreed.value
      assertEnough(events, quorum)
      throw disagreement()
    },

    async finalityOf(blockNumber, options = {}) {
      const answers = await ask(
        readers,
        (reader) => reader.finalityOf(blockNumber, options),
        () => undefined,
        options.signal,
      )
      assertEnough(answers, quorum)
      const levels = answers.answers.map(({ value }) => FINALITIES.indexOf(value))
      levels.sort((a, b) => b - a)
      return FINALITIES[levels[quorum - 1] ?? 0] ?? 'included'
    },

    async blockTime(blockNumber, options = {}) {
      const times = await ask(
        readers,
        (reader) => reader.blockTime(blockNumber, options),
        agreed(quorum, String),
        options.signal,
      )
      if (times.agreed) return times.agreed.value
      assertEnough(times, quorum)
      throw disagreement()
    },
  }
}

type ReaderAnswer<T> = { reader: ChainReader; value: T }
type Answers<T> = {
  answers: ReaderAnswer<T>[]
  failures: unknown[]
  agreed: ReaderAnswer<T> | undefined
}

/**
 * Queries all endpoints at once. Resolves when `settles` finds an answer, or all have answered or
 * failed.
 */
function ask<T>(
  readers: readonly ChainReader[],
  read: (reader: ChainReader) => Promise<T>,
  settles: (answers: readonly ReaderAnswer<T>[]) => ReaderAnswer<T> | undefined,
  signal: ReadOptions['signal'],
): Promise<Answers<T>> {
  const result: Answers<T> = { answers: [], failures: [], agreed: undefined }
  return new Promise((resolve, reject) => {
    const settle = () => {
      if (signal?.aborted) return reject(signal.reason)
      result.agreed ??= settles(result.answers)
      const count = result.answers.length + result.failures.length
      if (result.agreed || count === readers.length) resolve(result)
    }
    for (const reader of readers)
      read(reader)
        .then(
          (value) => {
            result.answers.push({ reader, value })
          },
          (failure) => {
            result.failures.push(failure)
          },
        )
        .then(settle)
        .catch(reject)
  })
}

/**
 * @returns A function that finds the answer of `quorum` endpoints; equal answers have equal
 * `keyOf`.
 */
function agreed<T>(quorum: number, keyOf: (value: T) => string) {
  return (answers: readonly ReaderAnswer<T>[]): ReaderAnswer<T> | undefined => {
    const counts = new Map<string, number>()
    return answers.find(({ value }) => {
      const count = (counts.get(keyOf(value)) ?? 0) + 1
      counts.set(keyOf(value), count)
      return count === quorum
    })
  }
}

function readingKey(reading: ChainReading): string {
  const { blockNumber, blockHash = null, blockTime, status } = reading
  const { record, account, revoker, issuer } = reading
  const block = [blockNumber, blockHash, blockTime]
  return JSON.stringify([block, status, record, account, revoker, issuer])
}

/**
 * @returns The heads that `quorum` endpoints have reached, newest first, without those that lag too
 * far. The lag is counted from a head that enough endpoints confirm, because a few could make up a
 * newer one.
 */
function commonHeights(
  answers: readonly ReaderAnswer<ChainReading>[],
  quorum: number,
  maxLag: number,
): number[] {
  const heads = answers.map(({ value }) => value)
  heads.sort((a, b) => b.blockNumber - a.blockNumber)
  const newest = heads[heads.length - quorum]?.blockTime ?? 0
  const common = heads.slice(quorum - 1).filter(({ blockTime }) => newest - blockTime <= maxLag)
  return [...new Set(common.map(({ blockNumber }) => blockNumber))]
}

function assertEnough({ answers, failures }: Answers<unknown>, quorum: number): void {
  if (answers.length >= quorum) return
  const codes = new Set(
    failures.map((failure) => (failure instanceof ChainError ? failure.code : undefined)),
  )
  const [code] = codes
  throw new ChainError(
    code !== undefined && codes.size === 1 ? code : 'rpc_unreachable',
    `only ${answers.length} endpoints answered, but ${quorum} are required`,
    new AggregateError(failures),
  )
}

function disagreement(): ChainError {
  return new ChainError('endpoints_disagree', 'fewer endpoints than required gave the same answer')
}
