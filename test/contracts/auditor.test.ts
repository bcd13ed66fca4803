import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Contract,
  ContractFactory,
  concat,
  id,
  JsonRpcProvider,
  keccak256,
  NonceManager,
  sha256,
  toBeHex,
  toUtf8Bytes,
  Wallet,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshRegistry } from '#scripts/fresh-registry.ts'
import { type AnvilNode, startAnvilNode } from '../support/anvil.ts'
import { prunedHistory, startFaultProxy } from '../support/fault-proxy.ts'

/** docs/audit.md: its example by plain JSON-RPC, and its two programs. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const manual = readFileSync(`${root}docs/audit.md`, 'utf8')
const base = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200n
const at = (key: string, slot: string): string => keccak256(concat([key, slot]))
const word = (value: bigint | number): string => toBeHex(value, 32)
const issuedTopic = id('DocumentIssued(bytes32,uint32,address,uint40)')
const revokedTopic = id('DocumentRevoked(bytes32,uint32,address,uint8)')

interface Log {
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionHash: string
}

test('an auditor reads a document, its events and its account', async () => {
  const { connection, registry, issuer } = await freshRegistry()
  const hash = sha256(toUtf8Bytes('a sealed document'))
  const account = (await issuer.getAddress()).toLowerCase()
  const issued = await (await registry.connect(issuer).issue(1, hash, 1_893_456_000)).wait()
  await connection.provider.request({
    method: 'hardhat_mine',
    params: ['0x10'],
  })
  const revoked = await (await registry.connect(issuer).revoke(1, hash, 1)).wait()
  const address = await registry.getAddress()
  const rpc = async <Answer>(method: string, ...params: unknown[]): Promise<Answer> =>
    (await connection.provider.request({ method, params })) as Answer

  const namespace = BigInt(at(word(1), word(base)))
  const recordSlot = at(hash, word(namespace + 1n))
  for (const shown of [hash, word(namespace), recordSlot, issuedTopic, revokedTopic])
    expect(manual.includes(shown), shown).toBe(true)
  const read = async (slot: string): Promise<bigint> =>
    BigInt(await rpc<string>('eth_getStorageAt', address, slot, 'latest'))
  const record = await read(recordSlot)
  const part = (from: bigint, bits: bigint): bigint => (record >> from) & ((1n << bits) - 1n)
  const anchoredBlock = part(16n, 40n)
  const revokedBlock = part(152n, 40n)
  expect(part(0n, 16n)).toBe(1n)
  expect(anchoredBlock).toBe(BigInt(issued?.blockNumber ?? 0))
  expect(part(96n, 40n)).toBe(1_893_456_000n)
  expect(part(136n, 16n)).toBe(1n)
  expect(revokedBlock).toBe(BigInt(revoked?.blockNumber ?? 0))
  expect([part(232n, 8n), part(240n, 16n)]).toEqual([1n, 0n])

  const logs = (block: bigint, topic: string): Promise<Log[]> => {
    const number = `0x${block.toString(16)}`
    return rpc('eth_getLogs', {
      address,
      fromBlock: number,
      toBlock: number,
      topics: [topic, hash],
    })
  }
  expect(await logs(anchoredBlock, issuedTopic)).toMatchObject([
    {
      topics: [issuedTopic, hash, word(1)],
      data: concat([word(BigInt(account)), word(1_893_456_000)]),
      transactionHash: issued?.hash,
    },
  ])
  expect(await logs(revokedBlock, revokedTopic)).toMatchObject([
    {
      topics: [revokedTopic, hash, word(1)],
      data: concat([word(BigInt(account)), word(1)]),
      transactionHash: revoked?.hash,
    },
  ])

  const accountSlot = at(word(1), word(namespace + 4n))
  expect(manual.includes(accountSlot), accountSlot).toBe(true)
  expect(await read(accountSlot)).toBe(BigInt(account))
  // The issuer's state: one document, no batch, two accounts.
  expect((await read(word(namespace))) & ((1n << 96n) - 1n)).toBe(1n | (2n << 80n))
  await connection.close()
})

/** Skipped with a printed reason without `cast`; with CI=true this fails. */
const hasCast =
  // biome-ignore lint/style/noProcessEnv: CI says so in the environment
  process.env.CI === 'true' || spawnSync('cast', ['--version']).status === 0

const artifact = () =>
  JSON.parse(
    readFileSync(`${root}artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json`, 'utf8'),
  )

describe('the list of an issuer', () => {
  let anvil: AnvilNode
  let registry: Contract
  let liar: Server
  let liarUrl: string
  let block: number
  let provider: JsonRpcProvider
  let me: string
  const send = async (name: string, ...args: unknown[]): Promise<void> => {
    await (await registry.getFunction(name)(...args)).wait()
  }
  beforeAll(async () => {
    anvil = await startAnvilNode(
      mkdtempSync(join(tmpdir(), 'auditor-')),
      ['--hardfork', 'cancun'],
      1,
    )
    provider = new JsonRpcProvider(anvil.url, undefined, {
      cacheTimeout: -1,
    })
    const wallet = new Wallet(
      '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      provider,
    )
    me = wallet.address
    const account = new NonceManager(wallet)
    const { abi, bytecode } = artifact()
    registry = (await new ContractFactory(abi, bytecode, account).deploy(
      wallet.address,
      86_400,
    )) as Contract
    block = (await registry.deploymentTransaction()?.wait())?.blockNumber ?? 0
    for (const name of ['One', 'Another']) {
      await send('registerIssuer', wallet.address, name, '')
    }
    for (const issuerId of [1, 2]) await send('setPermissions', issuerId, wallet.address, 7)
    const hashes = Array.from({ length: 30 }, (_, index) => id(`${index}`))
    await send('issueMany', 1, hashes.slice(0, 20), Array(20).fill(0))
    await send('issueMany', 1, hashes.slice(10), Array(20).fill(0))
    await send('issueMany', 2, hashes.slice(5, 9), Array(4).fill(0))
    await send('issueBatch', 1, id('a root'), 7, id('a manifest'))
    // A revocation without an anchoring part does not count as a document.
    await send('revokeInBatch', 1, id('a root'), [id('of the batch')], 1)
    await send('revoke', 1, hashes[3], 1)
    await anvil.request('anvil_mine', '0x10')
    liar = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const answer = await fetch(anvil.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      // A node that omits one document from every answer.
      const hide = (one: { result?: unknown }) => ({
        ...one,
        ...(Array.isArray(one.result) && {
          result: one.result.filter((log) => log.topics?.[1] !== hashes[7]),
        }),
      })
      const parsed = await answer.json()
      const text = Array.isArray(parsed) ? parsed.map(hide) : hide(parsed)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(text))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => liar.once('listening', resolve))
    const address = liar.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    liarUrl = `http://127.0.0.1:${address.port}`
  })
  afterAll(async () => {
    provider.destroy()
    liar.close()
    await anvil.kill()
  })

  const list = async (
    program: string,
    url: string,
    issuerId: number,
    origin = String(block),
    address = String(registry.target),
  ) => {
    const [command, file] = (
      program === 'ethers'
        ? [process.execPath, 'tools/examples/list-documents.mjs']
        : ['bash', 'tools/examples/list-documents.sh']
    ) as [string, string]
    const args = [file, url, address, String(issuerId)]
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(command, [...args, origin], { cwd: root }, (error, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code),
          output: stdout + stderr,
        }),
      )
    })
  }

  for (const program of ['ethers', 'cast']) {
    const isThere = program === 'ethers' || hasCast
    describe.skipIf(!isThere)(
      isThere ? `by ${program}` : `by ${program}: skipped, it is not installed`,
      () => {
        test('lists every document, and proves the list complete', async () => {
          const { code, output } = await list(program, anvil.url, 1)
          expect(code, output).toBe(0)
          expect(output.match(/^document /gm)).toHaveLength(30)
          expect(output).toMatch(/^complete: 30 of 30 documents/m)
          expect(output).not.toContain(id('of the batch'))
        })

        test('lists other issuers separately', async () => {
          const { code, output } = await list(program, anvil.url, 2)
          expect(code, output).toBe(0)
          expect(output).toMatch(/^complete: 4 of 4 documents/m)
        })

        test('a stored list works with a node that has pruned its events', async () => {
          const { output } = await list(program, anvil.url, 1)
          const dir = mkdtempSync(join(tmpdir(), 'kept-'))
          const kept = join(dir, 'list')
          writeFileSync(kept, output)
          const node = await startFaultProxy(anvil.url)
          node.fault = prunedHistory(node, Number(block) + 10)
          const gone = await list(program, node.url, 1)
          const again = await list(program, node.url, 1, kept)
          await node.close()
          expect(gone.code, gone.output).toBe(2)
          expect(gone.output).toContain('a list that was kept')
          expect(again).toEqual({ code: 0, output })
        })

        test('notices a node that leaves out a document', async () => {
          const { code, output } = await list(program, liarUrl, 1)
          expect(code, output).toBe(1)
          expect(output).toMatch(/^INCOMPLETE: 29 of 30 documents/m)
        })

        test('distinguishes an unknown issuer, documents not final yet, and an empty list', async () => {
          const unknown = await list(program, anvil.url, 999)
          expect(unknown.code, unknown.output).toBe(2)
          expect(unknown.output).toMatch(/^no issuer 999 at block \d+\n$/)

          const issuer = Number(
            await registry.getFunction('registerIssuer').staticCall(me, 'Late', ''),
          )
          await send('registerIssuer', me, 'Late', '')
          const late = await list(program, anvil.url, issuer)
          expect(late.code, late.output).toBe(2)
          expect(late.output).toMatch(/^no issuer \d+ at block \d+: it is newer\./)

          await send('setPermissions', issuer, me, 7)
          await anvil.request('anvil_mine', '0x4')
          const empty = await list(program, anvil.url, issuer)
          expect(empty.code, empty.output).toBe(0)
          expect(empty.output).toMatch(/^nothing issued: 0 of 0 documents/m)

          // Issued, but not final yet.
          await send('issueBatch', issuer, id(program), 7, id('a manifest'))
          const newer = await list(program, anvil.url, issuer)
          expect(newer.code, newer.output).toBe(2)
          expect(newer.output).toMatch(/^newer than \d+, so not listed: 0 documents, 1 batches/m)
          expect(newer.output).toMatch(/^nothing issued at block \d+: all is newer\./m)

          // Batches alone are not nothing.
          await anvil.request('anvil_mine', '0x4')
          await send('issue', issuer, id('late'), 0)
          const batch = await list(program, anvil.url, issuer)
          expect(batch.code, batch.output).toBe(0)
          expect(batch.output).toMatch(/^complete: 0 of 0 documents.*\b1\b/m)
          expect(batch.output).toMatch(/^newer than \d+, so not listed: 1 documents, 0 batches/m)
          await anvil.request('anvil_mine', '0x4')
        })

        test('distinguishes a registry that is not final yet from a missing one', async () => {
          const nowhere = await list(program, anvil.url, 1, String(block), me)
          expect(nowhere.code, nowhere.output).toBe(2)
          expect(nowhere.output).not.toContain('newer')
          const { abi, bytecode } = artifact()
          const wallet = registry.runner as NonceManager
          const made = await new ContractFactory(abi, bytecode, wallet).deploy(me, 86_400)
          await made.deploymentTransaction()?.wait()
          const late = await list(program, anvil.url, 1, String(block), String(made.target))
          expect(late.code, late.output).toBe(2)
          expect(late.output).toMatch(/^no contract at the address at block \d+: it is newer\./)
        })
      },
    )
  }
})
