import type { Hex } from '#document/hex.ts'
import { API_KEY } from '../../support/given.ts'
import type { Client } from './client.ts'
import type { Ledger } from './ledger.ts'
import { fieldsOf } from './wish.ts'

/** Documents that a client wants to issue with one root. */
export type Batch = {
  idempotencyKey: string
  /** The subjectIds of the documents. */
  numbers: readonly string[]
  /** The answer, once there is one. */
  promised: { root: Hex; publicIds: readonly string[] } | undefined
}

type Line = { data: { publicId: string; batchRoot: Hex } }

/**
 * Sends the request for the first time or again.
 *
 * @returns Whether the batch is promised.
 */
export async function sendBatch(client: Client, batch: Batch): Promise<boolean> {
  const { idempotencyKey, numbers } = batch
  const reply = await client.call({
    method: 'POST',
    path: '/v1/batches',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': idempotencyKey,
    },
    body: numbers.map((number) => JSON.stringify(fieldsOf({ number }))).join('\n'),
  })
  if (reply?.status !== 201 && reply?.status !== 202) return false
  const lines = reply.text.trimEnd().split('\n')
  const answers = lines.map((line) => (JSON.parse(line) as Line).data)
  const root = answers[0]?.batchRoot
  if (root === undefined) throw new Error(`a promised batch without a root: ${reply.text}`)
  batch.promised = { root, publicIds: answers.map(({ publicId }) => publicId) }
  return true
}

export type BatchJudgement = {
  /** The number of promised batches. */
  batches: number
  /** The number of documents in them. */
  inBatches: number
  /**
   * The keys of promised batches that are not on the chain, or that have a document that is not
   * valid.
   */
  lostBatches: string[]
  /** Roots that are on the chain more than once, or more roots than requests. */
  doubledBatches: string[]
}

export async function judgeBatches(
  { client, ledger }: { client: Client; ledger: Ledger },
  batches: readonly Batch[],
): Promise<BatchJudgement> {
  const roots = await ledger.batches()
  const promised = batches.flatMap(({ promised, ...batch }) =>
    promised ? { ...batch, promised } : [],
  )
  const lostBatches: string[] = []
  for (const {
    idempotencyKey,
    promised: { root, publicIds },
    numbers,
  } of promised) {
    const verdicts = await Promise.all(publicIds.map(client.verdict))
    const isWhole = publicIds.length === numbers.length && verdicts.every(({ valid }) => valid)
    if (!roots.includes(root) || !isWhole) lostBatches.push(idempotencyKey)
  }
  const unanswered = batches.length - promised.length
  const unknown = roots.filter((root) => promised.every((one) => one.promised.root !== root))
  return {
    batches: promised.length,
    inBatches: promised.flatMap((one) => one.promised.publicIds).length,
    lostBatches,
    doubledBatches: [
      ...roots.filter((root, i) => roots.indexOf(root) !== i),
      ...(unknown.length > unanswered ? unknown : []),
    ],
  }
}
