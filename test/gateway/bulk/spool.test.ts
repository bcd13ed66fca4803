import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSpoolFolder, type Spool } from '../../../gateway/bulk/spool.ts'

let folder: string
let spool: Spool
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spool-'))
  spool = await openSpoolFolder(join(folder, 'spool'))()
})
afterEach(async () => {
  await spool.close()
  rmSync(folder, { recursive: true })
})

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function allOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(Buffer.from(chunk))
  return all
}

test.each([1, 211, 100_000, 1_000_000])(
  'default: gives back what came in chunks of %i bytes, as often as it is read',
  async (length) => {
    const bytes = randomBytes(300_001)
    const written = await allOf(spool.write(inChunks(bytes, length)))
    expect(Buffer.concat(written).equals(bytes)).toBe(true)
    for (let times = 0; times < 2; times++)
      expect(Buffer.concat(await allOf(spool.read())).equals(bytes)).toBe(true)
    expect(written.length).toBeLessThan(10)
    expect(readdirSync(join(folder, 'spool'))).toEqual([])
  },
)
