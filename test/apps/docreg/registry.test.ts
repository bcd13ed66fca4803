import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UsageError } from '#cli/errors.ts'
import { trustedRegistry } from '#cli/registry.ts'

const ADDRESS = `0x${'Ab'.repeat(20)}`
const CODE_HASH = `0x${'c'.repeat(64)}`

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'deployments-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function deploy(chainId: number, address = ADDRESS): void {
  const folder = join(dir, `${chainId}`)
  mkdirSync(folder, { recursive: true })
  const record = { chainId, address, codeHash: CODE_HASH, block: 7 }
  const name = address.toLowerCase()
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(record))
  writeFileSync(join(folder, `${name}.input.json`), '{}')
}
const trusted = (given?: string) => trustedRegistry(given, pathToFileURL(`${dir}/`))
const known = (chainId: number, address = ADDRESS) => ({
  registry: `eip155:${chainId}:${address.toLowerCase()}`,
  codeHash: CODE_HASH,
  deployedIn: 7,
})

test('uses the only deployment', () => {
  deploy(10)
  writeFileSync(join(dir, 'README.md'), '')
  mkdirSync(join(dir, 'docker'))
  expect(trusted()).toEqual(known(10))
})

test('accepts the registry of a chain, with the hash of its code', () => {
  deploy(10)
  deploy(8453)
  expect(trusted('eip155:8453')).toEqual(known(8453))
})

test('accepts a registry in upper or lower case', () => {
  deploy(10)
  expect(trusted(`eip155:1:${ADDRESS}`)).toEqual({
    registry: `eip155:1:${ADDRESS.toLowerCase()}`,
  })
})

test('accepts one of several registries of a chain, with the hash of its code', () => {
  const second = `0x${'cd'.repeat(20)}`
  deploy(10)
  deploy(10, second)
  for (const given of [undefined, 'eip155:10'])
    expect(() => trusted(given)).toThrow(
      new RegExp(`several .*name one of eip155:10:${ADDRESS.toLowerCase()}, eip155:10:${second}`),
    )
  expect(trusted(`eip155:10:${second}`)).toEqual(known(10, second))
  expect(trusted(`eip155:10:${ADDRESS}`)).toEqual(known(10))
})

test.each(['{broken', '{"nonsense":1}', 'null'])('names a damaged record: %s', (text) => {
  deploy(10)
  writeFileSync(join(dir, '10', `${ADDRESS.toLowerCase()}.json`), text)
  expect(() => trusted()).toThrow('.json is not a deployment record')
})

test('refuses no registry, several registries, another chain, and other contracts', () => {
  expect(() => trusted()).toThrow(UsageError)
  deploy(10)
  deploy(8453)
  // The node's claimed chain id must not choose between them.
  expect(() => trusted()).toThrow(UsageError)
  for (const given of ['eip155:1', 'eip155:0', ADDRESS, 'eip155:1:0x12', ''])
    expect(() => trusted(given)).toThrow(UsageError)
})
