// Loaded by `node --import` before a gateway that tests run as a process: on a test's orders, it
// simulates failures of the machine. The gateway itself has no hooks.
import { Server } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

/** A test's orders. The gateway confirms each by sending it back. */
export type Order =
  /** Shifts the wall clock, but not the monotonic clock and timers. */
  | { order: 'clock'; milliseconds: number }
  /** Kills the process (-9) before or after the n-th commit from now. */
  | { order: 'kill_at_commit'; count: number; side: 'before' | 'after' }

const RealDate = Date
let offset = 0
let commits = 0
let doomed: Extract<Order, { order: 'kill_at_commit' }> | undefined

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length ? args : [now()], newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

function now(): number {
  return RealDate.now() + offset
}

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  if (!/^\s*COMMIT/i.test(sql)) return exec.call(this, sql)
  commits++
  dieIf('before')
  exec.call(this, sql)
  dieIf('after')
}

function dieIf(side: 'before' | 'after'): void {
  if (doomed?.side === side && commits === doomed.count) process.kill(process.pid, 'SIGKILL')
}

// Simulates a separate machine or container: the names of Linux's abstract sockets belong to a
// network namespace.
if (process.env.OWN_NETWORK !== undefined) {
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    const [path, ...rest] = args
    const isName = typeof path === 'string' && path.startsWith('\0')
    const own = isName ? `${path}-${process.pid}` : path
    return Reflect.apply(listen, this, [own, ...rest])
  }
}

process.on('message', (order: Order) => {
  if (order.order === 'clock') offset = order.milliseconds
  else {
    commits = 0
    doomed = order
  }
  process.send?.(order)
})
process.channel?.unref()
