import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresFolder } from '../../support/postgres.ts'
import { call, issueWith, type MovableService, startMovableService } from './movable-service.ts'

const folder = postgresFolder()
/** It starts many processes. */
const LONG_MS = 300_000

describe.skipIf(folder === undefined)('backups of PostgreSQL', () => {
  let service: MovableService
  beforeEach(async () => {
    service = await startMovableService(folder ?? '')
  })
  afterEach(() => service.remove())

  /** Runs a printed line, as a person would who pastes it. */
  async function paste(line: string | undefined, newDatabase: string): Promise<void> {
    const text = line?.replace('<the new database>', newDatabase) ?? 'exit 9'
    const PATH = [folder, process.env.PATH].join(delimiter)
    await promisify(execFile)('sh', ['-c', text], { cwd: service.dir, env: { PATH } })
  }

  async function execute(url: string, sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(sql)
    await client.end()
    return rows
  }

  test(
    'the printed commands make a backup that restore verifies',
    async () => {
      const { dir, postgres, start, command } = service
      const url = await postgres.newDatabase()
      const DATA_DIR = join(dir, 'gateway')
      const gateway = await start({ DATA_DIR, DATABASE_URL: url })
      const { body: before } = await issueWith(gateway, 'before')

      const secret = `${url.replace('registry@', 'registry:hunter2@')}?password=hunter3`
      const printed = await command('backup', { DATA_DIR, DATABASE_URL: secret }).catch(
        ({ code, stdout, stderr }) => ({ code, text: `${stdout}${stderr}` }),
      )
      expect(printed).toMatchObject({ code: 2, text: expect.not.stringContaining('hunter') })
      const lines = typeof printed === 'string' ? [] : printed.text.split('\n')
      const lineOf = (word: string) => lines.find((line) => line.includes(word))
      const block = /--block (\d+)/.exec(lineOf('--block') ?? '')?.[1] ?? ''
      await paste(lineOf('pg_dump --'), '')
      const { body: after } = await issueWith(gateway, 'after')
      await gateway.stop()

      const restored = await postgres.newDatabase()
      await paste(lineOf('pg_restore --'), restored)
      const where = { DATA_DIR: join(dir, 'restored'), DATABASE_URL: restored }
      const told = await command('restore', where, '--block', block)
      expect(told).toContain('1 are whole')
      expect(told).toContain('1 documents were anchored, and the chain has all of them')
      expect(told).toContain('0 payloads fetched, 1 lost')
      // Nobody knows who was given a place in a status list since the backup.
      const lists = await execute(restored, 'SELECT list, lost FROM status_list')
      expect(lists).toEqual([{ list: '1', lost: true }])
      const again = await start(where)
      for (const [repeat, { data }] of Object.entries({ before, after })) {
        expect((await issueWith(again, repeat)).body.data.publicId).toBe(data.publicId)
        const { body } = await call(again, `/v1/verify?publicId=${data.publicId}`)
        expect(body.data.status).toBe('valid')
      }
      await again.stop()
      await execute(restored, "UPDATE payload SET bytes = '\\x00'")
      await expect(command('restore', where)).rejects.toThrow('is damaged')
    },
    LONG_MS,
  )
})
