/**
 * Shared by the deploy, check and roles commands: the address of the registry, and the files in
 * `deployments/`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  AbiCoder,
  concat,
  dataLength,
  dataSlice,
  getAddress,
  getCreate2Address,
  getCreateAddress,
  type Interface,
  id,
  isAddress,
  keccak256,
  type Provider,
  toBeHex,
} from 'ethers'
import { DEPLOYMENTS, onlyKnownRegistry } from '../deployments.ts'
import { InputError, UsageError } from '../errors.ts'
import { sentenceOf } from '../mendable.ts'

/**
 * The deterministic deployment proxy, at the same address on nearly every chain
 * (github.com/Arachnid).
 */
export const proxy = {
  address: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  /** The sender of {@link raw}; nobody has its key. */
  sender: '0x3fAB184622Dc19b6109349B94811493BF2a45362',
  /** The maximum cost of {@link raw}: 100,000 gas at 100 gwei. */
  funds: 10n ** 16n,
  /**
   * Creates the proxy. The transaction is not bound to a chain, so some RPC providers refuse it.
   */
  raw: '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222',
} as const

export const salt = id('document-registry')

/** `deployments/<chainId>/<address>.json` */
export interface Deployment {
  readonly chainId: number
  readonly address: string
  readonly block: number
  readonly transaction: string
  readonly codeHash: string
  readonly forwarder: string
  readonly forwarderCodeHash: string
  readonly admin: string
  readonly adminDelay: number
  readonly compiler: {
    readonly solc: string
    readonly evmVersion: string
    readonly viaIR: boolean
    readonly optimizerRuns: number
  }
  readonly commit: string
}

/** @returns The path of a registry's record for people; its compiler input is next to it. */
export const recordOf = (chainId: bigint, address: string): string =>
  `deployments/${chainId}/${address.toLowerCase()}.json`

const fileOf = (chainId: bigint, address: string): URL =>
  new URL(`${chainId}/${address.toLowerCase()}.json`, DEPLOYMENTS)

/** @returns The file with the compiler's standard JSON input for the deployed code. */
const inputFileOf = (chainId: bigint, address: string): URL =>
  new URL(`${chainId}/${address.toLowerCase()}.input.json`, DEPLOYMENTS)

const readJson = (file: URL): unknown =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined

/** @returns The record of a registry; `undefined` = there is none. */
export function readDeployment(chainId: bigint, address: string): Deployment | undefined {
  return readJson(fileOf(chainId, address)) as Deployment | undefined
}

export function readInput(chainId: bigint, address: string): unknown {
  return readJson(inputFileOf(chainId, address))
}

/** @param what The name of the option or argument. @throws {UsageError} */
export function readAddress(what: string, text: string): string {
  if (isAddress(text)) return getAddress(text)
  throw new UsageError(
    `${what} must be an address: 0x followed by 40 hexadecimal digits, in lower case or with a valid checksum`,
  )
}

/**
 * @param given The value of `--registry`; if absent, the only recorded registry of the chain is
 * used.
 * @returns The address of a registry.
 */
export function addressOf(chainId: bigint, given: string | undefined): string {
  if (given !== undefined) return readAddress('--registry', given)
  const known = onlyKnownRegistry(Number(chainId))
  if (known.address) return getAddress(known.address)
  throw new InputError(
    'not_possible',
    `${known.problem}; name the registry with --registry <address>`,
  )
}

/** Overwrites no other deployment, because an address is a hash of code, admin and delay. */
export function writeDeployment(deployment: Deployment, input: unknown): void {
  const { address } = deployment
  const chainId = BigInt(deployment.chainId)
  mkdirSync(new URL('.', fileOf(chainId, address)), { recursive: true })
  writeFileSync(inputFileOf(chainId, address), `${JSON.stringify(input, null, 2)}\n`)
  writeFileSync(fileOf(chainId, address), `${JSON.stringify(deployment, null, 2)}\n`)
}

const MIN_ADMIN_DELAY = 86_400
const MAX_ADMIN_DELAY = 365 * 86_400

/** @returns The delay in seconds; the constructor accepts from a day to a year. */
export function parseAdminDelay(text: string): number {
  const delay = Number(text)
  const inRange = delay >= MIN_ADMIN_DELAY && delay <= MAX_ADMIN_DELAY
  if (!Number.isSafeInteger(delay) || !inRange)
    throw new UsageError(
      `--admin-delay must be a number of seconds from ${MIN_ADMIN_DELAY} (a day) to ${MAX_ADMIN_DELAY} (a year), not ${text}`,
    )
  return delay
}

/** The forwarder is the first contract that the registry creates, in its constructor. */
export const forwarderOf = (registry: string): string =>
  getCreateAddress({ from: registry, nonce: 1 })

/**
 * The address is a hash of the code and the constructor's arguments, so no other code can have it.
 */
export function planOf(
  bytecode: string,
  admin: string,
  adminDelay: number,
): { initCode: string; address: string } {
  const initCode = concat([
    bytecode,
    AbiCoder.defaultAbiCoder().encode(['address', 'uint48'], [admin, adminDelay]),
  ])
  return {
    initCode,
    address: getCreate2Address(proxy.address, salt, keccak256(initCode)),
  }
}

/**
 * @param code The code at an address.
 * @returns Whether it is that of a contract. A plain key that delegates (EIP-7702) has code too:
 * 0xef0100 and the address of the code that it runs.
 */
export function isContract(code: string): boolean {
  return code !== '0x' && !/^0xef0100[0-9a-f]{40}$/i.test(code)
}

const arbSys = toBeHex(100, 20)

/**
 * Records must name blocks by the numbers of `eth_getLogs`. On a chain whose EVM returns another
 * NUMBER, only the contract's ArbSys branch does.
 */
export async function checkBlockNumbers(
  provider: Pick<Provider, 'getCode' | 'getBlockNumber' | 'call'>,
): Promise<void> {
  if (dataLength(await provider.getCode(arbSys)) > 0) return
  const before = await provider.getBlockNumber()
  // Creation code that returns NUMBER as 32 bytes.
  const answer = await provider.call({ data: '0x4360005260206000f3' })
  const number = BigInt(dataSlice(answer, 0, 32))
  const after = await provider.getBlockNumber()
  // A call may run in the latest block or in the next one.
  if (number < BigInt(before) || number > BigInt(after + 1)) {
    throw new InputError(
      'not_possible',
      `block.number is ${number} on this chain, but its RPC counts ${after}: records would name blocks whose logs cannot be found`,
    )
  }
}

/** @returns Why a simulated call failed, with the contract's error if there is one. */
export function reasonOf(cause: unknown, contract: Interface): string {
  const own = errorOf(cause, contract)
  if (own !== undefined) return own
  return cause instanceof Error ? sentenceOf(cause) : String(cause)
}

/** @returns The contract's error with which a simulated call failed; `undefined` = none. */
export function errorOf(cause: unknown, contract: Interface): string | undefined {
  const data =
    typeof cause === 'object' && cause !== null && 'data' in cause ? cause.data : undefined
  const reason = typeof data === 'string' ? contract.parseError(data) : null
  return reason === null ? undefined : `${reason.name}(${reason.args.join(', ')})`
}
