import { setTimeout as sleep } from 'node:timers/promises'
import type { RevocationReason } from '#verifier/reasons.ts'
import type { Random } from '../../support/random.ts'
import { type Batch, sendBatch } from './batches.ts'
import type { Client } from './client.ts'
import { fieldsOf, isRevocationPromised, promisesOf, type Wish } from './wish.ts'

/** The load of a run. Each operation repeats its requests until it has a final answer. */
export type Operations = {
  /** The batches that clients want issued. */
  readonly batches: readonly Batch[]
  /**
   * Runs an operation, chosen by weight.
   *
   * @returns The number of documents that were acknowledged.
   */
  runOne(): Promise<number>
}

/** The time between a request and its repeat, in milliseconds. */
const PAUSE_MS = 20
/** The time between two revocations of a document, which is about that of a block. */
const MAX_APART_MS = 200
/** The share of requests with `Prefer: respond-async`. */
const ASYNC = 0.2
/** The share of documents with an idempotency key. */
const KEYED = 0.3
const MAX_BATCH = 4
/** The first subjectId of documents in batches, which come after all others. */
const FIRST_IN_BATCHES = 1_000_000_000

/** @param over Returns whether to give up requests that are not answered yet. */
export function createOperations(client: Client, random: Random, over: () => boolean): Operations {
  const batches: Batch[] = []
  const busy = new Set<Wish>()
  let nextInBatch = FIRST_IN_BATCHES
  const newKey = () => `key-${random.below(2 ** 32)}-${random.below(2 ** 32)}`
  const prefer = (): Record<string, string> =>
    random.next() < ASYNC ? { prefer: 'respond-async' } : {}

  /** Repeats a request until it has a final answer. */
  async function insist(isAnswered: () => Promise<boolean>): Promise<void> {
    while (!(await isAnswered()) && !over()) await sleep(PAUSE_MS)
  }

  /**
   * Works on a random document that is promised and can still be used, with one client at a time.
   */
  async function withSome(
    work: (wish: Wish, publicId: string) => Promise<void>,
    isFit: (wish: Wish) => boolean = isCurrent,
  ): Promise<number> {
    const wish = client.wishes[random.below(client.wishes.length)]
    const [publicId] = wish ? promisesOf(wish) : []
    if (!wish || publicId === undefined || busy.has(wish) || !isFit(wish)) return 0
    busy.add(wish)
    await work(wish, publicId).finally(() => busy.delete(wish))
    return 0
  }

  async function issue(): Promise<number> {
    const wish = await client.issue({
      respondAsync: random.next() < ASYNC,
      ...(random.next() < KEYED && { idempotencyKey: newKey() }),
    })
    const isPromised = () => promisesOf(wish).length > 0
    // Without a key, a repeat would be a second document.
    if (wish.idempotencyKey)
      await insist(async () => isPromised() || (await client.repeat(wish)).kind === 'issued')
    if (!isPromised()) await sleep(PAUSE_MS)
    return isPromised() ? 1 : 0
  }

  const revoke = (wish: Wish, reason: RevocationReason = 'keyCompromise') =>
    insist(async () => {
      await client.revoke(wish, { respondAsync: random.next() < ASYNC, reason })
      return isRevocationPromised(wish)
    })

  /** Revokes a document for two reasons at nearly the same time; one of them comes first. */
  async function revokeTwice(wish: Wish): Promise<void> {
    const second = sleep(random.below(MAX_APART_MS)).then(() => revoke(wish, 'superseded'))
    await Promise.all([revoke(wish), second])
  }

  /** Suspends a document, or releases it if it was suspended, always at the same gateway. */
  async function toggle(wish: Wish, publicId: string): Promise<void> {
    const { change: before, done: settled = true } = wish.suspension ?? {}
    const change = settled ? opposite(before) : (before ?? 'suspend')
    const suspension = { change, done: false }
    wish.suspension = suspension
    // Only 200 confirms it, because another change may follow.
    await insist(async () => {
      const path = `/v1/documents/${publicId}/${change}`
      const call = { method: 'POST', path, headers: prefer(), body: '{}' } as const
      const reply = await client.call(call, Number(wish.number) % client.gateways)
      suspension.done = reply?.status === 200
      return suspension.done
    })
  }

  async function supersede(wish: Wish, publicId: string): Promise<void> {
    const idempotencyKey = newKey()
    const successor = client.wish({ idempotencyKey, isSuccessor: true })
    wish.successor = successor
    await insist(async () => {
      const reply = await client.call({
        method: 'POST',
        path: `/v1/documents/${publicId}/supersede`,
        headers: { 'idempotency-key': idempotencyKey, ...prefer() },
        body: JSON.stringify(fieldsOf(successor)),
      })
      if (reply === undefined) successor.told.push({ kind: 'unanswered' })
      else if (reply.status === 201 || reply.status === 202) {
        const { publicId, status: document } = JSON.parse(reply.text).data
        successor.told.push({ kind: 'issued', status: reply.status, publicId, document })
        return true
      } else {
        const { code } = JSON.parse(reply.text).error
        successor.told.push({ kind: 'refused', status: reply.status, code })
      }
      return reply?.status === 409
    })
  }

  /** Erases a document at every gateway, because each has its own payloads. */
  async function erase(wish: Wish, publicId: string): Promise<void> {
    const erasure = new Map(Array.from({ length: client.gateways }, (_, i) => [i, false]))
    wish.erasure = erasure
    for (const gateway of erasure.keys())
      await insist(async () => {
        const path = `/v1/documents/${publicId}/payload`
        const reply = await client.call({ method: 'DELETE', path }, gateway)
        erasure.set(gateway, reply?.status === 200 || reply?.status === 202)
        return erasure.get(gateway) === true
      })
  }

  /** Issues several documents in one request, whose repeats have the same key. */
  async function batch(): Promise<number> {
    const made: Batch = {
      idempotencyKey: newKey(),
      numbers: Array.from({ length: 1 + random.below(MAX_BATCH) }, () => String(nextInBatch++)),
      promised: undefined,
    }
    batches.push(made)
    await insist(() => sendBatch(client, made))
    return made.promised?.publicIds.length ?? 0
  }

  const table: { weight: number; run: () => Promise<number> }[] = [
    { weight: 60, run: issue },
    { weight: 8, run: () => withSome((wish) => revoke(wish)) },
    { weight: 4, run: () => withSome(revokeTwice) },
    { weight: 10, run: () => withSome(toggle) },
    { weight: 6, run: () => withSome(supersede) },
    { weight: 4, run: () => withSome(erase, ({ erasure }) => erasure === undefined) },
    { weight: 4, run: batch },
    {
      weight: 8,
      // The outbox may already have dropped its row, and a lagging node may not have its record.
      run: () =>
        withSome(
          async (wish) => void (await client.repeat(wish)),
          // The body of a successor sent alone with its key is another document.
          ({ idempotencyKey, isSuccessor }) => idempotencyKey !== undefined && !isSuccessor,
        ),
    },
  ]
  const total = table.reduce((sum, { weight }) => sum + weight, 0)

  return {
    batches,
    async runOne() {
      let at = random.below(total)
      for (const { weight, run } of table) {
        if (at < weight) return run()
        at -= weight
      }
      return 0
    },
  }
}

const opposite = (change?: 'suspend' | 'release') => (change === 'suspend' ? 'release' : 'suspend')

/** @returns Whether it was neither revoked, superseded nor erased, as far as its clients know. */
function isCurrent({ revocation, successor, erasure }: Wish): boolean {
  return !revocation && !successor && !erasure
}
