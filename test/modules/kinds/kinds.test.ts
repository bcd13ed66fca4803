import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { type Kind, readKind } from '#document/kind.ts'
import { createKinds, typesUrlOf } from '#modules/kinds/kinds.ts'
import type { KindStore } from '#modules/kinds/ports.ts'
import { createKindStore } from '#modules/kinds/store.ts'
import { IssueError } from '#promise/errors.ts'
import { describePorts } from '#test/support/databases.ts'

const ADDRESS = typesUrlOf('https://gateway.example', 7)
const DIPLOMA: Kind = {
  category: 'diploma',
  display: [{ locale: 'en', name: 'Diploma' }],
  fields: [{ name: 'metadata.degree', type: 'text', isRequired: true, display: [] }],
}
const OTHER: Kind = { ...DIPLOMA, fields: [] }
const DOCUMENT = { subjectName: 'Ada', subjectId: '1', category: 'diploma', issuedAt: '2026-01-31' }
const MASTER = { ...DOCUMENT, metadata: { degree: 'Master' } }

describePorts('the kinds of an issuer', (ports) => {
  const open = (store: KindStore = createKindStore(ports.stores.database), unreadable = () => {}) =>
    createKinds(store, ADDRESS, unreadable)

  test('a change applies at once here, and within a second at another gateway', async () => {
    const [one, other] = [open(), open()]
    expect((await other.current())('diploma')).toBeUndefined()
    await one.put(DIPLOMA)
    expect((await one.current())('diploma')).toEqual(DIPLOMA)
    await expect.poll(async () => (await other.current())('diploma')).toEqual(DIPLOMA)
    await one.remove('diploma')
    expect((await one.current())('diploma')).toBeUndefined()
    await expect.poll(async () => (await other.current())('diploma')).toBeUndefined()
  })

  test('the type of a credential is what everybody can read', async () => {
    const kinds = open()
    expect(await kinds.typeOf(MASTER)).toBeUndefined()
    const { version } = await kinds.put(DIPLOMA)
    const type = await kinds.typeOf(MASTER)
    expect(type?.vct).toBe(`https://gateway.example/v1/types/7/diploma/${version}`)
    const file = (await kinds.file('diploma', version)) ?? new Uint8Array()
    expect(type?.integrity).toBe(`sha256-${createHash('sha256').update(file).digest('base64')}`)
    const metadata = JSON.parse(Buffer.from(file).toString())
    expect(metadata.vct).toBe(type?.vct)
    expect(readKind(metadata)).toEqual({ kind: DIPLOMA })
  })

  test('a document that does not fit has no type, because wallets would refuse it', async () => {
    const kinds = open()
    await kinds.put(DIPLOMA)
    expect(await kinds.typeOf(DOCUMENT)).toBeUndefined()
    await kinds.put(OTHER)
    expect(await kinds.typeOf(DOCUMENT)).toMatchObject({ vct: expect.stringMatching(/\/2$/) })
    expect(await kinds.typeOf(MASTER)).toBeUndefined()
  })

  test('storing the same kind again makes no version; a new service address does', async () => {
    const { version } = await open().put(DIPLOMA)
    expect((await open().put(DIPLOMA)).version).toBe(version)
    expect((await open().put(DIPLOMA, 0)).version).toBe(version)
    const moved = createKinds(
      createKindStore(ports.stores.database),
      'https://other.example/v1/types/7',
      () => {},
    )
    expect((await moved.put(DIPLOMA)).version).toBe(version + 1)
  })

  test('returns the kind of a given time', async () => {
    const kinds = open()
    const { begunAt } = await kinds.put(DIPLOMA)
    while (Date.now() <= begunAt);
    await kinds.put(OTHER)
    expect(await kinds.at(begunAt)).toEqual([DIPLOMA])
    expect(await kinds.at(Date.now())).toEqual([OTHER])
    expect(await kinds.at(begunAt - 1)).toEqual([])
  })

  test('keeps kinds during an outage, and reports it; without kinds it is an error', async () => {
    const away = async () => {
      throw new IssueError('store_unavailable', 'away')
    }
    const store = { ...createKindStore(ports.stores.database) }
    const report = vi.fn()
    const kinds = open(store, report)
    await kinds.put(DIPLOMA)
    store.current = away
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000)
    expect((await kinds.current())('diploma')).toEqual(DIPLOMA)
    expect(report).toHaveBeenCalledTimes(1)
    vi.restoreAllMocks()
    await expect(open(store).current()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
