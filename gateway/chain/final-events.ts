import { RecentMap } from '#base/recent-map.ts'
import type { DocumentKey, IssuedEvent } from '#verifier/ports.ts'

/** Maximum number of cached events: some 500 bytes each. */
const MAX_EVENTS = 64_000

/** Events of final blocks, which do not change. */
export class FinalEvents {
  readonly #events = new RecentMap<IssuedEvent>(MAX_EVENTS)
  #finalized = 0

  /** @param block The newest final block. When it goes back, it belongs to another chain. */
  moveTo(block: number): void {
    if (block < this.#finalized) this.#events.clear()
    this.#finalized = block
  }

  isFinal(block: number): boolean {
    return block <= this.#finalized
  }

  get(key: DocumentKey, block: number): IssuedEvent | undefined {
    return this.#events.get(idOf(key, block))
  }

  /** @param event As read when its block was final already. */
  add(key: DocumentKey, block: number, event: IssuedEvent): void {
    // An event that does not match its key is not kept: the node may give a better answer.
    if (event.issuerId !== key.issuerId) return
    this.#events.add(idOf(key, block), event)
  }
}

function idOf({ issuerId, documentHash, batch }: DocumentKey, block: number) {
  return `${batch ? 'batch' : 'single'} ${issuerId} ${batch?.root ?? documentHash} ${block}`
}
