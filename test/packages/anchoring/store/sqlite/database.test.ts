import { spawnSync } from 'node:child_process'
import { hkdfSync, pbkdf2, randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSubkeys, fingerprintOf } from '#document/keys.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { type Binding, shortFingerprint } from '#store/binding.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { DataDirError } from '#store/drivers/sqlite/open-file.ts'
import { all, statement } from '#store/sql.ts'
import { SCHEMA_VERSION } from '#store/tables.ts'
import { bindFile } from '#test/support/bind-file.ts'
import { onConnection } from '#test/support/on-connection.ts'

/**
 * Simulates the disk: called for each flush with the log's content and the callback of `fdatasync`.
 */
let disk: (log: Buffer, done: (error?: Error) => void) => void

vi.mock('node:fs', async (actual) => {
  const fs = await actual<typeof import('node:fs')>()
  const fdatasync = (file: number, done: (error?: Error) => void) => {
    const log = Buffer.alloc(fs.fstatSync(file).size)
    fs.readSync(file, log, 0, log.length, 0)
    disk(log, done)
  }
  return { ...fs, fdatasync }
})

let dir: string
let database: Database
/** Messages of the reported flush failures. */
let failures: string[]
beforeEach(() => {
  disk = (_, done) => done()
  dir = mkdtempSync(join(tmpdir(), 'database-'))
  failures = []
  database = openSqlite(join(dir, 'gateway.db'), ({ message }) => failures.push(message))
})
afterEach(async () => {
  await database.close()
  rmSync(dir, { recursive: true })
})

const fingerprint = (byte: string): Hex => `0x${byte.repeat(32)}`

const remember = (text: string, urgent?: boolean) =>
  database.write(
    onConnection(() => {
      database.sqlite.prepare('INSERT INTO tombstone VALUES (?)').run(Buffer.from(text))
    }),
    urgent,
  )

test('resolves a write after the flush of the log that holds it', async () => {
  const resolved: string[] = []
  let flushed: () => void = () => {}
  const flushing = new Promise<Buffer>((resolve) => {
    disk = (log, done) => {
      flushed = done
      resolve(log)
    }
  })
  const written = remember('the first').then(() => resolved.push('written'))
  expect((await flushing).includes('the first')).toBe(true)
  await new Promise(setImmediate)
  expect(resolved).toEqual([])
  flushed()
  await written
  expect(resolved).toEqual(['written'])
})

test('writes that arrive during a flush share the next one', async () => {
  const flushes: (() => void)[] = []
  disk = (_, done) => flushes.push(done)
  const first = remember('first')
  await expect.poll(() => flushes.length).toBe(1)
  const others = [remember('second'), remember('third')]
  flushes[0]?.()
  await first
  await expect.poll(() => flushes.length).toBe(2)
  flushes[1]?.()
  await Promise.all(others)
  expect(flushes).toHaveLength(2)
})

test('a commit gets no more work once it has taken long', async () => {
  const order: string[] = []
  const busy = (name: string) =>
    database
      .write(
        onConnection(() => {
          order.push(`runs ${name}`)
          for (const end = performance.now() + 30; performance.now() < end; ) {}
        }),
      )
      .then(() => order.push(`resolves ${name}`))
  await Promise.all([busy('first'), busy('second')])
  expect(order).toEqual(['runs first', 'resolves first', 'runs second', 'resolves second'])
})

test('an urgent write does not wait for a flush, and includes waiting writes', async () => {
  const flushes: { log: Buffer; done: (error?: Error) => void }[] = []
  disk = (log, done) => flushes.push({ log, done })
  const resolved: string[] = []
  const first = remember('first').then(() => resolved.push('first'))
  await expect.poll(() => flushes.length).toBe(1)
  const waiting = remember('waiting').then(() => resolved.push('waiting'))
  const urgent = remember('urgent', true).then(() => resolved.push('urgent'))
  expect(flushes).toHaveLength(2)
  expect(flushes[1]?.log.includes('urgent')).toBe(true)
  flushes[1]?.done()
  await Promise.all([waiting, urgent])
  expect(resolved).toEqual(['waiting', 'urgent'])
  flushes[0]?.done()
  await first
  expect(flushes).toHaveLength(2)
})

test('flushes writes that arrive during an urgent flush', async () => {
  const flushes: (() => void)[] = []
  disk = (_, done) => flushes.push(done)
  const urgent = remember('urgent', true)
  const later = remember('later, urgent', true)
  flushes[0]?.()
  await urgent
  await expect.poll(() => flushes.length).toBe(2)
  flushes[1]?.()
  await later
})

test('closing during an urgent flush writes everything first', async () => {
  const flushes: (() => void)[] = []
  disk = (_, done) => flushes.push(done)
  const writes = [remember('one', true), remember('other', true)]
  const closed = database.close()
  flushes[0]?.()
  await expect.poll(() => flushes.length).toBe(2)
  flushes[1]?.()
  await Promise.all([...writes, closed])
})

test('a failed urgent flush stops all writes too', async () => {
  const flushes: ((error?: Error) => void)[] = []
  disk = (_, done) => flushes.push(done)
  const first = remember('first')
  await expect.poll(() => flushes.length).toBe(1)
  const urgent = remember('urgent', true)
  const refused = { code: 'store_unavailable' }
  flushes[1]?.(new Error('input/output error'))
  await expect(urgent).rejects.toMatchObject(refused)
  // It is now unknown how much of the log is on disk.
  flushes[0]?.()
  await expect(first).rejects.toMatchObject(refused)
  await expect(remember('later')).rejects.toMatchObject(refused)
  await expect(remember('urgent', true)).rejects.toMatchObject(refused)
})

test('reports a failed flush before it rejects the waiting writes', async () => {
  disk = (_, done) => done(new Error('input/output error'))
  const refused = { code: 'store_unavailable' }
  const lost = remember('lost').catch(() => failures.push('rejected'))
  await lost
  expect(failures).toEqual(['not written: input/output error', 'rejected'])
  disk = (_, done) => done()
  await expect(remember('later')).rejects.toMatchObject(refused)
  await expect(database.assertReady()).rejects.toThrow('input/output error')
})

test('probes readiness with a write, at most once a second', async () => {
  let flushes = 0
  disk = (_, done) => {
    flushes++
    done()
  }
  await Promise.all([database.assertReady(), database.assertReady()])
  await database.assertReady()
  expect(flushes).toBe(1)
})

test('is not ready while the disk refuses writes, and is ready again afterwards', async () => {
  database.sqlite.exec('PRAGMA query_only = ON')
  const refused = { code: 'store_unavailable' }
  await expect(database.assertReady()).rejects.toMatchObject(refused)
  await expect(database.assertReady()).rejects.toMatchObject(refused)
  database.sqlite.exec('PRAGMA query_only = OFF')
  await database.assertReady()
})

test('work that fails before it changes anything fails alone', async () => {
  const fails = database.write(
    onConnection(() => {
      throw new Error('no')
    }),
  )
  const beside = remember('beside')
  await expect(fails).rejects.toThrow('no')
  await beside
})

test('work that fails after a change fails its whole commit, and no later one', async () => {
  const fails = database.write(function* () {
    yield* all(statement("INSERT INTO tombstone VALUES (x'00')"))
    throw new Error('no')
  })
  const beside = remember('beside')
  await expect(fails).rejects.toMatchObject({ code: 'store_unavailable' })
  await expect(beside).rejects.toMatchObject({ code: 'store_unavailable' })
  await remember('after')
  await database.close()
  const file = readFileSync(join(dir, 'gateway.db'))
  expect([file.includes('beside'), file.includes('after')]).toEqual([false, true])
})

describe('the owner of a file', () => {
  const OLD = fingerprint('01')
  const NEW = fingerprint('02')
  const BINDING: Binding = {
    registry: `eip155:1:0x${'a'.repeat(40)}`,
    issuerId: 7,
    fingerprints: [OLD],
  }

  test('a file stays bound after it is closed', async () => {
    await bindFile(database, BINDING)
    await bindFile(database, { ...BINDING })
    await database.close()
    database = openSqlite(join(dir, 'gateway.db'))
    await bindFile(database, { ...BINDING })
    await expect(bindFile(database, { ...BINDING, issuerId: 8 })).rejects.toThrow()
  })

  test.each([
    ['registry is', { registry: formatRegistryId(1, `0x${'b'.repeat(40)}`) }],
    ['issuer is', { issuerId: 8 }],
    ['issuer secret with', { fingerprints: [NEW] }],
  ])('names the only difference: its %s', async (name, change) => {
    await bindFile(database, BINDING)
    const names = ['registry is', 'issuer is', 'issuer secret with']
    const attempt = () => bindFile(database, { ...BINDING, ...change })
    await expect(attempt()).rejects.toThrow(DataDirError)
    await expect(attempt()).rejects.toThrow(expect.objectContaining({ code: 'bound_to_another' }))
    await expect(attempt()).rejects.toThrow(`its ${name} `)
    for (const other of names.filter((other) => other !== name))
      await expect(attempt()).rejects.not.toThrow(`its ${other} `)
  })

  test('names everything that differs', async () => {
    await bindFile(database, BINDING)
    const attempt = () =>
      bindFile(database, {
        registry: `eip155:2:0x${'a'.repeat(40)}`,
        issuerId: 8,
        fingerprints: [NEW],
      })
    for (const name of ['registry is', 'issuer is', 'issuer secret with'])
      await expect(attempt()).rejects.toThrow(`its ${name} `)
  })

  test('learns a new secret, and then requires both', async () => {
    await bindFile(database, BINDING)
    await bindFile(database, { ...BINDING, fingerprints: [NEW, OLD] })
    await bindFile(database, { ...BINDING, fingerprints: [NEW, OLD] })
    const withdraw = (fingerprint: Hex) =>
      bindFile(database, { ...BINDING, fingerprints: [fingerprint] })
    await expect(withdraw(NEW)).rejects.toThrow(
      `its issuer secret with the fingerprint ${shortFingerprint(OLD)} is missing`,
    )
    await expect(withdraw(OLD)).rejects.toThrow(
      `its issuer secret with the fingerprint ${shortFingerprint(NEW)} is missing`,
    )
  })

  test('a new file learns several secrets in their order', async () => {
    await bindFile(database, { ...BINDING, fingerprints: [NEW, OLD] })
    await bindFile(database, { ...BINDING, fingerprints: [fingerprint('03'), NEW, OLD] })
  })

  test.each([
    ['an older secret first', [OLD, NEW]],
    ['a secret it does not know last', [NEW, OLD, fingerprint('03')]],
    ['a secret it does not know between', [NEW, fingerprint('03'), OLD]],
  ])('refuses %s', async (_, fingerprints) => {
    await bindFile(database, { ...BINDING, fingerprints: [NEW, OLD] })
    await expect(bindFile(database, { ...BINDING, fingerprints })).rejects.toThrow(
      `put the newest first and then ${shortFingerprint(NEW)}, ${shortFingerprint(OLD)}`,
    )
    await bindFile(database, { ...BINDING, fingerprints: [NEW, OLD] })
  })

  test('the fingerprint of a secret is HKDF with an info of its own', () => {
    const secret = randomBytes(32)
    const info = 'document-registry/v1/issuer-secret-fingerprint'
    expect(Buffer.from(fingerprintOf(secret))).toEqual(
      Buffer.from(hkdfSync('sha256', secret, '', info, 32)),
    )
  })

  test('the file holds a fingerprint of the secret, not the secret', async () => {
    const secret = randomBytes(32)
    const { document, salt } = deriveSubkeys(secret)
    const fingerprint = toHex(fingerprintOf(secret))
    await bindFile(database, { ...BINDING, fingerprints: [fingerprint] })
    await database.close()
    const file = readFileSync(join(dir, 'gateway.db'))
    expect(file.includes(fingerprint)).toBe(true)
    for (const key of [secret, document, salt]) {
      expect(file.includes(Buffer.from(key))).toBe(false)
      expect(file.includes(toHex(key).slice(2))).toBe(false)
    }
  })
})

test('transactions during a late copy do not damage it', async () => {
  const BUSY_MS = 3
  const COPIES = 16
  let working = true
  let written = 0
  const load = async () => {
    while (working)
      await database.write(
        onConnection(() => {
          const end = performance.now() + BUSY_MS
          while (performance.now() < end);
          written++
          database.sqlite.prepare('INSERT INTO send (nonce) VALUES (?)').run(written)
        }),
      )
  }
  // Occupies every thread of the pool that makes the copy.
  const occupyThreads = () => {
    for (let i = 0; i < 4; i++) pbkdf2('password', 'salt', 20_000, 64, 'sha512', () => {})
  }
  const loads = [load(), load()]
  for (let i = 0; i < COPIES; i++) {
    await expect.poll(() => written).toBeGreaterThan(i * 2)
    const before = written
    occupyThreads()
    const path = join(dir, `copy-${i}.db`)
    await database.copyTo(path)
    const copy = new DatabaseSync(path)
    const row = copy.prepare('SELECT count(*) AS sends FROM send').get()
    copy.close()
    expect(row?.sends).toBeGreaterThanOrEqual(before)
  }
  working = false
  await Promise.all(loads)
})

test.each([
  ['an older', 1],
  ['a newer', 1_000],
])('refuses a file of %s version and leaves it as it is', (which, version) => {
  const path = join(dir, 'other.db')
  const other = new DatabaseSync(path)
  other.exec(`CREATE TABLE bound_to (registry TEXT NOT NULL) STRICT;
    INSERT INTO bound_to VALUES ('eip155:1:0xab');
    PRAGMA user_version = ${version}`)
  other.close()
  const before = readFileSync(path)
  const attempt = () => openSqlite(path)
  expect(attempt).toThrow(expect.objectContaining({ code: 'other_version' }))
  expect(attempt).toThrow(`written by ${which} version`)
  expect(attempt).toThrow('start with another DATA_DIR')
  expect(readFileSync(path)).toEqual(before)
})

test('explains what to do about a read-only folder', async () => {
  chmodSync(dir, 0o500)
  // Root may write there all the same.
  const code = `import('#store/drivers/sqlite/driver.ts').then(({ openSqlite }) =>
    openSqlite(${JSON.stringify(join(dir, 'none.db'))}))`
  const nobody = process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }
  if (nobody) chownSync(dir, nobody.uid, nobody.gid)
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    cwd: process.cwd(),
    ...nobody,
  })
  chmodSync(dir, 0o700)
  expect(stderr).toMatch(/DATA_DIR cannot be written: EACCES.*none\.db'/)
  expect(stderr).toMatch(/Mount it writable, and give it to the user of the service/)
})

test('releases its lock when the file cannot be prepared', async () => {
  const path = join(dir, 'damaged.db')
  const damaged = new DatabaseSync(path)
  damaged.exec(`CREATE TABLE record (other INTEGER) STRICT;
    PRAGMA user_version = ${SCHEMA_VERSION}`)
  damaged.close()
  const attempt = () => openSqlite(path)
  expect(attempt).toThrow('no such table')
  rmSync(path)
  await attempt().close()
})
