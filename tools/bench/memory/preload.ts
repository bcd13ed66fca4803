// Loaded by `node --expose-gc --import` before a gateway whose memory is measured: on SIGUSR2 it
// collects all garbage, and writes the remaining memory as `Memory` to the file MEMORY_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

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

const file = process.env.MEMORY_FILE ?? ''

process.on('SIGUSR2', async () => {
  const resident = process.memoryUsage.rss()
  // Repeats, because finalizers free more for the next round. Only `last-resort` returns V8's spare
  // pages to the system.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await sleep(500)
  }
  const { rss: collected, heapUsed: heap, external } = process.memoryUsage()
  const memory: Memory = { resident, collected, heap, external }
  writeFileSync(`${file}.new`, JSON.stringify(memory))
  renameSync(`${file}.new`, file)
})
