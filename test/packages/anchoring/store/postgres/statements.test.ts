import { expect, test } from 'vitest'
import type { Query } from '#store/drivers/postgres/connection.ts'
import { runWork } from '#store/drivers/postgres/statements.ts'
import { all, statement } from '#store/sql.ts'

const WRITE = statement('UPDATE one SET a = 1')
const READ = statement('SELECT a FROM one')
const WITH = statement('WITH two AS (SELECT 1 AS a) SELECT a FROM two')

function* writeThenRead() {
  yield* all(WRITE)
  return yield* all(READ)
}

test('the next statement does not wait for one without rows', async () => {
  const sent: string[] = []
  const written = Promise.withResolvers<never[]>()
  const query = (async (text: string) => {
    sent.push(text)
    return text.startsWith('UPDATE') ? written.promise : [{ a: 1 }]
  }) as Query
  const done = runWork(query, writeThenRead)
  await expect.poll(() => sent).toEqual(['UPDATE one SET a = 1', 'SELECT a FROM one'])
  let isDone = false
  done.then(() => {
    isDone = true
  })
  await new Promise(setImmediate)
  // A transaction that is not written is not done.
  expect(isDone).toBe(false)
  written.resolve([])
  expect(await done).toEqual([{ a: 1 }])
})

test('reads the rows of every other statement', async () => {
  const query = (async () => [{ a: 1 }]) as unknown as Query
  expect(await runWork(query, () => all(WITH))).toEqual([{ a: 1 }])
})

test('the first failure is the cause, not what the server says after it', async () => {
  const query = (async (text: string) => {
    throw new Error(text.startsWith('UPDATE') ? 'deadlock' : 'the transaction is aborted')
  }) as Query
  await expect(runWork(query, writeThenRead)).rejects.toThrow('deadlock')
})

test('fails when only a statement without rows has failed', async () => {
  const query = (async (text: string) => {
    if (text.startsWith('UPDATE')) throw new Error('full')
    return []
  }) as unknown as Query
  await expect(runWork(query, writeThenRead)).rejects.toThrow('full')
})
