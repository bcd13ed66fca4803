import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseRegistryId } from '../../document/registry-id.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { type AnvilNode, startAnvilNode } from '../support/anvil.ts'
import { run } from '../support/docreg.ts'
import { patient } from '../support/patient.ts'
import { randomKey } from '../support/stack.ts'
import { deployRegistry, transact } from '../support/transact.ts'

const COMMAND = fileURLToPath(new URL('../../scripts/doctor.ts', import.meta.url))

let folder: string
let anvil: AnvilNode
let env: Record<string, string>
const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
let send: (key: keyof typeof keys, name: string, args: unknown[]) => Promise<unknown>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  anvil = await startAnvilNode(folder, [], 1)
  for (const key of Object.values(keys))
    await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
  const provider = patient(createFetchProvider(anvil.url))
  const registry = await deployRegistry(provider, keys, { name: 'One', uri: '' })
  send = (key, name, args) => transact(provider, registry, keys[key], name, args)
  env = {
    ...{ RPC_URL: anvil.url, REGISTRY_ADDRESS: parseRegistryId(registry).address, ISSUER_ID: '1' },
    ...{ ISSUER_SECRET: randomKey(), ISSUER_KEY: keys.issuer, DATA_DIR: join(folder, 'data') },
    BASE_URL: 'http://127.0.0.1:1',
  }
})
afterAll(async () => {
  await anvil?.kill()
  rmSync(folder, { recursive: true, force: true })
})

type Finding = { check: string; outcome: string; message: string; advice?: string }

async function doctor(more: Record<string, string> = {}) {
  const { stdout, code } = await run(process.execPath, [COMMAND, '--json'], {
    env: { ...env, ...more },
  })
  const findings: Finding[] = JSON.parse(stdout)
  const badOf = (outcome: string) =>
    findings.filter((one) => one.outcome === outcome).map(({ check }) => check)
  return { findings, code, fails: badOf('fail'), warns: badOf('warn'), stdout }
}

test('default: finds nothing that fails in a good installation', async () => {
  const { fails, warns, code, findings } = await doctor()
  expect(fails).toEqual([])
  expect(warns).toEqual(['registry', 'service'])
  expect(findings.every(({ outcome, advice }) => outcome === 'ok' || advice !== undefined)).toBe(
    true,
  )
  expect(code).toBe(0)
})

test('behavior: names an endpoint that is down without its key, and a registry that is not there', async () => {
  const down = await doctor({ RPC_URL: `${anvil.url},http://127.0.0.1:1/v2/secret-key` })
  expect(down.fails).toEqual(['endpoints'])
  expect(down.stdout).not.toContain('secret-key')
  const elsewhere = await doctor({ REGISTRY_ADDRESS: `0x${'12'.repeat(20)}` })
  expect(elsewhere.fails).toEqual(expect.arrayContaining(['registry', 'account']))
  expect([down.code, elsewhere.code]).toEqual([1, 1])
})

test('behavior: sees an account without the permission, one that manages, and a recovery', async () => {
  expect((await doctor({ ISSUER_KEY: randomKey() })).fails).toEqual(['account'])
  const manager = await doctor({ ISSUER_KEY: keys.manager })
  expect(manager.warns).toContain('account')
  await send('admin', 'proposeAccount', [1, new Wallet(keys.admin).address])
  expect((await doctor()).fails).toEqual(['recovery'])
})

test('error: names every bad setting', async () => {
  const { findings, fails } = await doctor({ PORT: 'x', ISSUER_ID: 'none' })
  expect(fails).toEqual(['settings', 'settings'])
  expect(findings.map(({ message }) => message).join()).toMatch(/PORT[\s\S]*ISSUER_ID/)
})
