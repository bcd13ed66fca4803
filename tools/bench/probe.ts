// Loaded by `node --import` before a gateway that is measured. On SIGUSR2 it writes what it measured
// since the last signal as `Probed` to the file PROBE_FILE; with --expose-gc it collects all garbage
// first.
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Pauses of the event loop in milliseconds. */
export type Pauses = { longest: number; p99: number }
/** Sizes in bytes. */
export type Memory = {
  /** The resident set before and after the collection. */
  resident: number
  collected: number
  /** JavaScript objects. */
  heap: number
  /** Buffers and other memory of V8 outside its heap. */
  external: number
}
export type Probed = Pauses & Memory

const file = process.env.PROBE_FILE ?? ''
const NANO = 1e6
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

process.on('SIGUSR2', async () => {
  const pauses: Pauses = { longest: delay.max / NANO, p99: delay.percentile(99) / NANO }
  const resident = process.memoryUsage.rss()
  // Repeats, because finalizers free more for the next round. Only `last-resort` returns V8's spare
  // pages to the system.
  for (let round = 0; globalThis.gc && round < 3; round++) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await sleep(500)
  }
  const { rss: collected, heapUsed: heap, external } = process.memoryUsage()
  const probed: Probed = { ...pauses, resident, collected, heap, external }
  writeFileSync(`${file}.new`, JSON.stringify(probed))
  renameSync(`${file}.new`, file)
  delay.reset()
})
