import type { Batcher } from '#promise/batcher.ts'
import type { Outbox } from '#promise/ports.ts'
import { createEngine, type Engine, type EngineDeps } from './engine.ts'
import { createFront } from './front.ts'

export type BatcherDeps = EngineDeps & { outbox: Pick<Outbox, 'find' | 'promise'> }

/** One engine, which is always there, and the front that answers its requests. */
export function createBatcher(deps: BatcherDeps): Batcher {
  const front = createFront({
    ...{ outbox: deps.outbox, log: deps.log },
    engineFor: () => engine,
    engines: () => [engine],
  })
  const engine: Engine = createEngine(deps, front)

  return {
    assertOpen: engine.assertOpen,
    submit: front.submit,
    enqueue: engine.addPromised,
    depth: engine.depth,
    spentLastHour: engine.spentLastHour,
    stopped: () => engine.outage()?.code,
    start: engine.start,

    async stop() {
      await engine.stop()
      await front.close()
    },
  }
}
