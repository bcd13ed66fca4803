import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { describePorts } from '#test/support/databases.ts'

const TODAY = Math.floor(Date.now() / 86_400_000)
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`

describePorts('tallies', (ports) => {
  const at = (blockNumber: number) => ({
    blockNumber,
    blockHash: hash('b'),
    transactionHash: hash('c'),
  })
  async function anchor(intent: Intent) {
    await ports.outbox.add(intent)
    await ports.outbox.resolve({ anchored: [{ intent, anchoring: at(5) }], gone: [] })
  }

  test('default: counts what got into a block, by tenant, and a move not again', async () => {
    const { tallies, outbox } = ports.stores
    const one: Intent = { kind: 'issue', documentHash: hash('1'), validUntil: 0, tenant: 'one' }
    await anchor(one)
    await anchor({ ...one, documentHash: hash('2'), tenant: 'two' })
    await anchor({ ...one, documentHash: hash('3'), root: hash('3'), validUntil: 70 })
    await anchor({ kind: 'revoke', documentHash: hash('1'), reason: 4, tenant: 'one' })
    const moved = [{ intent: one, anchoring: at(5), now: at(6) }]
    await outbox.review({ final: [], gone: [], moved, dropped: [] })
    expect(await tallies.since(TODAY - 1, null)).toEqual([
      { day: expect.any(Number), kind: 'issued', count: 72 },
      { day: expect.any(Number), kind: 'superseded', count: 1 },
    ])
    expect(await tallies.since(TODAY - 1, 'two')).toMatchObject([{ kind: 'issued', count: 1 }])
    expect(await tallies.since(TODAY + 2, null)).toEqual([])
  })

  test('default: remembers the last backup of its own', async () => {
    const { backups } = ports.stores
    if (!backups) return
    expect(await backups.last()).toBeNull()
    await backups.note()
    expect(await backups.last()).toBeGreaterThan(0)
  })
})
