import { setTimeout as sleep } from 'node:timers/promises'
import { CallError, type Client, type Line } from '#client/index.ts'
import { InputError } from './errors.ts'
import { isTemporary, problemOf, refusalOf } from './outcome.ts'
import type { Target } from './targets.ts'

/** The gateway's answer to a change. */
export type Changed = { documentHash: string; status: string; [member: string]: unknown }

/** A document of a list with its result. */
export type Result = { line?: number; changed?: Changed; problem?: string }

/** One request about many documents. The answers come in their order. */
export type CallMany = (
  client: Client,
  targets: readonly Target[],
  signal: AbortSignal,
) => AsyncGenerator<Line<Changed>>

/** The maximum number of documents in one request to the gateway. */
const MAX_ENTRIES = 10_000
/** The attempts cover an outage of about three minutes. */
const MAX_ATTEMPTS = 7
const BACK_OFF_MS = 2_000

/** @returns How {@link CallMany} names a document. */
export const entryOf = ({ id }: Target) =>
  id.startsWith('0x') ? { documentHash: id } : { publicId: id }

/**
 * Changes documents in lists. What an outage left undone is sent again; repeating it is harmless.
 *
 * @param changed Receives each result once.
 * @throws {InputError} `interrupted`, except once `signal` has aborted.
 */
export async function changeMany(
  targets: readonly Target[],
  call: CallMany,
  {
    client,
    signal,
    changed,
  }: { client: Client; signal: AbortSignal; changed: (result: Result) => void },
): Promise<void> {
  for (let start = 0; start < targets.length; start += MAX_ENTRIES) {
    let left: readonly Target[] = targets.slice(start, start + MAX_ENTRIES)
    for (let attempt = 1; left.length > 0 && !signal.aborted; attempt++) {
      const sent = left
      const { undone, error } = await send(sent, call, { client, signal, changed })
      if (undone.length === 0 || signal.aborted) break
      // Lines that were done show that the service works.
      if (undone.length < sent.length) attempt = 1
      if (attempt === MAX_ATTEMPTS)
        throw new InputError('interrupted', `the gateway is unavailable: ${error}`)
      left = undone
      await sleep(BACK_OFF_MS * 2 ** (attempt - 1), undefined, { signal }).catch(() => {})
    }
  }
}

/** @returns The documents that an outage left undone, and why. */
async function send(
  targets: readonly Target[],
  call: CallMany,
  {
    client,
    signal,
    changed,
  }: { client: Client; signal: AbortSignal; changed: (result: Result) => void },
): Promise<{ undone: Target[]; error: string }> {
  const undone: Target[] = []
  let [error, answered] = ['the gateway did not answer', 0]
  try {
    for await (const line of call(client, targets, signal)) {
      const target = targets[line.line - 1] as Target
      answered = line.line
      const at = target.line === undefined ? {} : { line: target.line }
      if (line.success) changed({ ...at, changed: line.data })
      else if (isTemporary(line.error.code)) {
        undone.push(target)
        error = problemOf(line.error)
      } else changed({ ...at, problem: problemOf(line.error) })
    }
  } catch (cause) {
    if (!signal.aborted && !(cause instanceof CallError && cause.code === 'no_answer'))
      throw new InputError('interrupted', refusalOf(cause), cause)
  }
  return { undone: [...undone, ...targets.slice(answered)], error }
}
