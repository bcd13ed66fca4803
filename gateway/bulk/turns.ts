import { setImmediate as nextTurn } from 'node:timers/promises'

/** Documents to seal, or to answer for, in one turn of the event loop: about 1 ms. */
const DOCUMENTS_A_TURN = 16

/** Lets everything else have its turn, now and then. @param count What was done by now. */
export async function turnAfter(count: number): Promise<void> {
  if (count % DOCUMENTS_A_TURN === 0) await nextTurn()
}
