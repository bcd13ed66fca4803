import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { freshSeed, seededRandom } from '#test/support/random.ts'

const CHILD = fileURLToPath(new URL('./writing-child.ts', import.meta.url))
const KILLS = 30
/** Nothing of these is in the file within the time of a test; with large ones most is, soon. */
const [SMALL, LARGE] = [
  [100, 3_000],
  [100, 50_000, 600_000],
]

let dir: string
let path: string
let child: ChildProcess | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'write-mark-'))
  path = join(dir, 'gateway.db')
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

/**
 * Writes for a while in a process of its own, and kills it.
 *
 * @returns Whether it found writes lost, and the rows that were on the disk.
 */
async function writeAndKill(
  first: number,
  ms: number,
  sizes = SMALL,
): Promise<{ isBehind: boolean; rows: number[] }> {
  const own = spawn(process.execPath, [CHILD, path, ...[first, ...sizes].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = own
  const lines: string[] = []
  const output = createInterface({ input: own.stdout })
  output.on('line', (line) => lines.push(line))
  while (lines.length < 2 && own.exitCode === null) await sleep(5)
  await sleep(ms)
  own.kill('SIGKILL')
  await once(own, 'close')
  const [isBehind, ...rows] = lines
  return { isBehind: isBehind === 'true', rows: rows.map(Number) }
}

async function rowsIn(): Promise<{ isBehind: boolean; rows: Set<number> }> {
  const database = openSqlite(path)
  const { isBehind } = database.mark
  const found = database.sqlite.prepare('SELECT hash FROM payload').all()
  await database.close()
  return {
    isBehind,
    rows: new Set(found.map(({ hash }) => Buffer.from(hash as Uint8Array).readUInt32BE())),
  }
}

test('finds no lost writes after kills at any moment', async () => {
  const seed = freshSeed()
  const random = seededRandom(seed)
  const onDisk: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const { isBehind, rows } = await writeAndKill(kill * 100_000, random.below(120), LARGE)
    expect(isBehind, `seed ${seed}, kill ${kill}`).toBe(false)
    onDisk.push(...rows)
    if (kill % 10 === 9) expect((await rowsIn()).isBehind).toBe(false)
  }
  const { rows } = await rowsIn()
  expect(onDisk.filter((row) => !rows.has(row))).toEqual([])
}, 180_000)

describe('reports lost writes until accepted, when after a kill', () => {
  const log = () => `${path}-wal`
  test.each<[string, () => void]>([
    ['the log is deleted', () => rmSync(log())],
    ['the log is cut', () => truncateSync(log(), readFileSync(log()).length / 2)],
    ['the log is emptied', () => truncateSync(log(), 0)],
    [
      'a bit of the log is turned',
      () => {
        const bytes = readFileSync(log())
        const at = bytes.length >> 2
        bytes[at] = (bytes[at] ?? 0) ^ 1
        writeFileSync(log(), bytes)
      },
    ],
    [
      'an older copy is written over the database',
      () => {
        writeFileSync(path, readFileSync(`${path}.copy`))
        rmSync(log())
      },
    ],
  ])('%s', async (_, damage) => {
    await openSqlite(path).close()
    cpSync(path, `${path}.copy`)
    const { rows } = await writeAndKill(0, 50)
    damage()
    const found = await rowsIn()
    expect(found.isBehind).toBe(true)
    expect(rows.some((row) => !found.rows.has(row))).toBe(true)

    const again = openSqlite(path)
    expect(again.mark.isBehind).toBe(true)
    await again.assertReady()
    await again.close()
    const accepting = openSqlite(path)
    accepting.mark.accept()
    await accepting.assertReady()
    await accepting.close()
    expect((await rowsIn()).isBehind).toBe(false)
  })
})

test('ignores the mark of another file in a copy of a folder in use', async () => {
  await writeAndKill(0, 50)
  cpSync(path, join(dir, 'copy.db'))
  cpSync(`${path}-mark`, join(dir, 'copy.db-mark'))
  path = join(dir, 'copy.db')
  expect((await rowsIn()).isBehind).toBe(false)
})

test('leaves no mark when it is closed', async () => {
  const database = openSqlite(path)
  await database.assertReady()
  expect(existsSync(`${path}-mark`)).toBe(true)
  await database.close()
  expect(existsSync(`${path}-mark`)).toBe(false)
})
