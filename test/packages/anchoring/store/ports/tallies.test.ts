import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import type { Outcome } from '#promise/anchoring.ts'
import { actionOfBatch } from '#promise/batch-log.ts'
import { type Lock, lockOfBatch } from '#promise/lock.ts'
import { describePorts } from '#test/support/databases.ts'
import { resolve } from './given.ts'

const TODAY = Math.floor(Date.now() / 86_400_000)
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`

describePorts('tallies', (ports) => {
  const at = (blockNumber: number): Outcome => ({
    status: 'anchored',
    blockNumber,
    blockHash: hash('b'),
    transactionHash: hash('c'),
  })
  async function anchor(action: Action) {
    await ports.outbox.add(action)
    await resolve(ports.outbox, action, at(5))
  }

  /** A batch of the tenant `one`. */
  async function anchorBatch(size: number) {
    const { batchLog, shared } = ports.stores
    const batch = { root: hash('3'), size, manifest: hash('4'), tenant: 'one' }
    const lock = (await shared.locks.take(lockOfBatch(batch.root))) as Lock
    await batchLog.promise(new Uint8Array(32), batch, lock)
    await lock.release()
    await resolve(ports.outbox, actionOfBatch(batch), at(5))
  }

  test('counts issued documents by tenant, and a move only once', async () => {
    const { tallies } = ports.stores
    const { outbox } = ports
    const one: Action = { kind: 'issue', documentHash: hash('1'), validUntil: 0, tenant: 'one' }
    await anchor(one)
    await anchor({ ...one, documentHash: hash('2'), tenant: 'two' })
    await anchorBatch(70)
    await anchor({ kind: 'revoke', documentHash: hash('1'), reason: 4, tenant: 'one' })
    const [send] = await outbox.ofOthers({ blockNumber: 5, blockHash: hash('b') })
    if (!send) throw new Error('a send')
    await outbox.move(
      send.id,
      send.members,
      send.members.map(() => at(6)),
    )
    expect(await outbox.find('issue', hash('1'))).toMatchObject({ outcome: at(6) })
    expect(await tallies.since(TODAY - 1, null)).toEqual([
      { day: expect.any(Number), kind: 'issued', count: 72 },
      { day: expect.any(Number), kind: 'superseded', count: 1 },
    ])
    expect(await tallies.since(TODAY - 1, 'two')).toMatchObject([{ kind: 'issued', count: 1 }])
    expect(await tallies.since(TODAY + 2, null)).toEqual([])
  })

  test('remembers its last backup', async () => {
    const { backups } = ports.stores
    if (!backups) return
    expect(await backups.last()).toBeNull()
    await backups.note()
    expect(await backups.last()).toBeGreaterThan(0)
  })
})
