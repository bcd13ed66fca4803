// Attacks in its own thread until it is told to stop, so that the attack delays no measurement.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { client, type Target } from './attack.ts'
import { SCENARIOS } from './scenarios.ts'

const { name, target }: { name: string; target: Target } = workerData
const stop = await SCENARIOS[name]?.start(target, client(target.url))
parentPort?.postMessage('started')
if (parentPort) await once(parentPort, 'message')
await stop?.()
process.exit()
