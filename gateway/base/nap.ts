import { setTimeout as sleep } from 'node:timers/promises'

/** A sleep that can be interrupted. */
export type Nap = {
  /** Ends the sleep under way, or the next one before it begins. */
  wake(): void
  /** @param maxMs Absent = until `wake`. */
  sleep(maxMs?: number): Promise<void>
  /** Sleeps for this long, without interruption. */
  pause(milliseconds: number): Promise<void>
}

export function createNap(): Nap {
  let awake = false
  let wakeUp = () => {}

  async function nap(maxMs?: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      wakeUp = resolve
    })
    if (maxMs === undefined) return woken
    const timeout = new AbortController()
    const { signal } = timeout
    const timer = sleep(maxMs, undefined, { signal }).catch(() => {})
    await Promise.race([timer, woken])
    timeout.abort()
  }

  return {
    wake() {
      awake = true
      wakeUp()
    },
    async sleep(maxMs) {
      if (!awake) await nap(maxMs)
      awake = false
    },
    async pause(milliseconds) {
      await sleep(milliseconds)
      awake = false
    },
  }
}
