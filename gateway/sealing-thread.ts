// Runs in the thread that open-batches.ts starts.
import { parentPort } from 'node:worker_threads'
import { hkdfWithNode, hmacWithNode } from './adapters/node-hkdf.ts'
import { sealWithNode } from './adapters/node-seal.ts'
import { runTask, type Task, type TaskCalls } from './bulk/sealing-work.ts'
import { serveTasks } from './bulk/thread-tasks.ts'

const primitives = { seal: sealWithNode, hkdf: hkdfWithNode, hmac: hmacWithNode }

if (parentPort)
  serveTasks<Task, TaskCalls>(parentPort, (task, call) => runTask(task, call, primitives))
