import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPILE_CACHE } from '../support/compile-cache.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'

const run = promisify(execFile)
const folder = postgresFolder()

describe.skipIf(folder === undefined)('commands with DATABASE_URL', () => {
  let server: PostgresServer
  let url: string
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
    url = await server.newDatabase()
  })
  afterAll(() => server.remove())

  const command = (script: string, ...args: string[]) =>
    run(process.execPath, [`scripts/${script}.ts`, ...args], {
      env: { ...COMPILE_CACHE, DATABASE_URL: url, DATA_DIR: '/nonexistent' },
    })

  test('default: keys are made and listed in the database', async () => {
    await command('keys', 'create', '--scope', 'verify', '--label', 'a front desk')
    const { stdout } = await command('keys', 'list')
    expect(stdout).toContain('a front desk')
  })

  test.each([
    ['reindex', 'SQLite'],
    ['recover', 'SQLite'],
    ['doctor', 'SQLite'],
  ])('error: %s says that it does not work with PostgreSQL', async (script, word, ...args) => {
    const failed = await command(script, ...args).catch((error) => error)
    expect(failed.code).toBeGreaterThan(0)
    expect(`${failed.stdout}${failed.stderr}`).toMatch(/DATABASE_URL is set/)
    expect(`${failed.stdout}${failed.stderr}`).toContain(word)
  })
})
