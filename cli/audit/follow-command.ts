import { setTimeout as pause } from 'node:timers/promises'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { createRequest } from '../../verifier/readers/request.ts'
import { printableLine } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { type FollowOptions, follow } from './follow.ts'

const LOOK_INTERVAL_MS = 4_000

/** Prints alerts as JSON lines until the process ends. */
export async function followIssuers(
  { provider, ...options }: Omit<FollowOptions, 'sleep'> & { provider: Eip1193Provider },
  terminal: Pick<Terminal, 'write' | 'note'>,
): Promise<void> {
  terminal.note(`following from block ${options.from} on; Ctrl-C ends it`)
  const request = createRequest(provider)
  const sleep = () => pause(LOOK_INTERVAL_MS)
  for await (const alert of follow(request, { ...options, sleep }))
    terminal.write(printableLine(alert))
}
