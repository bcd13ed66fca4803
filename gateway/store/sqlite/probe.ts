import type { DatabaseSync } from 'node:sqlite'
import type { WriteQueue } from './write-queue.ts'

/** How long one successful write proves that the disk takes writes. */
const PROBE_TTL_MS = 1_000

/** @returns `assertReady` of `Database`. It writes rarely, since anybody may ask for readiness. */
export function createProbe(sqlite: DatabaseSync, write: WriteQueue['write']): () => Promise<void> {
  const probe = sqlite.prepare(`
    INSERT INTO probe VALUES (1, ?1) ON CONFLICT DO UPDATE SET written_at = ?1`)
  let succeededAt = Number.NEGATIVE_INFINITY
  let probing: Promise<void> | undefined
  return async () => {
    if (performance.now() - succeededAt < PROBE_TTL_MS) return
    probing ??= write(() => {
      probe.run(Date.now())
    })
      .then(() => {
        succeededAt = performance.now()
      })
      .finally(() => {
        probing = undefined
      })
    await probing
  }
}
