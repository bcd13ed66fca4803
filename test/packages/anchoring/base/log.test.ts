import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { readConfig } from '#settings/config.ts'
import { type CapturedLog, captureLog } from '../../../support/captured-log.ts'

let captured: CapturedLog
beforeEach(() => {
  captured = captureLog()
})
afterEach(() => captured.stop())

test.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
])('LOG_LEVEL=%s writes %j', (LOG_LEVEL, written) => {
  const log = createLog(readConfig({ LOG_LEVEL }).logLevel)
  for (const level of ['debug', 'info', 'warn', 'error'] as const)
    log[level]('something_happened', { count: 1 })
  const lines = captured.lines('something_happened')
  expect(lines.map(({ level }) => level)).toEqual(written)
  for (const { count, time } of lines) {
    expect(count).toBe(1)
    expect(new Date(time).toISOString()).toBe(time)
  }
})
