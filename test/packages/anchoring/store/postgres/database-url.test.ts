import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { ConfigError, readConfig } from '#settings/config.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { CERTIFIED_KEY } from '#test/modules/wallets/certified-key.ts'

/** A server that speaks TLS with a certificate of an authority that nobody knows, and no more. */
let server: Server
let address: string
const folder = mkdtempSync(join(tmpdir(), 'document-registry-tls-'))
const authority = join(folder, 'ca.pem')
beforeAll(async () => {
  writeFileSync(authority, CERTIFIED_KEY.authority)
  const { key, certificate: cert } = CERTIFIED_KEY
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {}).resume()
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  address = `postgres://registry@127.0.0.1:${(server.address() as AddressInfo).port}/registry`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = (parameters: string) => openPostgres(`${address}?${parameters}`, createLog('silent'))

test('reports an unknown authority, and how to name it', async () => {
  await expect(open('sslmode=verify-full')).rejects.toThrow(
    /^DATABASE_URL leads to .* certificate is not accepted .*sslrootcert=/,
  )
})

test('reports the host when the certificate is of another one', async () => {
  await expect(open(`sslmode=verify-full&sslrootcert=${authority}`)).rejects.toThrow(
    /^DATABASE_URL leads to .*127\.0\.0\.1.* is not in the cert's list/,
  )
})

test('reports a file that cannot be read', async () => {
  await expect(open('sslmode=verify-full&sslrootcert=/no/ca.pem')).rejects.toThrow(
    /^DATABASE_URL names a file that cannot be read: ENOENT.*\/no\/ca.pem/,
  )
})

test.each([
  ['postgres://user:password@host/database', undefined],
  [' postgresql://user:p%40%23%25%2F%3F%20@host/database?sslmode=verify-full\n', undefined],
  // The last @ counts.
  ['postgres://user:p@ss@host/database', undefined],
  ['postgres://user:p#ss@host/database', 'as %40 %23'],
  ['postgres://user#ss@host/database', 'as %40 %23'],
  ['postgres://user:p%ss@host/database', 'as %40 %23'],
  ['postgres://user:p/ss@host/database', 'as %40 %23'],
  ['postgres://user:1/ss@host/database', 'as %40 %23'],
  ['postgres://user:p@1/ss@host/database', 'as %40 %23'],
  ['postgres://user:1?ss@host/database', 'as %40 %23'],
  ['postgres://user:p ss@host/database', 'as %40 %23'],
  ['mysql://host/database', 'must be a postgres:// URL'],
  ['host/database', 'must be a postgres:// URL'],
])('%s', (DATABASE_URL, problem) => {
  const read = () => readConfig({ DATABASE_URL }).databaseUrl
  if (problem === undefined) return expect(read()).toBe(DATABASE_URL.trim())
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(problem)
})
