import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import { openErasureList } from '#store/erasure-list.ts'

const hash = (byte: number): Hex => toHex(new Uint8Array(32).fill(byte))

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erasures-'))
  path = join(folder, 'list')
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

test('adds a line for each erasure, readable by its owner only', () => {
  const list = openErasureList(path)
  expect(list.read()).toEqual([])
  list.add(hash(1), Date.UTC(2026, 0, 31))
  list.add(hash(2), Date.UTC(2026, 1, 1))
  expect(readFileSync(path, 'utf8')).toBe(
    `${hash(1)} 2026-01-31T00:00:00.000Z\n${hash(2)} 2026-02-01T00:00:00.000Z\n`,
  )
  expect(openErasureList(path).read()).toEqual([hash(1), hash(2)])
  expect(statSync(path).mode & 0o077).toBe(0)
})

test('skips a line that a kill cut short', () => {
  const line = `${hash(1)} 2026-01-31T00:00:00.000Z`
  for (let length = 0; length < line.length; length++) {
    writeFileSync(path, line.slice(0, length))
    const list = openErasureList(path)
    list.add(hash(2), 0)
    // Once its hash is whole, the erasure holds.
    const isWhole = length > hash(1).length
    expect(openErasureList(path).read()).toEqual([...(isWhole ? [hash(1)] : []), hash(2)])
  }
})

test('refuses a file with text from another program', () => {
  const list = openErasureList(path)
  list.add(hash(1), 0)
  appendFileSync(path, 'erase everything\n')
  expect(() => openErasureList(path)).toThrow(`${path}, line 2: malformed erasure`)
})

test('reports store_unavailable when it cannot be written', () => {
  const list = openErasureList(join(folder, 'no such folder', 'list'))
  expect(() => list.add(hash(1), 0)).toThrow(expect.objectContaining({ code: 'store_unavailable' }))
})
