import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { bytes32 } from '#document/members.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import type { Eip1193Provider, ReadOptions } from '#verifier/ports.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { scanLogs } from '#verifier/readers/log-scan.ts'
import { createRequest, type Request, readStrictly } from '#verifier/readers/request.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { InputError } from '../errors.ts'
import { printableLine } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { hashOfBlock } from './block-hash.ts'
import type { Mark } from './journal.ts'
import {
  type AdminEvent,
  decodeFollowedLog,
  everyAdminTopic,
  type RoleEvent,
} from './registry-events.ts'

/** The number of reported events that are remembered, so that a reorg does not repeat them. */
const MAX_REMEMBERED = 10_000
/** The number of blocks that are read again after a reorg. */
const REORG_DEPTH = 64

/** One line of `docreg audit --follow`. */
export type Alert =
  | (AdminEvent & {
      /**
       * An event such as `recovery_proposed` or `account_added`; `unknown_issuer` for an issuer
       * that was not named.
       */
      alert: AdminEvent['event'] | 'unknown_issuer'
    })
  | (RoleEvent & { alert: RoleEvent['event'] })
  | { alert: 'node_unreachable' | 'node_back' }
  | { alert: 'reorg'; block: number }

export type FollowOptions = ReadOptions & {
  registry: RegistryId
  /**
   * The issuers to follow. For others, only new names are reported, because they may be
   * look-alikes.
   */
  issuers: readonly number[]
  /** The first block to read. */
  from: number
  /** Where an earlier run stopped; used instead of `from`. */
  last?: Mark | undefined
  /** Receives the last block that was read, once its alerts have been reported. */
  onRead?: (mark: Mark) => Promise<void>
  /** Waits for the next poll. */
  sleep: () => Promise<void>
}

/**
 * Reports what happens to issuers, accounts and the registry's admin as soon as it is in a block.
 * An event that a reorg removes is not taken back. Continues through outages until its signal
 * aborts.
 *
 * @throws {ChainError} `pruned` when the node no longer has the events.
 */
export async function* follow(
  request: Request,
  { registry, issuers, from, sleep, signal, onRead, ...options }: FollowOptions,
): AsyncGenerator<Alert> {
  const { address } = parseRegistry(registry)
  const filter = { address, topics: everyAdminTopic() }
  const reported = new Set<string>()
  let { last } = options
  let next = last ? last.block + 1 : from
  let isDown = false
  while (!signal?.aborted) {
    try {
      const head = await newestBlock(request)
      if (isDown) yield { alert: 'node_back' }
      isDown = false
      if (last && (await hashOfBlock(request, last.block)) !== last.hash) {
        yield { alert: 'reorg', block: last.block }
        next = Math.max(0, last.block - REORG_DEPTH)
        last = undefined
      }
      for await (const { logs, to } of scanLogs(request, [filter], { from: next, to: head })) {
        const events = readStrictly('eth_getLogs', () =>
          (logs[0] ?? []).flatMap((log) => decodeFollowedLog(log, address) ?? []),
        )
        for (const event of events) {
          const alert = alertOf(event, issuers)
          if (alert && isNew(reported, event)) yield alert
        }
        next = to + 1
        const hash = await hashOfBlock(request, to)
        last = hash === undefined ? undefined : { block: to, hash }
        if (last) await onRead?.(last)
      }
    } catch (error) {
      if (!(error instanceof ChainError) || error.code === 'pruned') throw error
      if (!isDown) yield { alert: 'node_unreachable' }
      isDown = true
    }
    await sleep()
  }
}

function alertOf(event: AdminEvent | RoleEvent, issuers: readonly number[]): Alert | undefined {
  if (!('issuerId' in event)) return { alert: event.event, ...event }
  if (issuers.includes(event.issuerId)) return { alert: event.event, ...event }
  if (event.event === 'issuer_registered') return { alert: 'unknown_issuer', ...event }
  return event.event === 'issuer_renamed' ? { alert: event.event, ...event } : undefined
}

function isNew(reported: Set<string>, event: AdminEvent | RoleEvent) {
  const issuer = 'issuerId' in event ? event.issuerId : undefined
  const key = [event.transactionHash, event.event, issuer, event.account].join()
  if (reported.has(key)) return false
  reported.add(key)
  const [oldest] = reported
  if (reported.size > MAX_REMEMBERED && oldest !== undefined) reported.delete(oldest)
  return true
}

async function newestBlock(request: Request): Promise<number> {
  const answer = await request('eth_blockNumber', [])
  return readStrictly('eth_blockNumber', () => readQuantity(answer))
}

const POLL_INTERVAL_MS = 4_000

const place = v.object({
  registry: v.string(),
  last: v.object({ block: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), hash: bytes32 }),
})

type Options = Pick<FollowOptions, 'registry' | 'issuers' | 'from'> & {
  provider: Eip1193Provider
  /** Stores the last block that was read, so that the next run continues there. */
  file?: string | undefined
}

/** Prints alerts as JSON lines until the process ends. */
export async function followIssuers(
  { provider, file, registry, ...options }: Options,
  terminal: Pick<Terminal, 'write' | 'note'>,
): Promise<void> {
  const last = file === undefined ? undefined : await readPlace(file, registry)
  const from = last ? last.block + 1 : options.from
  terminal.note(`following from block ${from} on; press Ctrl-C to stop`)
  const alerts = follow(createRequest(provider), {
    ...options,
    registry,
    last,
    sleep: () => pause(POLL_INTERVAL_MS),
    ...(file !== undefined && { onRead: (mark) => writePlace(file, registry, mark) }),
  })
  for await (const alert of alerts) terminal.write(printableLine(alert))
}

/** @returns `undefined` without such a file, or when it belongs to another registry. */
async function readPlace(file: string, registry: string): Promise<Mark | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), place), text)
  return read.success && read.output.registry === registry ? read.output.last : undefined
}

async function writePlace(file: string, registry: string, last: Mark): Promise<void> {
  try {
    await writeFile(`${file}.new`, `${JSON.stringify({ registry, last })}\n`)
    await rename(`${file}.new`, file)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}
