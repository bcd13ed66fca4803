import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { remoteIdentity } from '#operate/identity.ts'
import { readConfig } from '#settings/config.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { docregGateway } from '../../support/docreg.ts'
import { randomKey } from '../../support/given.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../../support/remote-issuer.ts'
import { startRpcProxy } from '../../support/rpc-proxy.ts'
import { transact } from '../../support/transact.ts'

let folder: string
let issuer: RemoteIssuer
let env: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  issuer = await startRemoteIssuer(folder, [], 1)
  env = {
    ...issuer.env,
    ISSUER_KEY: issuer.keys.issuer,
    DATA_DIR: join(folder, 'data'),
    BASE_URL: 'http://127.0.0.1:1',
  }
})
afterAll(async () => {
  await issuer?.anvil.kill()
  rmSync(folder, { recursive: true, force: true })
})

type Finding = { check: string; outcome: string; message: string; advice?: string }

async function doctor(more: Record<string, string> = {}) {
  const { stdout, code } = await docregGateway(['doctor', '--json'], {
    env: { ...env, ...more },
  })
  const findings: Finding[] = JSON.parse(stdout)
  const badOf = (outcome: string) =>
    findings.filter((one) => one.outcome === outcome).map(({ check }) => check)
  return { findings, code, fails: badOf('fail'), warns: badOf('warn'), stdout }
}

test('reports no failure in a good installation', async () => {
  const { fails, warns, code, findings } = await doctor()
  expect(fails).toEqual([])
  expect(warns).toEqual(['registry', 'service'])
  expect(findings.every(({ outcome, advice }) => outcome === 'ok' || advice !== undefined)).toBe(
    true,
  )
  expect(code).toBe(0)
})

test('reports payloads that wait for Kubo for more than five minutes', async () => {
  const DATA_DIR = join(folder, 'behind')
  mkdirSync(DATA_DIR, { mode: 0o700 })
  const database = openSqlite(join(DATA_DIR, 'gateway.db'))
  database.sqlite.exec("INSERT INTO mirror (id, cursor, since) VALUES (1, x'', 0)")
  await database.close()
  const { fails, findings } = await doctor({ DATA_DIR, IPFS_API_URL: 'http://127.0.0.1:1' })
  expect(fails).toEqual(['store'])
  expect(findings).toContainEqual({
    check: 'database',
    outcome: 'warn',
    message: expect.stringMatching(/^payloads have waited for \d+ minutes/),
    advice: expect.stringContaining('#payloads-on-kubo'),
  })
})

test('reports an endpoint that is down, without its key, and a missing registry', async () => {
  const down = await doctor({ RPC_URL: `${issuer.anvil.url},http://127.0.0.1:1/v2/secret-key` })
  expect(down.fails).toEqual(['endpoints'])
  expect(down.stdout).not.toContain('secret-key')
  const elsewhere = await doctor({ REGISTRY_ADDRESS: `0x${'12'.repeat(20)}` })
  expect(elsewhere.fails).toEqual(expect.arrayContaining(['registry', 'account']))
  expect([down.code, elsewhere.code]).toEqual([1, 1])
})

test('lists several recorded registries of a chain, and uses a single one', async () => {
  const chainId = 7_700_006
  const records = fileURLToPath(new URL(`../../../deployments/${chainId}/`, import.meta.url))
  const node = await startAnvilNode(folder, ['--chain-id', `${chainId}`], 1)
  const addresses = ['12', '34'].map((byte) => `0x${byte.repeat(20)}`)
  const record = (address = '') =>
    writeFileSync(
      join(records, `${address}.json`),
      JSON.stringify({ codeHash: `0x${'00'.repeat(32)}`, block: 1 }),
    )
  const unnamed = { RPC_URL: node.url, REGISTRY_ADDRESS: '' }
  const identity = () => remoteIdentity(readConfig({ ...env, ...unnamed }), () => {})
  const problem = async () => {
    const { findings } = await doctor(unnamed)
    return findings.find(({ check }) => check === 'registry')?.message
  }
  try {
    mkdirSync(records)
    await expect(identity()).rejects.toThrow(`deployments/ has no registry of chain ${chainId}`)
    expect(await problem()).toBe(`deployments/ has no registry of chain ${chainId}`)
    record(addresses[0])
    const { registry, rpc } = await identity()
    await rpc.close()
    expect(registry).toBe(`eip155:${chainId}:${addresses[0]}`)
    record(addresses[1])
    await expect(identity()).rejects.toThrow(addresses.join(', '))
    expect(await problem()).toContain(addresses.join(', '))
  } finally {
    rmSync(records, { recursive: true })
    await node.kill()
  }
})

test('reports an account without the permission, one that manages, and a recovery', async () => {
  expect((await doctor({ ISSUER_KEY: randomKey() })).fails).toEqual(['account'])
  const manager = await doctor({ ISSUER_KEY: issuer.keys.manager })
  expect(manager.warns).toContain('account')
  const { provider, registry, keys } = issuer
  const admin = new Wallet(keys.admin).address
  await transact(provider, registry, keys.admin, 'proposeAccount', [1, admin])
  expect((await doctor()).fails).toEqual(['recovery'])
})

describe('proofs', () => {
  let node: AnvilNode
  let [head, final, dayOld] = [0, 0, 0]
  const numberOf = async (tag: string) => {
    const block = await node.request<{ number: string }>('eth_getBlockByNumber', tag, false)
    return Number(block.number)
  }
  beforeAll(async () => {
    node = await startAnvilNode(mkdtempSync(join(folder, 'proofs-')), [], 4)
    // A block every ten minutes.
    await node.request('anvil_mine', '0x7d0', '0x258')
    ;[head, final] = [await numberOf('latest'), await numberOf('finalized')]
    dayOld = head - 144
  })
  afterAll(() => node?.kill())

  /** @returns What is found with a node that has proofs of these blocks. */
  async function foundWith(hasProof: (block: number) => boolean) {
    const proxy = await startRpcProxy(node.url)
    proxy.change = (method, result, [, , block]) => {
      const isRefused =
        method === 'eth_getProof' && !hasProof(block === 'latest' ? head : Number(block))
      return isRefused ? null : result
    }
    const { findings } = await doctor({ RPC_URL: proxy.url })
    await proxy.close()
    return findings.filter(({ check }) => check === 'proofs')
  }

  test('are requested for the newest block, the final block and one of a day ago', async () => {
    const asked = new Set<number>()
    const [found] = await foundWith((block) => asked.add(block).size > 0)
    expect(found).toMatchObject({ outcome: 'ok' })
    expect([...asked]).toEqual([head, final, dayOld])
  })

  test.each<[string, (block: number) => boolean, RegExp, RegExp]>([
    ['none', () => false, /does not support eth_getProof: bundles, docreg audit/, /Linea/],
    ['the tip', (block) => block > final, /, which is final: docreg audit and/, /reth --rpc.eth-p/],
    ['a window', (block) => block > dayOld, /, which is a day old: .*--as-of/, /geth --history.t/],
  ])('names what a node with proofs of %s cannot do', async (_, has, message, advice) => {
    expect(await foundWith(has)).toEqual([
      {
        check: 'proofs',
        outcome: 'warn',
        message: expect.stringMatching(message),
        advice: expect.stringMatching(advice),
      },
    ])
  })
})

test('names every bad setting', async () => {
  const { findings, fails } = await doctor({ PORT: 'x', ISSUER_ID: 'none' })
  expect(fails).toEqual(['settings', 'settings'])
  expect(findings.map(({ message }) => message).join()).toMatch(/PORT[\s\S]*ISSUER_ID/)
})
