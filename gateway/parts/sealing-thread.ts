// Runs in the thread that batches.ts starts.
import { parentPort } from 'node:worker_threads'
import { hkdfWithNode, hmacWithNode, sealWithNode } from '#base/node-crypto.ts'
import type { Task, TaskCalls } from '#batches/sealer.ts'
import { runTask } from '#batches/sealing-work.ts'
import { serveTasks } from '#batches/thread-tasks.ts'

const primitives = { seal: sealWithNode, hkdf: hkdfWithNode, hmac: hmacWithNode }

if (parentPort)
  serveTasks<Task, TaskCalls>(parentPort, (task, call) => runTask(task, call, primitives))
