import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { makeKey } from '#keys/keys.ts'
import { newInvitation } from '#modules/desk/people/people.ts'
import { newPerson } from '#modules/desk/people/person.ts'
import { createPeopleStore } from '#modules/desk/people/store.ts'
import { copyFiles, readBackup } from '#operate/backup/contents.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { openKeysFile } from '#store/drivers/sqlite/keys-file.ts'
import { bindFile } from '#test/support/bind-file.ts'

import { docregGateway } from '../../support/docreg.ts'
import { randomKey } from '../../support/given.ts'

let dir: string
let dataDir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'backup-'))
  dataDir = join(dir, 'data')
  mkdirSync(join(dataDir, 'secrets'), { recursive: true })
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

async function bind(...secrets: Hex[]): Promise<void> {
  const database = openSqlite(join(dataDir, 'gateway.db'))
  const fingerprints = fingerprintsOf(secrets)
  await bindFile(database, { registry: 'eip155:1:0xab', issuerId: 1, fingerprints })
  await database.close()
}

async function backUp(to: string): Promise<string> {
  const { code, stdout, stderr } = await docregGateway(['backup', join(dir, to)], {
    env: { DATA_DIR: dataDir },
  })
  expect(code, stderr).toBe(0)
  return stdout
}

test('copies the target of a secret file that is a link, readable by its owner only', async () => {
  const secret = randomKey()
  await bind(secret)
  const mounted = join(dir, 'mounted')
  writeFileSync(mounted, secret, { mode: 0o644 })
  symlinkSync(mounted, join(dataDir, 'secrets', 'issuer.secret'))
  expect(await backUp('copy')).toContain('It contains the issuer secret')
  rmSync(mounted)
  const copy = join(dir, 'copy', 'secrets', 'issuer.secret')
  expect(readFileSync(copy, 'utf8')).toBe(secret)
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  const { files } = await readBackup(join(dir, 'copy'))
  expect(Object.keys(files)).toEqual(['gateway.db', 'secrets/issuer.secret'])
})

test('says when a backup lacks an issuer secret', async () => {
  const [old, added] = [randomKey(), randomKey()]
  writeFileSync(join(dataDir, 'secrets', 'issuer.key'), randomKey())
  await bind(old)
  expect(await backUp('without')).toContain('not every issuer secret')
  writeFileSync(join(dataDir, 'secrets', 'issuer.secret'), old)
  expect(await backUp('with')).toContain('It contains the issuer secret')
  await bind(added, old)
  expect(await backUp('rotated')).toContain('not every issuer secret')
})

test('refuses a backup with a link in it', async () => {
  await bind(randomKey())
  await backUp('copy')
  symlinkSync(dataDir, join(dir, 'copy', 'secrets'))
  await expect(readBackup(join(dir, 'copy'))).rejects.toThrow('secrets is not a file')
})

test('restores files that others could read as readable by their owner only', () => {
  const from = join(dir, 'from')
  const to = join(dir, 'to')
  mkdirSync(join(from, 'secrets'), { recursive: true })
  mkdirSync(to)
  writeFileSync(join(from, 'secrets', 'issuer.key'), 'x', { mode: 0o644 })
  copyFiles(from, to, ['secrets/issuer.key'])
  const folder = join(to, 'secrets')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, 'issuer.key')).mode & 0o777).toBe(0o600)
})

test('copies API keys and people completely while another process has them open', async () => {
  await bind(randomKey())
  const store = openKeysFile(join(dataDir, 'keys.db'))
  const { key } = makeKey({ scopes: ['verify'], tenant: 'default' })
  await store.put(key)
  const person = newPerson({ name: 'Ada', role: 'clerk', tenant: 'default' })
  const { invitation } = newInvitation()
  await createPeopleStore(store.database).add(person, invitation, 1)
  await backUp('copy')
  store.close()
  const { files } = await readBackup(join(dir, 'copy'))
  expect(Object.keys(files)).toEqual(['gateway.db', 'keys.db'])
  const restored = openKeysFile(join(dir, 'copy', 'keys.db'))
  expect(await restored.list()).toEqual([key])
  const listed = [{ ...person, invitation, sessions: [], passkeys: 0 }]
  expect(await createPeopleStore(restored.database).list()).toEqual(listed)
  restored.close()
})
