import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createThreadTasks, type ThreadTasks } from '#batches/thread-tasks.ts'
import type { TestCalls, TestTask } from './task-thread.ts'

let stopping: AbortController
let threads: Worker[]
let tasks: ThreadTasks<TestTask, TestCalls>
beforeEach(() => {
  stopping = new AbortController()
  threads = []
  tasks = createThreadTasks(() => {
    const thread = new Worker(new URL('./task-thread.ts', import.meta.url))
    threads.push(thread)
    return thread
  }, stopping.signal)
})
afterEach(() => stopping.abort())

/** @returns A function that gives these numbers, one after the other. */
function numbers(...rest: number[]) {
  return async () => rest.shift()
}

test('returns the result of a task that calls functions of the caller', async () => {
  expect(await tasks.run('add', { next: numbers(1, 2, 3) })).toBe(6)
})

test('tasks share a thread, and do not wait for each other', async () => {
  const held = Promise.withResolvers<undefined>()
  const first = tasks.run('add', { next: () => held.promise })
  expect(await tasks.run('add', { next: numbers(5) })).toBe(5)
  held.resolve(undefined)
  expect(await first).toBe(0)
  expect(threads).toHaveLength(1)
})

test('rejects with the error of the function or of the task', async () => {
  const thrown = new TypeError('thrown here')
  const failing = tasks.run('add', { next: () => Promise.reject(thrown) })
  await expect(failing).rejects.toBe(thrown)
  await expect(tasks.run('throw', {})).rejects.toThrow(new RangeError('thrown in the thread'))
  expect(await tasks.run('add', { next: numbers(7) })).toBe(7)
})

test('a thread that dies fails its tasks, and the next task starts another', async () => {
  const never = new Promise<undefined>(() => {})
  const other = tasks.run('add', { next: () => never })
  await expect(tasks.run('die', {})).rejects.toThrow('the thread has ended')
  await expect(other).rejects.toThrow('the thread has ended')
  expect(await tasks.run('add', { next: numbers(8) })).toBe(8)
  expect(threads).toHaveLength(2)
})

test('a stop ends the thread, and starts no other', async () => {
  const never = new Promise<undefined>(() => {})
  const running = tasks.run('add', { next: () => never })
  stopping.abort()
  await expect(running).rejects.toThrow('the thread has ended')
  await expect(tasks.run('add', {})).rejects.toThrow('aborted')
})
