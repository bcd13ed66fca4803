import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptKeystoreJson, Transaction, Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { UnsignedTransaction } from '#chain/signer.ts'
import { toHex } from '#document/hex.ts'
import { openSigner } from '#parts/signer.ts'
import { readConfig } from '#settings/config.ts'
import type { SignerSetting } from '#settings/signer.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { freePort } from '../../support/http.ts'
import { ADA, randomKey, type Stack, startStack } from '../../support/stack.ts'
import { type SignerServer, startSignerServer } from './signer-server.ts'

const TIMEOUT = 1_000
const key = randomKey()
const { address } = new Wallet(key)
const account = toHex(Buffer.from(address.slice(2), 'hex'))

const TRANSACTION: UnsignedTransaction = {
  type: 2,
  chainId: 31_337,
  nonce: 7,
  to: `0x${'5f'.repeat(20)}`,
  data: '0x1234',
  gasLimit: 90_000n,
  maxFeePerGas: 2_000_000_007n,
  maxPriorityFeePerGas: 7n,
}
const expected = () => new Wallet(key).signTransaction(TRANSACTION)

describe('encrypted keystore', () => {
  let folder: string
  let path: string
  const passwordFile = () => join(folder, 'password')
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
    path = join(folder, 'keystore.json')
    const options = { scrypt: { N: 1024 } }
    const account = { address, privateKey: key }
    writeFileSync(path, await encryptKeystoreJson(account, 'secret', options))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const open = (setting: Partial<SignerSetting> = {}) =>
    openSigner(
      {
        kind: 'keystore',
        path,
        passwordFile: passwordFile(),
        ...setting,
      } as SignerSetting,
      TIMEOUT,
    )

  test.each(['secret', 'secret\n', 'secret\r\nnot this line\n'])(
    'signs with password file %j',
    async (text) => {
      writeFileSync(passwordFile(), text)
      const signer = await open()
      expect(signer.address).toBe(address)
      expect(await signer.sign(TRANSACTION)).toBe(await expected())
    },
  )

  test.each<[string, Partial<SignerSetting>, string]>([
    ['another password', {}, 'ISSUER_KEYSTORE_PASSWORD_FILE'],
    ['no such keystore', { path: '/nowhere' }, 'ISSUER_KEYSTORE'],
    ['not a keystore', { path: import.meta.filename }, 'ISSUER_KEYSTORE'],
    ['no password file', { passwordFile: '/nowhere' }, 'ISSUER_KEYSTORE_PASSWORD_FILE'],
  ])('%s', async (_, setting, name) => {
    writeFileSync(passwordFile(), 'a guess at it')
    const error = await open(setting).catch((error) => error)
    expect(error.name).toBe('ConfigError')
    expect(error.message).toContain(name)
    expect(error.message).not.toContain('a guess at it')
  })
})

describe.each(['web3signer', 'geth', 'clef'] as const)(
  'a remote signer that speaks as %s',
  (dialect) => {
    let server: SignerServer
    beforeAll(async () => {
      server = await startSignerServer(key, dialect)
    })
    afterAll(() => server.close())
    const open = () => openSigner({ kind: 'remote', url: server.url, address: account }, TIMEOUT)

    test('signs exactly what was requested', async () => {
      const signer = await open()
      await signer.assertReady()
      expect(signer.address).toBe(address)
      expect(await signer.sign(TRANSACTION)).toBe(await expected())
    })
  },
)

describe('a lying remote signer', () => {
  let server: SignerServer
  let honest: Pick<SignerServer, 'change' | 'answer'>
  beforeAll(async () => {
    server = await startSignerServer(key, 'web3signer')
    honest = { change: server.change, answer: server.answer }
  })
  afterEach(() => {
    Object.assign(server, honest)
  })
  afterAll(() => server.close())
  const open = (of = account) =>
    openSigner({ kind: 'remote', url: server.url, address: of }, TIMEOUT)
  const sign = async () => (await open()).sign(TRANSACTION).catch((error) => error.code)

  test.each([
    ['nonce', { nonce: 8 }],
    ['chain', { chainId: 1 }],
    ['contract', { to: `0x${'60'.repeat(20)}` }],
    ['data', { data: '0x1235' }],
    ['value', { value: 1n }],
    ['gas limit', { gasLimit: 90_001n }],
    ['fee', { maxFeePerGas: 2_000_000_008n }],
    ['tip', { maxPriorityFeePerGas: 8n }],
    ['access list', { accessList: [{ address: `0x${'60'.repeat(20)}`, storageKeys: [] }] }],
    ['type', { type: 1, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 7n }],
  ])('refuses another %s', async (_, change) => {
    server.change = (transaction) => ({ ...transaction, ...change })
    expect(await sign()).toBe('signer_unavailable')
  })

  test.each<[string, (raw: string) => unknown]>([
    ['another account', () => new Wallet(randomKey()).signTransaction(TRANSACTION)],
    ['no signature', () => Transaction.from(TRANSACTION).unsignedSerialized],
    ['more behind it', (raw) => `${raw}00`],
    ['cut off', (raw) => raw.slice(0, -2)],
    ['null', () => null],
    ['garbage', () => '0x1234'],
    ['an object', () => ({ signed: true })],
    ['no answer', () => undefined],
  ])('%s', async (_, answer) => {
    server.answer = answer
    expect(await sign()).toBe('signer_unavailable')
  })

  test('reports that it has no such key', async () => {
    const signer = await open(toHex(Buffer.from('60'.repeat(20), 'hex')))
    await expect(signer.assertReady()).rejects.toMatchObject({
      code: 'signer_unavailable',
    })
  })

  test('reports that the signer does not answer', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const signer = await openSigner({ kind: 'remote', url, address: account }, TIMEOUT)
    const code = { code: 'signer_unavailable' }
    await expect(signer.assertReady()).rejects.toMatchObject(code)
    await expect(signer.sign(TRANSACTION)).rejects.toMatchObject(code)
  })
})

describe('a real Anvil with an unlocked account', () => {
  let anvil: ChildProcess
  let url: string
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    anvil = spawn('anvil', ['--port', `${port}`, '--accounts', '1', '--silent'], {
      detached: true,
      stdio: 'ignore',
    })
  })
  // Its group: the command is a wrapper around the binary.
  afterAll(() => process.kill(-(anvil.pid ?? 0)))
  const accounts = () =>
    createFetchProvider(url)
      .request({ method: 'eth_accounts' })
      .catch(() => [])

  test('signs as requested', async () => {
    await expect.poll(accounts).toHaveLength(1)
    const [account] = (await accounts()) as [`0x${string}`]
    const signer = await openSigner({ kind: 'remote', url, address: account }, TIMEOUT)
    await signer.assertReady()
    const raw = await signer.sign(TRANSACTION)
    expect(Transaction.from(raw).from).toBe(signer.address)
  })
})

describe('a gateway without a key', () => {
  let stack: Stack
  let server: SignerServer
  beforeAll(async () => {
    stack = await startStack({ WAIT_SECONDS: '2' }, async (issuerKey) => {
      server = await startSignerServer(issuerKey, 'web3signer')
      const { address } = new Wallet(issuerKey)
      const account = toHex(Buffer.from(address.slice(2), 'hex'))
      return openSigner({ kind: 'remote', url: server.url, address: account }, TIMEOUT)
    })
  })
  afterAll(async () => {
    await stack.stop()
    await server.close()
  })

  test('issues and verifies', async () => {
    const { status, body } = await stack.issue(ADA)
    expect(status).toBe(201)
    const verdict = await stack.verify(body.data.publicId)
    expect(verdict.body.data.status).toBe('valid')
  })

  test('issues an accepted document once the signer works again, and answers 503 meanwhile', async () => {
    const { answer } = server
    server.answer = () => undefined
    const accepted = await stack.issue(ADA)
    expect(accepted.status).toBe(202)
    const refused = await stack.issue(ADA)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBeTruthy()
    expect(refused.body.error.code).toBe('signer_unavailable')
    server.answer = answer
    const { publicId } = accepted.body.data
    await expect.poll(async () => (await stack.verify(publicId)).body.data.status).toBe('valid')
    await expect.poll(async () => (await stack.issue(ADA)).status).toBe(201)
  })
})

describe('settings', () => {
  const signer = (env: Record<string, string>) => readConfig(env).signer
  const ISSUER_ADDRESS = account

  test('accepts each of the three kinds', () => {
    expect(signer({})).toBeUndefined()
    expect(signer({ ISSUER_KEY: key })).toEqual({ kind: 'key', key })
    expect(signer({ ISSUER_KEYSTORE: 'a', ISSUER_KEYSTORE_PASSWORD_FILE: 'b' })).toEqual({
      kind: 'keystore',
      path: 'a',
      passwordFile: 'b',
    })
    expect(signer({ ISSUER_SIGNER_URL: 'http://signer:9000', ISSUER_ADDRESS })).toEqual({
      kind: 'remote',
      url: 'http://signer:9000',
      address: account,
    })
  })

  test('accepts several accounts of each kind with a shared database', () => {
    const others = (env: Record<string, string>) => {
      const { signer, otherSigners } = readConfig({ DATABASE_URL: 'postgres://host/a', ...env })
      return [signer, ...otherSigners]
    }
    const other = randomKey()
    expect(others({ ISSUER_KEY: `${key}, ${other}` })).toEqual([
      ...[key, other].map((one) => ({ kind: 'key', key: one })),
    ])
    const keystores = (passwords: string) =>
      others({ ISSUER_KEYSTORE: 'a, b', ISSUER_KEYSTORE_PASSWORD_FILE: passwords })
    expect(keystores('p')).toEqual([
      ...['a', 'b'].map((path) => ({ kind: 'keystore', path, passwordFile: 'p' })),
    ])
    expect(keystores('p,q')).toMatchObject([{ passwordFile: 'p' }, { passwordFile: 'q' }])
    const url = 'http://signer:9000'
    const [one, two] = [account, `0x${'2'.repeat(40)}`]
    expect(others({ ISSUER_SIGNER_URL: url, ISSUER_ADDRESS: `${one},${two}` })).toEqual([
      ...[one, two].map((address) => ({ kind: 'remote', url, address })),
    ])
  })

  test.each([
    [{ ISSUER_KEY: `${key},0x${'2'.repeat(64)}` }],
    [{ ISSUER_KEYSTORE: 'a,b', ISSUER_KEYSTORE_PASSWORD_FILE: 'p' }],
    [{ ISSUER_SIGNER_URL: 'http://signer:9000', ISSUER_ADDRESS: `${account},0x${'2'.repeat(40)}` }],
  ])('refuses several accounts without a shared database: %o', (env) => {
    expect(() => readConfig(env)).toThrow(
      /ISSUER_\w+ names several accounts, which requires DATABASE_URL/,
    )
  })

  test('refuses passwords that do not match the keystores', () => {
    const env = { DATABASE_URL: 'postgres://host/a', ISSUER_KEYSTORE: 'a,b,c' }
    const read = (passwords: string) =>
      readConfig({ ...env, ISSUER_KEYSTORE_PASSWORD_FILE: passwords })
    expect(() => read('p,q')).toThrow('one file, or one for each')
    expect(() => read('p,,q')).toThrow('empty path')
  })

  test.each([
    [{ ISSUER_KEYSTORE: 'a' }],
    [{ ISSUER_KEYSTORE_PASSWORD_FILE: 'b' }],
    [{ ISSUER_SIGNER_URL: 'http://signer:9000' }],
    [{ ISSUER_ADDRESS }],
    [
      {
        ISSUER_KEY: key,
        ISSUER_SIGNER_URL: 'http://signer:9000',
        ISSUER_ADDRESS,
      },
    ],
  ])('refuses %o', (env) => {
    expect(() => readConfig(env)).toThrow(/ISSUER_/)
    expect(() => readConfig(env)).not.toThrow(key)
  })
})
