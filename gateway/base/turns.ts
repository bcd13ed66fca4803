import { setImmediate as nextTurn } from 'node:timers/promises'

/** Documents to seal, or to answer for, in one turn of the event loop: about 1 ms. */
const DOCUMENTS_A_TURN = 16

/**
 * Lets everything else have its turn, now and then.
 *
 * @param count What was done by now. @param each How much of it is done in one turn.
 */
export async function turnAfter(count: number, each = DOCUMENTS_A_TURN): Promise<void> {
  if (count % each === 0) await nextTurn()
}
