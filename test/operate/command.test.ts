import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
afterAll(() => rmSync(folder, { recursive: true }))

const NOBODY = 'http://127.0.0.1:1'

type Ended = { code: number; output: string }

function run(script: string, args: readonly string[], more: Record<string, string> = {}) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' },
    ...{ DATA_DIR: join(folder, 'data'), ...more },
  }
  return new Promise<Ended>((resolve) => {
    execFile(
      process.execPath,
      [`operate/${script}.ts`, ...args],
      { cwd: root, env },
      (...ended) => {
        const [error, stdout, stderr] = ended
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
      },
    )
  })
}

type Case = [
  script: string,
  args: string[],
  env: Record<string, string>,
  code: number,
  says: string,
]

// Wrong input ends with a sentence, never with a stack.
describe.each<Case>([
  ['recover', ['--bogus'], {}, 64, "Unknown option '--bogus'"],
  ['recover', ['--from', 'x'], { RPC_URL: NOBODY }, 2, 'ISSUER_ID is required when RPC_URL is set'],
  ['keys', ['create', '--scope', 'none'], { DATA_DIR: folder }, 64, '--scope'],
  ['doctor', ['--bogus'], {}, 64, "Unknown option '--bogus'"],
])('npm run %s -- %j', (script, args, env, code, says) => {
  test(`error: ${says}`, async () => {
    const ended = await run(script, args, env)
    expect(ended).toEqual({ code, output: expect.stringContaining(says) })
    expect(ended.output).not.toMatch(/^\s+at /m)
  })
})
