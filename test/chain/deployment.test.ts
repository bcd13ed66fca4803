import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { JsonRpcProvider, Transaction, toBeHex, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  checkBlockNumbers,
  type Deployment,
  proxy,
} from '../../scripts/deployment.ts'

/** The deploy, check and roles commands, run as an operator runs them, against Anvil. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const anvil = `${root}node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil`
// Anvil's well-known first accounts.
const deployerKey =
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const nextAdminKey =
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const deployer = new Wallet(deployerKey).address
const nextAdmin = new Wallet(nextAdminKey).address
const issuer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const revoker = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

interface Run {
  readonly code: number
  readonly output: string
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

class Chain {
  readonly url: string
  readonly file: string
  readonly #process: ChildProcess

  private constructor(
    port: number,
    chainId: number,
    options: readonly string[],
  ) {
    this.url = `http://127.0.0.1:${port}`
    this.file = `${root}deployments/${chainId}.json`
    const args = [
      '--port',
      String(port),
      '--chain-id',
      String(chainId),
      '--silent',
      ...options,
    ]
    this.#process = spawn(anvil, args, { stdio: 'ignore' })
  }

  static async start(chainId: number, ...options: string[]): Promise<Chain> {
    const chain = new Chain(await freePort(), chainId, options)
    rmSync(chain.file, { force: true })
    for (let attempt = 0; attempt < 100; attempt++) {
      if (
        await fetch(chain.url, { method: 'POST', body: '{}' }).catch(
          () => undefined,
        )
      )
        return chain
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('Anvil did not start')
  }

  async rpc(method: string, ...params: unknown[]): Promise<unknown> {
    const provider = new JsonRpcProvider(this.url)
    try {
      return await provider.send(method, params)
    } finally {
      provider.destroy()
    }
  }

  run(key: string, script: string, ...args: string[]): Promise<Run> {
    const env = {
      ...process.env,
      CUSTOM_RPC_URL: this.url,
      DEPLOYER_KEY: key,
      NO_COLOR: '1',
    }
    return new Promise((resolve) => {
      const command = [`scripts/${script}.ts`, ...args, '--network', 'custom']
      execFile(
        process.execPath,
        command,
        { cwd: root, env },
        (error, stdout, stderr) => {
          resolve({
            code: error === null ? 0 : Number(error.code),
            output: stdout + stderr,
          })
        },
      )
    })
  }

  deployment(): Deployment {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Deployment
  }

  stop(): void {
    this.#process.kill()
    rmSync(this.file, { force: true })
  }
}

describe('an ordinary chain', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_001)
  })
  afterAll(() => chain.stop())

  test('behavior: deploys, checks and changes roles', {
    timeout: 180_000,
  }, async () => {
    const dry = await chain.run(deployerKey, 'deploy', '--admin-delay', '60')
    expect(dry).toMatchObject({
      code: 0,
      output: expect.stringMatching(/cost +at most 0\.\d+ at .* gwei/),
    })
    expect(dry.output).toContain('Dry run: nothing was sent.')
    expect(existsSync(chain.file)).toBe(false)
    expect(await chain.rpc('eth_blockNumber')).toBe('0x0')

    const sent = await chain.run(
      deployerKey,
      'deploy',
      '--admin-delay',
      '60',
      '--send',
    )
    expect(sent).toMatchObject({
      code: 0,
      output: expect.stringContaining('Deployed in block 1'),
    })
    expect(statSync(chain.file).size).toBeLessThan(1024)
    const deployment = chain.deployment()
    expect(dry.output).toContain(deployment.address)
    expect(deployment).toMatchObject({
      chainId: 7_700_001,
      block: 1,
      admin: deployer,
      adminDelay: 60,
    })
    expect(deployment.compiler).toEqual({
      solc: '0.8.37',
      evmVersion: 'cancun',
      viaIR: true,
      optimizerRuns: expect.any(Number),
    })
    expect(deployment.commit).toMatch(/^[0-9a-f]{40}(, changed)?$/)

    const again = await chain.run(
      deployerKey,
      'deploy',
      '--admin-delay',
      '60',
      '--send',
    )
    expect(again).toMatchObject({
      code: 0,
      output: expect.stringContaining('It is there already.'),
    })

    // Roles: each dry first, then for good.
    const roles = (key: string, ...args: string[]) =>
      chain.run(key, 'roles', ...args)
    expect(await roles(deployerKey, 'no-such-action')).toMatchObject({
      code: 2,
    })
    const register = [
      'register-issuer',
      issuer,
      'A university',
      'https://university.example',
    ]
    expect(await roles(deployerKey, ...register)).toMatchObject({
      code: 0,
      output: expect.stringContaining('Dry run'),
    })
    expect(await roles(nextAdminKey, ...register, '--send')).toMatchObject({
      code: 1,
      output: expect.stringContaining('AccessControlUnauthorizedAccount'),
    })
    expect(await roles(deployerKey, ...register, '--send')).toMatchObject({
      code: 0,
    })
    expect(
      await roles(deployerKey, 'grant-revoker', revoker, '--send'),
    ).toMatchObject({ code: 0 })
    expect(
      await roles(deployerKey, 'retire-account', issuer, '--send'),
    ).toMatchObject({ code: 0 })
    expect(
      await roles(deployerKey, 'begin-admin-transfer', nextAdmin, '--send'),
    ).toMatchObject({ code: 0 })
    expect(
      await roles(nextAdminKey, 'accept-admin-transfer', '--send'),
    ).toMatchObject({
      code: 1,
      output: expect.stringContaining('AccessControlEnforcedDefaultAdminDelay'),
    })

    const check = await chain.run(deployerKey, 'check-deployment')
    expect(check.code).toBe(0)
    expect(check.output).not.toContain('DIFFERENT')
    expect(check.output).toContain(`admin    ${deployer}, changes after 60 s`)
    expect(check.output).toContain(`pending  ${nextAdmin}`)
    expect(check.output).toContain(`REVOKER  ${revoker}`)
    expect(check.output).toContain(
      'issuer   1 "A university" https://university.example',
    )
    expect(check.output).toContain(`0 ${issuer} retired`)

    await chain.rpc('evm_increaseTime', 61)
    await chain.rpc('evm_mine')
    expect(
      await roles(nextAdminKey, 'accept-admin-transfer', '--send'),
    ).toMatchObject({ code: 0 })
    expect((await chain.run(deployerKey, 'check-deployment')).output).toContain(
      `admin    ${nextAdmin}`,
    )

    // Other code at the address is noticed.
    await chain.rpc('anvil_setCode', deployment.address, '0x6001')
    const changed = await chain.run(deployerKey, 'check-deployment')
    expect(changed).toMatchObject({
      code: 1,
      output: expect.stringContaining('DIFFERENT  code as this commit'),
    })
  })
})

describe('a chain without the deployment proxy', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_002, '--disable-default-create2-deployer')
  })
  afterAll(() => chain.stop())

  test('behavior: creates the proxy first', { timeout: 60_000 }, async () => {
    expect(Transaction.from(proxy.raw).from).toBe(proxy.sender)
    const dry = await chain.run(deployerKey, 'deploy')
    expect(dry.output).toContain('proxy        missing here')
    const sent = await chain.run(deployerKey, 'deploy', '--send')
    expect(sent).toMatchObject({
      code: 0,
      output: expect.stringContaining('Deployed in block 3'),
    })
    expect(dry.output).toContain(chain.deployment().address)
  })
})

describe('a chain whose block.number is not the one of its logs', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_003)
  })
  afterAll(() => chain.stop())

  test('behavior: refuses what answers like no ArbSys', {
    timeout: 60_000,
  }, async () => {
    await chain.rpc(
      'anvil_setCode',
      '0x0000000000000000000000000000000000000064',
      '0x6001',
    )
    const { code, output } = await chain.run(deployerKey, 'deploy')
    expect(code).not.toBe(0)
    expect(output).toContain('the deployment would fail: UnknownBlockNumbers()')
    expect(existsSync(chain.file)).toBe(false)
  })

  test('error: refuses where NUMBER is another count', async () => {
    const answers = (number: number, arbSys: string) => ({
      getBlockNumber: async () => 1_000,
      getCode: async () => arbSys,
      call: async () => toBeHex(number, 32),
    })
    for (const number of [1_000, 1_001])
      await checkBlockNumbers(answers(number, '0x'))
    for (const number of [999, 1_002]) {
      await expect(checkBlockNumbers(answers(number, '0x'))).rejects.toThrow(
        'block.number is',
      )
    }
    await checkBlockNumbers(answers(5, '0xfe'))
  })
})
