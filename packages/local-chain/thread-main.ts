// The program of the local chain's thread; see thread.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { startLocalChain } from './local-chain.ts'
import type { FromThread, ThreadOptions, ToThread } from './thread.ts'

const post = (message: FromThread) => parentPort?.postMessage(message)

const chain = await startLocalChain({
  ...(workerData as ThreadOptions),
  log: (line) => post({ log: line }),
})
parentPort?.on('message', (message: ToThread) => {
  if (message === 'stop') {
    // Ends the thread and everything that is still open in it.
    chain.stop().then(() => process.exit())
    return
  }
  const { id, body } = message
  chain.send(body).then(
    (answer) => post({ id, answer }),
    (error) => post({ id, failure: String(error) }),
  )
})
post({ url: chain.url })
