import type { Hex } from '#document/hex.ts'
import type { OutboxPorts, Queue } from '#promise/ports.ts'
import type { Waiting } from '#promise/send.ts'
import type { Database } from '#store/database.ts'
import { createLeaderOutbox, createOutbox, type LeaderOutbox } from '#store/outbox.ts'

/** All ports of the outbox, as the gateway that leads has them. */
export type WholeOutbox = OutboxPorts & LeaderOutbox

/** @returns The outbox of a database that nobody else uses. */
export function createWholeOutbox(database: Database): WholeOutbox {
  return { ...createOutbox(database), ...createLeaderOutbox(database) }
}

/** An account that sends transactions. */
export const ACCOUNT: Hex = `0x${'ad'.repeat(20)}`

/** @returns What an account may send now. */
export function waitingFor(outbox: Pick<Queue, 'next'>, account = ACCOUNT): Promise<Waiting[]> {
  return outbox.next({ account }, { now: Date.now(), limit: 10_000 })
}
