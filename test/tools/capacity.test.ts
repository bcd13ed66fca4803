import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { simulateYear } from '#tools/capacity/year.ts'
import { root } from '../docs/markdown.ts'

const HOURS = 8_760

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'tools/capacity.ts'), ...args], { encoding: 'utf8' })

test('the limits in docs/operate.md are those that the command prints', () => {
  const page = readFileSync(join(root, 'docs/operate.md'), 'utf8').replace(/\s+/g, ' ')
  const { stdout } = run()
  const row = /\| (?:10 % of the chain's gas|one gateway, [^|]+) \| [^|]+ \| ([\d,]+) million \|/g
  const limits = [...stdout.matchAll(row)].map(([, documents]) => documents)
  expect(limits).toHaveLength(4)
  for (const documents of limits) expect(page).toContain(` ${documents} million`)
})

test('nothing waits when the chain can carry the busiest hour', () => {
  const { busiest } = simulateYear(1_000_000, Number.MAX_VALUE)
  expect(busiest).toBeGreaterThan(1_000_000 / HOURS / 3600)
  expect(simulateYear(1_000_000, busiest * 3600).longestDelay).toBe(0)
})

test('the season waits when the chain can carry more than a year, but not the busiest hour', () => {
  const delay = simulateYear(1_000_000, (1_000_000 / HOURS) * 2).longestDelay ?? Number.NaN
  expect(delay).toBeGreaterThan(1)
  expect(delay).toBeLessThan(HOURS)
})

test('the queue grows when the chain can carry less than a year brings', () => {
  expect(simulateYear(1_000_000, (1_000_000 / HOURS) * 0.9).longestDelay).toBeUndefined()
})

test('a chain with more gas changes its limit, and nothing else', () => {
  const [small, large] = [run(), run('--gas-limit', '120')].map(({ stdout }) =>
    stdout.split('\n').filter((line) => line.includes('gateway, busy') || line.includes('10 % of')),
  )
  const isGateway = (line: string) => line.includes('gateway')
  expect(large?.filter(isGateway)).toEqual(small?.filter(isGateway))
  expect(large).not.toEqual(small)
})

test('refuses an option that is not a number above 0, and names it', () => {
  const { status, stderr } = run('--share', '0')
  expect(status).toBe(64)
  expect(stderr).toBe('--share must be a number greater than 0\n')
})
