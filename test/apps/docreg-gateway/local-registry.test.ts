import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { computeAddress, Wallet } from 'ethers'
import { expect, onTestFinished, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { ensureRegistry, LocalRegistryError } from '#operate/local-registry.ts'
import { startAnvilNode } from '../../support/anvil.ts'
import { randomKey } from '../../support/given.ts'
import { patient } from '../../support/patient.ts'

/** A registry on a chain of its own. @returns How to find it again, and its code. */
async function registryOnChain() {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { request, kill } = await startAnvilNode(folder)
  onTestFinished(kill)
  const [adminKey, account] = [randomKey(), new Wallet(randomKey()).address]
  await request('anvil_setBalance', computeAddress(adminKey), '0xde0b6b3a7640000')
  // A plain Anvil answers before it mines.
  const provider = patient({
    request: ({ method, params = [] }: Call) => request(method, ...params),
  })
  const find = () => ensureRegistry(provider, adminKey, { account, name: 'A university', uri: '' })
  const address = (await find()).split(':')[2] ?? ''
  const code = await request<Hex>('eth_getCode', address, 'latest')
  return { find, address, code, setCode: (to: Hex) => request('anvil_setCode', address, to) }
}

type Call = { method: string; params?: readonly unknown[] }

/** The code with one bit changed. @param at Which byte; negative = from the end. */
function flipped(code: Hex, at: number): Hex {
  const bytes = Buffer.from(code.slice(2), 'hex')
  const index = at < 0 ? bytes.length + at : at
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index)
  return `0x${bytes.toString('hex')}`
}

test('finds the registry of an earlier start again', async () => {
  const { find, address } = await registryOnChain()
  expect(await find()).toBe(`eip155:31337:${address}`)
})

test('refuses another version of the contract, and says what to do', async () => {
  const { find, code, setCode } = await registryOnChain()
  for (const at of [0, 1000, -100]) {
    await setCode(flipped(code, at))
    const found = find()
    await expect(found).rejects.toThrow(LocalRegistryError)
    await expect(found).rejects.toThrow(/another version .* start with another DATA_DIR/)
  }
})

test('accepts a contract that differs only in comments', async () => {
  const { find, address, code, setCode } = await registryOnChain()
  // The digest of the sources lies in the metadata, some bytes before the end.
  await setCode(flipped(code, -30))
  expect(await find()).toBe(`eip155:31337:${address}`)
})
