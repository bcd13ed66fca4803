import { afterEach, expect, test, vi } from 'vitest'
import { createTickets } from '#modules/wallets/tickets.ts'
import { randomKey } from '#test/support/stack.ts'

const secret = randomKey()
const tickets = createTickets([secret])
const NOW = Date.parse('2026-11-26T12:00:00Z')
const expiresAt = NOW / 1000 + 60
afterEach(() => vi.useRealTimers())
const at = (time: number) => vi.useFakeTimers({ now: time, toFake: ['Date'] })

test('opens what it sealed, until it expires', () => {
  at(NOW)
  const ticket = { publicId: 'x', category: 'z', jkt: 'y', expiresAt }
  const sealed = tickets.seal('access', ticket)
  expect(tickets.open('access', sealed)?.ticket).toEqual(ticket)
  at(NOW + 59_999)
  expect(tickets.open('access', sealed)).toBeDefined()
  at(NOW + 60_000)
  expect(tickets.open('access', sealed)).toBeUndefined()
})

test('seals equal tickets differently, and counts them separately', () => {
  at(NOW)
  const [one, other] = [0, 1].map(() => tickets.seal('nonce', { expiresAt }))
  expect(one).not.toBe(other)
  const digests = [one, other].map((sealed = '') => tickets.open('nonce', sealed)?.digest)
  expect(digests[0]).not.toEqual(digests[1])
})

test('opens older tickets after a rotation, and none of another secret', () => {
  at(NOW)
  const sealed = tickets.seal('nonce', { expiresAt })
  expect(createTickets([randomKey(), secret]).open('nonce', sealed)).toBeDefined()
  expect(createTickets([randomKey()]).open('nonce', sealed)).toBeUndefined()
})

test('refuses a ticket of another kind, and a changed one', () => {
  at(NOW)
  const sealed = tickets.seal('nonce', { expiresAt })
  expect(tickets.open('notification', sealed)).toBeUndefined()
  for (let i = 0; i < sealed.length; i++) {
    const changed = `${sealed.slice(0, i)}${sealed[i] === 'A' ? 'B' : 'A'}${sealed.slice(i + 1)}`
    expect(tickets.open('nonce', changed)).toBeUndefined()
  }
  for (const bad of ['', 'A', sealed.slice(0, -1), `${sealed}A`, `${sealed}=`, ` ${sealed}`])
    expect(tickets.open('nonce', bad)).toBeUndefined()
})
