// Attacks in a thread of its own, so that what it does delays no measurement, until it is told to
// stop.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import type { Target } from './attack.ts'
import { SCENARIOS } from './scenarios.ts'

const { name, target }: { name: string; target: Target } = workerData
const stop = await SCENARIOS.find((scenario) => scenario.name === name)?.start(target)
parentPort?.postMessage('started')
if (parentPort) await once(parentPort, 'message')
await stop?.()
process.exit()
