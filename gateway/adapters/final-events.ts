import type { DocumentKey, IssuedEvent } from '../../verifier/ports.ts'

/** Maximum number of events that are kept: some 400 bytes each. */
const MAX_EVENTS = 50_000

/** Events of final blocks, which do not change; the least recently used leave first. */
export class FinalEvents {
  readonly #events = new Map<string, IssuedEvent>()
  #finalized = 0

  /** @param block The newest final block. When it goes back, it is that of another chain. */
  moveTo(block: number): void {
    if (block < this.#finalized) this.#events.clear()
    this.#finalized = block
  }

  isFinal(block: number): boolean {
    return block <= this.#finalized
  }

  get(key: DocumentKey, block: number): IssuedEvent | undefined {
    const id = idOf(key, block)
    const event = this.#events.get(id)
    if (event && this.#events.delete(id)) this.#events.set(id, event)
    return event
  }

  /** @param event As read when its block was final already. */
  add(key: DocumentKey, block: number, event: IssuedEvent): void {
    // What does not fit its key is not an event: the node may give a better answer.
    if (event.issuerId !== key.issuerId) return
    this.#events.set(idOf(key, block), event)
    if (this.#events.size <= MAX_EVENTS) return
    const [oldest] = this.#events.keys()
    if (oldest !== undefined) this.#events.delete(oldest)
  }
}

function idOf({ issuerId, documentHash, batch }: DocumentKey, block: number) {
  return `${batch ? 'batch' : 'single'} ${issuerId} ${batch?.root ?? documentHash} ${block}`
}
