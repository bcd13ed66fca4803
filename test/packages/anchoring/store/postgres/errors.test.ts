import { expect, test } from 'vitest'
import { IssueError } from '#promise/errors.ts'
import { isAway, isRetriable, outageOf, unansweredOf } from '#store/drivers/postgres/errors.ts'

const withCode = (code: string) => Object.assign(new Error('of the driver'), { code })

test.each([
  ['the connection broke', new Error('Connection terminated unexpectedly')],
  ['no answer came in time', new Error('Query read timeout')],
  ['the network is down', withCode('ECONNRESET')],
  ['the server lost the connection', withCode('08006')],
  ['a pooler lost the server', withCode('08P01')],
  ['an administrator ended the connection', withCode('57P01')],
  ['the server crashed', withCode('57P02')],
])('a write is of unknown outcome when %s', (_, error) => {
  expect(unansweredOf(error)).toMatchObject({ code: 'outcome_unknown', cause: error })
  expect(outageOf(error)).toMatchObject({ code: 'store_unavailable', cause: error })
  expect(unansweredOf(outageOf(error))).toMatchObject({ code: 'outcome_unknown', cause: error })
  // It ends like any other outage.
  expect(isAway(unansweredOf(withCode('57P01')))).toBe(true)
})

test.each([
  ['a constraint', '23505'],
  ['a timeout of the statement', '57014'],
  ['a full disk', '53100'],
  ['a deadlock', '40P01'],
  ['a read-only server', '25006'],
])('a write that the server refuses for %s has changed nothing', (_, code) => {
  const error = unansweredOf(withCode(code))
  expect(error).toMatchObject({ code: 'store_unavailable' })
  expect(isRetriable(error)).toBe(code === '40P01')
})

test("passes on an error that is not PostgreSQL's", () => {
  const error = new IssueError('conflict', 'on purpose', withCode('23505'))
  expect(outageOf(error)).toBe(error)
  expect(unansweredOf(error)).toBe(error)
})

test('the message of a rejected value does not quote it', () => {
  const error = Object.assign(new Error('invalid input: "a secret"'), { code: '22P02' })
  expect(unansweredOf(error).message).not.toContain('secret')
})
