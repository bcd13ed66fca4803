// The thread of test/packages/anchoring/batches/thread-tasks.test.ts.
import { parentPort } from 'node:worker_threads'
import { serveTasks } from '#batches/thread-tasks.ts'

export type TestTask = 'add' | 'throw' | 'die'
export type TestCalls = { next(nothing: undefined): Promise<number | undefined> }

if (parentPort)
  serveTasks<TestTask, TestCalls>(parentPort, async (task, call) => {
    if (task === 'die') process.exit(1)
    if (task === 'throw') throw new RangeError('thrown in the thread')
    let sum = 0
    for (
      let next = await call('next', undefined);
      next !== undefined;
      next = await call('next', undefined)
    )
      sum += next
    return sum
  })
