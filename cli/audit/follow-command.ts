import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { bytes32 } from '#document/members.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { InputError } from '../errors.ts'
import { printableLine } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { type FollowOptions, follow } from './follow.ts'
import type { Mark } from './journal.ts'

const LOOK_INTERVAL_MS = 4_000

const place = v.object({
  registry: v.string(),
  last: v.object({ block: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), hash: bytes32 }),
})

type Options = Pick<FollowOptions, 'registry' | 'issuers' | 'from'> & {
  provider: Eip1193Provider
  /** Keeps the last block that was read, so that the next run goes on there. */
  file?: string | undefined
}

/** Prints alerts as JSON lines until the process ends. */
export async function followIssuers(
  { provider, file, registry, ...options }: Options,
  terminal: Pick<Terminal, 'write' | 'note'>,
): Promise<void> {
  const last = file === undefined ? undefined : await readPlace(file, registry)
  const from = last ? last.block + 1 : options.from
  terminal.note(`following from block ${from} on; Ctrl-C ends it`)
  const alerts = follow(createRequest(provider), {
    ...{ ...options, registry, last },
    sleep: () => pause(LOOK_INTERVAL_MS),
    ...(file !== undefined && { onRead: (mark) => writePlace(file, registry, mark) }),
  })
  for await (const alert of alerts) terminal.write(printableLine(alert))
}

/** @returns `undefined` without such a file, or when it is of another registry. */
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
