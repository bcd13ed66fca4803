import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  AbiCoder,
  concat,
  id,
  JsonRpcProvider,
  keccak256,
  Transaction,
  toBeHex,
  Wallet,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkBlockNumbers, type Deployment, planOf, proxy } from '#cli/registry/deployment.ts'
import { withoutImmutables } from '#cli/registry/immutables.ts'
import { writeContract } from '#scripts/release/contract.ts'
import { writeSums } from '#scripts/release/sums.ts'
import { docreg } from '../support/docreg.ts'
import { freePort } from '../support/http.ts'

/** Runs the deploy, check and roles commands against Anvil, as an operator would. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const anvil = `${root}node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil`
// Anvil's well-known first accounts.
const deployerKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const nextAdminKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const deployer = new Wallet(deployerKey).address
const nextAdmin = new Wallet(nextAdminKey).address
const managerKey = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'
const manager = new Wallet(managerKey).address
const issuer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const proposedKey = '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a'
const proposed = new Wallet(proposedKey).address
/** A contract that can be the admin, like a multi-signature wallet. */
const wallet = '0x00000000000000000000000000000000000a11e7'
const DAY = 86_400
const hash = `0x${'5e'.repeat(32)}`

/** Gives issuer 1 a name and a URI that are not UTF-8. */
const NOT_UTF8 = concat([
  id('updateIssuer(uint32,string,string)').slice(0, 10),
  AbiCoder.defaultAbiCoder().encode(['uint32', 'bytes', 'bytes'], [1, '0x41ff', '0xc3']),
])

interface Run {
  readonly code: number | null
  readonly output: string
}

class Chain {
  readonly url: string
  readonly folder: string
  readonly #process: ChildProcess

  private constructor(port: number, chainId: number, options: readonly string[]) {
    this.url = `http://127.0.0.1:${port}`
    this.folder = `${root}deployments/${chainId}/`
    const args = ['--port', String(port), '--chain-id', String(chainId), '--silent', ...options]
    this.#process = spawn(anvil, args, { stdio: 'ignore' })
  }

  static async start(chainId: number, ...options: string[]): Promise<Chain> {
    const chain = new Chain(await freePort(), chainId, options)
    chain.forget()
    for (let attempt = 0; attempt < 100; attempt++) {
      if (await fetch(chain.url, { method: 'POST', body: '{}' }).catch(() => undefined)) {
        // Calls are simulated in the newest block, and the registry refuses block 0.
        await chain.rpc('evm_mine')
        return chain
      }
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

  /** @param key The operator's key; absent if the command must work without one. */
  async run(key: string | undefined, script: string, ...args: string[]): Promise<Run> {
    // biome-ignore lint/style/noProcessEnv: as an operator's shell hands it on
    const { PATH = '', HOME = '' } = process.env
    const env = {
      PATH,
      HOME,
      NO_COLOR: '1',
      CUSTOM_RPC_URL: this.url,
      ...(key !== undefined && { DEPLOYER_KEY: key }),
    }
    const command = ['registry', script, ...args, '--network', 'custom']
    const { code, stdout, stderr } = await docreg(command, { cwd: root, env })
    return { code, output: stdout + stderr }
  }

  /** The names of its records. */
  records(): string[] {
    return existsSync(this.folder) ? readdirSync(this.folder).sort() : []
  }

  /** The record of its only registry. */
  get file(): string {
    const [name] = this.records().filter((one) => !one.endsWith('.input.json'))
    return `${this.folder}${name}`
  }

  get inputFile(): string {
    return this.file.replace('.json', '.input.json')
  }

  deployment(): Deployment {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Deployment
  }

  forget(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  stop(): void {
    this.#process.kill()
    this.forget()
  }
}

const plain = ['--admin-delay', String(DAY), '--allow-plain-admin']

describe('an ordinary chain', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_001)
  })
  afterAll(() => chain.stop())
  const roles = (key: string | undefined, ...args: string[]) => chain.run(key, 'roles', ...args)

  test('refuses a plain admin and an impossible delay', async () => {
    expect(await chain.run(deployerKey, 'deploy')).toMatchObject({
      code: 2,
      output: expect.stringContaining('is a plain key, not a contract'),
    })
    // A plain key that delegates (EIP-7702) has code, and is a plain key.
    await chain.rpc('anvil_setCode', nextAdmin, `0xef0100${'11'.repeat(20)}`)
    expect(await chain.run(deployerKey, 'deploy', '--admin', nextAdmin)).toMatchObject({
      code: 2,
      output: expect.stringContaining('is a plain key'),
    })
    await chain.rpc('anvil_setCode', nextAdmin, '0x')
    for (const delay of [DAY - 1, 365 * DAY + 1, 'a day']) {
      const args = ['--allow-plain-admin', '--admin-delay', String(delay)]
      expect(await chain.run(deployerKey, 'deploy', ...args)).toMatchObject({
        code: 64,
        output: expect.stringContaining('--admin-delay must be a number of seconds from'),
      })
    }
    const adopted = await chain.run(deployerKey, 'deploy', ...plain, '--adopt')
    expect(adopted).toMatchObject({
      code: 2,
      output: expect.stringContaining('there is no registry to adopt at'),
    })
    expect(chain.records()).toEqual([])
  })

  test('deploys, checks an existing deployment, and changes roles', async () => {
    const dry = await chain.run(deployerKey, 'deploy', ...plain)
    expect(dry).toMatchObject({
      code: 0,
      output: expect.stringMatching(/cost +at most 0\.\d+ at .* gwei/),
    })
    expect(dry.output).toContain('Dry run: nothing was sent.')
    expect(chain.records()).toEqual([])
    expect(await chain.rpc('eth_blockNumber')).toBe('0x1')

    const planned = await chain.run(deployerKey, 'deploy', ...plain, '--json')
    expect(JSON.parse(/^{[\s\S]*?^}/m.exec(planned.output)?.[0] ?? '')).toMatchObject({
      chainId: 7_700_001,
      state: 'planned',
      cost: expect.stringMatching(/^\d+$/),
    })

    const sent = await chain.run(deployerKey, 'deploy', ...plain, '--send')
    expect(sent).toMatchObject({
      code: 0,
      output: expect.stringContaining('Deployed in block 2'),
    })
    expect(statSync(chain.file).size).toBeLessThan(1024)
    const deployment = chain.deployment()
    expect(dry.output).toContain(`registry     ${deployment.address}`)
    expect(dry.output).toContain(`forwarder    ${deployment.forwarder}`)
    expect(deployment).toMatchObject({
      chainId: 7_700_001,
      block: 2,
      admin: deployer,
      adminDelay: DAY,
      forwarderCodeHash: keccak256(
        (await chain.rpc('eth_getCode', deployment.forwarder, 'latest')) as string,
      ),
    })
    expect(deployment.compiler).toEqual({
      solc: '0.8.37',
      evmVersion: 'cancun',
      viaIR: true,
      optimizerRuns: expect.any(Number),
    })
    expect(deployment.commit).toMatch(/^[0-9a-f]{40}(, changed)?$/)

    // Adopting recreates the same files, after a loss or another's deployment.
    const input = readFileSync(chain.inputFile, 'utf8')
    await chain.rpc('anvil_mine', '0x10')
    chain.forget()
    const again = await chain.run(deployerKey, 'deploy', ...plain, '--send')
    expect(again).toMatchObject({
      code: 0,
      output: expect.stringContaining('The registry is already deployed, but there is no'),
    })
    expect(chain.records()).toEqual([])
    for (const block of [[], ['--block', '2']]) {
      const args = [...plain, '--adopt', ...block]
      expect(await chain.run(deployerKey, 'deploy', ...args)).toMatchObject({
        code: 0,
        output: expect.stringContaining('Adopted: created in block 2'),
      })
      expect(chain.deployment()).toEqual(deployment)
      expect(readFileSync(chain.inputFile, 'utf8')).toBe(input)
    }
    expect(
      await chain.run(deployerKey, 'deploy', ...plain, '--adopt', '--block', '3'),
    ).toMatchObject({
      code: 2,
      output: expect.stringContaining('was not created in block 3'),
    })

    // The admin: each call first without a key, then sent.
    expect(await roles(undefined, 'no-such-action')).toMatchObject({ code: 64 })
    const register = ['register-issuer', manager, 'A university', 'https://university.example']
    const printed = await roles(undefined, ...register)
    expect(printed.code).toBe(0)
    expect(printed.output).toContain(`from   ${deployer} (admin)`)
    expect(printed.output).toMatch(/data {3}0x[0-9a-f]+\n/)
    expect(printed.output).toContain('Nothing was sent')
    expect(await roles(managerKey, ...register, '--send')).toMatchObject({
      code: 1,
      output: expect.stringContaining('AccessControlUnauthorizedAccount'),
    })
    const registered = await roles(deployerKey, ...register, '--send')
    expect(registered).toMatchObject({
      code: 0,
      output: expect.stringContaining('Done in block'),
    })
    // Events of the registry, but not that of its creation.
    const [, later = ''] = /Done in block (\d+)/.exec(registered.output) ?? []
    const adoptLater = [...plain, '--adopt', '--block', later]
    expect(await chain.run(deployerKey, 'deploy', ...adoptLater)).toMatchObject({
      code: 2,
      output: expect.stringContaining(`was not created in block ${later}`),
    })
    expect(chain.deployment()).toEqual(deployment)

    // The issuer's manager.
    const add = ['add-account', '1', issuer, 'issue,revoke']
    expect(await roles(undefined, ...add)).toMatchObject({
      code: 64,
      output: expect.stringContaining('--as <address> is required'),
    })
    expect(await roles(undefined, ...add, '--as', deployer)).toMatchObject({
      code: 1,
      output: expect.stringContaining(`MissingPermissions(1, ${deployer}, 4)`),
    })
    expect(await roles(undefined, ...add, '--as', manager)).toMatchObject({
      code: 0,
      output: expect.stringContaining('It would succeed.'),
    })
    expect(await roles(managerKey, ...add, '--as', deployer, '--send')).toMatchObject({
      code: 2,
      output: expect.stringContaining('but the key belongs to'),
    })
    expect(await roles(managerKey, ...add, '--send')).toMatchObject({ code: 0 })
    expect(await roles(managerKey, 'set-permissions', '1', issuer, 'write')).toMatchObject({
      code: 64,
      output: expect.stringContaining('issue, revoke, manage, delegate'),
    })
    for (const args of [
      ['set-permissions', '1', issuer, 'issue'],
      ['distrust-account', '1', issuer, '1'],
    ])
      expect(await roles(managerKey, ...args, '--send')).toMatchObject({
        code: 0,
      })
    expect(await roles(undefined, 'release', '1', hash, '--as', manager)).toMatchObject({
      code: 1,
      output: expect.stringContaining('MissingPermissions'),
    })

    // A lost key: the admin proposes, the account accepts after the delay.
    for (const args of [
      ['close-issuer', '1'],
      ['reopen-issuer', '1'],
      ['update-issuer', '1', 'The university', 'https://university.example'],
      ['propose-account', '1', proposed],
      ['begin-admin-transfer', nextAdmin],
    ])
      expect(await roles(deployerKey, ...args, '--send')).toMatchObject({
        code: 0,
      })
    expect(await roles(undefined, 'veto-proposal', '1', '--as', manager)).toMatchObject({ code: 0 })
    expect(await roles(undefined, 'withdraw-proposal', '1')).toMatchObject({
      code: 0,
    })
    expect(await roles(undefined, 'accept-proposal', '1')).toMatchObject({
      code: 1,
      output: expect.stringContaining('OutsideAcceptWindow'),
    })
    expect(await roles(nextAdminKey, 'accept-admin-transfer', '--send')).toMatchObject({
      code: 1,
      output: expect.stringContaining('AccessControlEnforcedDefaultAdminDelay'),
    })

    const check = await chain.run(deployerKey, 'check')
    expect(check.code).toBe(0)
    expect(check.output).not.toContain('DIFFERENT')
    for (const line of [
      `admin     ${deployer}, changes after ${DAY} s`,
      `pending   ${nextAdmin}`,
      'issuer    1 "The university" https://university.example',
      `0 ${manager} manage`,
      `1 ${issuer} distrusted from block 1`,
      `proposed ${proposed}, may accept from`,
    ])
      expect(check.output).toContain(line)

    await chain.rpc('evm_increaseTime', DAY + 1)
    await chain.rpc('evm_mine')
    expect(await roles(proposedKey, 'accept-proposal', '1', '--send')).toMatchObject({ code: 0 })
    expect(await roles(undefined, 'accept-admin-transfer')).toMatchObject({
      code: 0,
      output: expect.stringContaining(`from   ${nextAdmin} (next admin)`),
    })
    expect(await roles(nextAdminKey, 'accept-admin-transfer', '--send')).toMatchObject({ code: 0 })
    const text = { from: nextAdmin, to: chain.deployment().address, data: NOT_UTF8 }
    await chain.rpc('eth_sendTransaction', text)
    const after = await chain.run(deployerKey, 'check')
    expect(after.code).toBe(0)
    expect(after.output).toContain(`admin     ${nextAdmin}`)
    expect(after.output).toContain(`2 ${proposed} manage`)

    // The same from the files of a release, which a later commit's build may differ from.
    const release = mkdtempSync(join(tmpdir(), 'release-'))
    await writeContract(release)
    writeSums(release)
    const ofRelease = ['--release', release]
    const same = await chain.run(undefined, 'check', ...ofRelease)
    expect(same).toMatchObject({ code: 0, output: expect.stringContaining('code of the release') })
    const code = join(release, 'DocumentRegistry.json')
    const { bytecode, ...rest } = JSON.parse(readFileSync(code, 'utf8'))
    writeFileSync(code, JSON.stringify({ ...rest, bytecode: `${bytecode}00` }))
    expect(await chain.run(undefined, 'check', ...ofRelease)).toMatchObject({
      code: 2,
      output: expect.stringContaining('DocumentRegistry.json does not match SHA256SUMS'),
    })
    writeSums(release)
    expect(await chain.run(undefined, 'check', ...ofRelease)).toMatchObject({
      code: 1,
      output: expect.stringContaining('DIFFERENT  address that follows from the release'),
    })
    rmSync(release, { recursive: true })
    expect(await chain.run(undefined, 'check', ...ofRelease)).toMatchObject({
      code: 2,
      output: expect.stringContaining('SHA256SUMS cannot be read'),
    })

    // Detects other code at either address, and another input.
    writeFileSync(chain.inputFile, '{}')
    await chain.rpc('anvil_setCode', deployment.forwarder, '0x6001')
    const forwarder = await chain.run(deployerKey, 'check')
    expect(forwarder.code).toBe(1)
    for (const what of ["forwarder's code of", "forwarder's code hash"])
      expect(forwarder.output).toContain(`DIFFERENT  ${what}`)
    expect(forwarder.output).toContain('DIFFERENT  its compiler input')
    await chain.rpc('anvil_setCode', deployment.address, '0x6001')
    const told = await chain.run(deployerKey, 'check', '--json')
    expect(JSON.parse(told.output)).toMatchObject({ same: false, registry: deployment.address })
    const changed = await chain.run(deployerKey, 'check')
    expect(changed).toMatchObject({
      code: 1,
      output: expect.stringContaining('DIFFERENT  code of this commit'),
    })
  })
})

describe('a wallet as the admin', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_004)
    await chain.rpc('anvil_setCode', wallet, '0x00')
    await chain.rpc('anvil_setBalance', wallet, toBeHex(10n ** 18n))
    await chain.rpc('anvil_impersonateAccount', wallet)
  })
  afterAll(() => chain.stop())

  test('carries out the printed call', async () => {
    const deploy = ['--admin', wallet, '--send']
    expect(await chain.run(deployerKey, 'deploy', ...deploy)).toMatchObject({
      code: 0,
    })
    const args = ['register-issuer', manager, 'A wallet’s', 'https://w.example']
    const { output } = await chain.run(undefined, 'roles', ...args)
    const line = (name: string): string =>
      output.match(new RegExp(`^${name} +(\\S+)`, 'm'))?.[1] ?? ''
    await chain.rpc('eth_sendTransaction', {
      from: line('from'),
      to: line('to'),
      data: line('data'),
    })
    expect(line('from').toLowerCase()).toBe(wallet)
    expect((await chain.run(deployerKey, 'check')).output).toContain(
      'issuer    1 "A wallet’s" https://w.example',
    )
  })

  test('the archived input compiles to the deployed code', async () => {
    const solc = createRequire(import.meta.url)('solc')
    const input = JSON.parse(readFileSync(chain.inputFile, 'utf8'))
    const { contracts } = JSON.parse(solc.compile(JSON.stringify(input)))
    const { evm } = contracts['project/contracts/DocumentRegistry.sol'].DocumentRegistry
    const { address } = chain.deployment()
    const code = (await chain.rpc('eth_getCode', address, 'latest')) as string
    const { immutableReferences, object } = evm.deployedBytecode
    expect(withoutImmutables(code, immutableReferences)).toBe(`0x${object}`)
    expect(planOf(`0x${evm.bytecode.object}`, wallet, 2 * DAY).address).toBe(address)
  })
})

describe('two registries on a chain', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_005)
  })
  afterAll(() => chain.stop())

  test('records each registry, and asks which one is meant', async () => {
    await chain.run(deployerKey, 'deploy', ...plain, '--send')
    const first = chain.deployment()
    const longer = ['--admin-delay', String(2 * DAY), '--allow-plain-admin']
    expect(await chain.run(deployerKey, 'deploy', ...longer, '--send')).toMatchObject({ code: 0 })
    const records = chain.records().filter((name) => !name.endsWith('.input.json'))
    expect(chain.records()).toHaveLength(4)
    const addresses = records.map((name) => name.replace('.json', ''))
    const [second = ''] = addresses.filter((one) => one !== first.address.toLowerCase())
    const recorded = readFileSync(`${chain.folder}${first.address.toLowerCase()}.json`, 'utf8')
    expect(JSON.parse(recorded)).toEqual(first)

    const register = ['register-issuer', manager, 'A university', '']
    for (const [script, args] of [
      ['roles', register],
      ['check', []],
    ] as const) {
      const { code, output } = await chain.run(undefined, script, ...args)
      expect(code).toBe(2)
      for (const address of addresses) expect(output).toContain(address)
      expect(output).toContain('--registry')
    }
    const check = await chain.run(undefined, 'check', '--registry', second)
    expect(check).toMatchObject({ code: 0, output: expect.stringContaining(`${2 * DAY} s`) })
    const named = ['--registry', first.address]
    expect(await chain.run(undefined, 'roles', ...register, ...named)).toMatchObject({
      code: 0,
      output: expect.stringContaining(`to     ${first.address}`),
    })
  })
})

describe('a chain without the deployment proxy', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await Chain.start(7_700_002, '--disable-default-create2-deployer')
  })
  afterAll(() => chain.stop())

  test('creates the proxy first', async () => {
    expect(Transaction.from(proxy.raw).from).toBe(proxy.sender)
    const dry = await chain.run(deployerKey, 'deploy', ...plain)
    expect(dry.output).toContain('proxy        missing here')
    const sent = await chain.run(deployerKey, 'deploy', ...plain, '--send')
    expect(sent).toMatchObject({
      code: 0,
      output: expect.stringContaining('Deployed in block 4'),
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

  test('refuses an answer other than that of ArbSys', async () => {
    await chain.rpc('anvil_setCode', '0x0000000000000000000000000000000000000064', '0x6001')
    const { code, output } = await chain.run(deployerKey, 'deploy', ...plain)
    expect(code).not.toBe(0)
    expect(output).toContain('the deployment would fail: UnknownBlockNumbers()')
    expect(chain.records()).toEqual([])
  })

  test('refuses a chain whose NUMBER counts other blocks', async () => {
    const answers = (number: number, arbSys: string) => ({
      getBlockNumber: async () => 1_000,
      getCode: async () => arbSys,
      call: async () => toBeHex(number, 32),
    })
    for (const number of [1_000, 1_001]) await checkBlockNumbers(answers(number, '0x'))
    for (const number of [999, 1_002]) {
      await expect(checkBlockNumbers(answers(number, '0x'))).rejects.toThrow('block.number is')
    }
    await checkBlockNumbers(answers(5, '0xfe'))
  })
})
