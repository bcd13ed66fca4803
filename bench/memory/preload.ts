// Loaded by `node --expose-gc --import` before a gateway whose memory is measured: on SIGUSR2 it
// collects all garbage, and writes what is left to the file that MEMORY_FILE names, as `Memory`.
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Bytes. */
export type Memory = {
  /** Resident set, before and after the collection. */
  resident: number
  collected: number
  /** Of the objects of JavaScript, and of buffers and what else V8 holds outside its heap. */
  heap: number
  external: number
}

const file = process.env.MEMORY_FILE ?? ''

process.on('SIGUSR2', async () => {
  const resident = process.memoryUsage.rss()
  // What finalizers free is garbage of the next round. Only `last-resort` gives pages back to the
  // system that V8 keeps for later.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await sleep(500)
  }
  const { rss: collected, heapUsed: heap, external } = process.memoryUsage()
  const memory: Memory = { resident, collected, heap, external }
  writeFileSync(`${file}.new`, JSON.stringify(memory))
  renameSync(`${file}.new`, file)
})
