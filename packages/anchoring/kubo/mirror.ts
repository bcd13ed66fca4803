import { repeat } from '#base/concurrency.ts'
import type { Log } from '#base/log.ts'
import type { MirrorRows } from '#promise/ports.ts'
import type { KuboStore } from './store.ts'

const PAUSE_MS = 1_000

/**
 * Pins on a Kubo node what the database has: first what was sent or put lately, then, at a new node
 * or one that has lost its newest pin, all payloads. After a kill, a group may be pinned twice.
 *
 * This process erases no payload between its reading and its pin. If another one does, which has
 * begun to lead, the pin is removed.
 *
 * @returns A function that stops it, and waits for the group under way.
 */
export function startMirror(deps: {
  rows: MirrorRows
  kubo: KuboStore
  isErased: (hash: Uint8Array) => Promise<boolean>
  log: Log
}): () => Promise<void> {
  const { rows, kubo, isErased, log } = deps
  /** Whether the node's settings were checked since its last failure. */
  let isReady = false
  let failure: string | undefined

  /** @returns Whether there may be more. */
  async function pinNext(): Promise<boolean> {
    const { next, root } = await kubo.alone(async () => {
      const next = await rows.next()
      return { next, root: await kubo.pin(next?.payloads ?? []) }
    })
    const hashes = next?.hashes ?? []
    const erased = await Promise.all(hashes.map(isErased))
    for (const hash of hashes.filter((_, i) => erased[i])) await kubo.erase(hash)
    if (next || root) await rows.done(next ?? { hashes: [], payloads: [], rows: [] }, root)
    return next !== undefined
  }

  async function work(signal: AbortSignal): Promise<void> {
    const root = await rows.root()
    // The first payloads are read some time later, so that none is being written unseen.
    if (root === undefined) return rows.begin()
    if (!isReady) await kubo.assertReady()
    isReady = true
    if (root && !(await kubo.hasPinned(root))) {
      log.warn('pins_lost', { hint: 'the Kubo node lacks its newest pin: all payloads are pinned' })
      return rows.begin()
    }
    while (!signal.aborted && (await pinNext())) {}
    failure = undefined
  }

  return repeat(PAUSE_MS, work, (error) => {
    isReady = false
    if (failure !== String(error)) log.warn('payloads_not_pinned', { error: String(error) })
    failure = String(error)
  })
}
