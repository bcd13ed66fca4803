import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { formatActor, parseActor } from '#promise/acts.ts'
import { describePorts } from '#test/support/databases.ts'

const hash = (): Hex => toHex(randomBytes(32))
const MARIA = { kind: 'person', id: 'abcdef012345', label: 'Maria do  Carmo' } as const
const actor = formatActor(MARIA)
const by = { tenant: 'one', actor }
const ENTRY = { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: 'one' }

test.each([MARIA, { kind: 'key', id: 'abc', label: null } as const])(
  'an actor reads as it was written',
  (one) => expect(parseActor(formatActor(one))).toEqual(one),
)

describePorts('acts', (ports) => {
  const kindsOf = async (documentHash: Hex) =>
    (await ports.stores.acts.of(documentHash)).map(({ kind }) => kind)
  const issue = async (documentHash: Hex, supersedes?: Hex) => {
    const action: Action = { kind: 'issue', documentHash, validUntil: 0, ...by }
    const entry = { ...ENTRY, ...(supersedes && { supersedes }) }
    await ports.stores.outbox.add(action, { payload: { entry } })
  }

  test('records an act once, however often it is requested', async () => {
    const { outbox, acts } = ports.stores
    const documentHash = hash()
    await issue(documentHash)
    const suspend: Action = { kind: 'suspend', documentHash, ...by }
    await outbox.add(suspend)
    await outbox.add({ ...suspend, actor: 'person 1 Noor' })
    const time = expect.any(Number)
    const same = { time, actor: MARIA, isOfBatch: false }
    expect(await acts.of(documentHash)).toEqual([
      { kind: 'issue', tenant: null, ...same },
      { kind: 'suspend', tenant: 'one', ...same },
    ])
  })

  test('superseding a document is an act on it', async () => {
    const documentHash = hash()
    await issue(documentHash)
    await issue(hash(), documentHash)
    expect(await kindsOf(documentHash)).toEqual(['issue', 'supersede'])
  })

  test('names no actor for the changes of commands', async () => {
    const documentHash = hash()
    const action: Action = { kind: 'issue', documentHash, validUntil: 0 }
    await ports.stores.outbox.add(action, { payload: { entry: ENTRY } })
    await ports.stores.outbox.add({ kind: 'revoke', documentHash, reason: 1 })
    expect(await ports.stores.acts.of(documentHash)).toMatchObject([{ kind: 'issue', actor: null }])
  })
})
