import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '#document/hex.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import type { Ledger } from './ledger.ts'

type Event = {
  type: string
  data: { documentHash?: Hex; batchRoot?: Hex; blockHash?: Hex; transactionHash?: Hex }
}

/** How long a gateway may take to report what is on the chain, and what a reorg has moved. */
const PATIENCE_MS = 60_000
const FINAL = /\.(revoked|superseded)$/
const CHANGE = /\.(revoked|superseded|suspended|released)$/

/**
 * Compares the events of changes with the chain until they agree.
 *
 * @param read Returns the answer of a gateway to a path.
 * @param hashes Documents; each revoked one must have an event of its revocation.
 * @returns The faults.
 */
export async function judgeEvents(
  ledger: Ledger,
  read: (path: string) => Promise<string>,
  hashes: readonly Hex[],
): Promise<string[]> {
  const began = performance.now()
  for (;;) {
    const wrong = wrongAmong(await readEvents(read), await ledger.changes(), [
      ...(await ledger.reasons(hashes)),
    ])
    if (wrong.length === 0 || performance.now() - began > PATIENCE_MS) return wrong
    await sleep(500)
  }
}

/** @returns All events of a gateway, in order. */
async function readEvents(read: (path: string) => Promise<string>): Promise<Event[]> {
  const all: Event[] = []
  for (let after = ''; ; ) {
    const { data } = JSON.parse(await read(`/v1/events?limit=1000${after}`))
    all.push(...data.events)
    if (!data.hasMore) return all
    after = `&after=${data.next}`
  }
}

/**
 * @param changes The changes on the chain. @param reasons The reasons of final revocations, by
 * record.
 */
function wrongAmong(
  events: readonly Event[],
  { logs, blocks }: Awaited<ReturnType<Ledger['changes']>>,
  reasons: readonly [Hex, number][],
): string[] {
  const onChain = new Set(logs)
  const wrong: string[] = []
  const last = new Map<Hex | undefined, string>()
  for (const { type, data } of events) {
    const { documentHash, batchRoot, blockHash, transactionHash } = data
    const hash = documentHash ?? batchRoot
    if (!CHANGE.test(type)) continue
    const kind = type.replace(/^.*\./, '')
    if (FINAL.test(type)) last.set(hash, kind)
    // A block that a reorg dropped no longer exists.
    if (!transactionHash || !blockHash || !blocks.has(blockHash)) continue
    const change = `${kind} ${hash} ${transactionHash}`
    if (!onChain.has(change)) wrong.push(`not on the chain: ${change}`)
  }
  for (const [hash, reason] of reasons) {
    const kind = reason === SUPERSEDED ? 'superseded' : 'revoked'
    if (last.get(hash) !== kind) wrong.push(`${hash} is ${kind}, its last event ${last.get(hash)}`)
  }
  return wrong
}
