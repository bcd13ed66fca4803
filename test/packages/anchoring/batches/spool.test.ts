import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSpoolFolder, type Spool } from '#batches/spool.ts'

let folder: string
let newSpool: (owner: string) => Promise<Spool>
let spool: Spool
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spool-'))
  newSpool = openSpoolFolder(join(folder, 'spool'), { all: 1_000_000, each: 600_000 })
  spool = await newSpool('one')
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
  'returns what came in chunks of %i bytes, at every read',
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

test('limits the uploads of one owner to its share of the disk', async () => {
  const write = (to: Spool, length: number) =>
    allOf(to.write(inChunks(randomBytes(length), 50_000)))
  const [again, other, third] = [
    await newSpool('one'),
    await newSpool('two'),
    await newSpool('three'),
  ] as const
  await write(spool, 400_000)
  await expect(write(again, 250_000)).rejects.toThrow('disk space reserved for them')
  await write(other, 350_000)
  await expect(write(third, 250_000)).rejects.toThrow('disk space reserved for them')
  await spool.close()
  await write(third, 250_000)
  for (const one of [again, other, third]) await one.close()
  spool = await newSpool('one')
  await write(spool, 600_000)
})
