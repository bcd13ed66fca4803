import { readFileSync } from 'node:fs'
import { Interface, type InterfaceAbi } from 'ethers/abi'
import { getCreateAddress } from 'ethers/address'
import { SigningKey } from 'ethers/crypto'
import { computeAddress, Transaction } from 'ethers/transaction'
import { type ImmutableReferences, withoutImmutables } from '#cli/registry/immutables.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, type RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'

const ARTIFACT = new URL(
  '../../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
  import.meta.url,
)
/**
 * How long a new admin or a proposed account on the local chain waits before it may accept, in
 * seconds.
 */
const ADMIN_DELAY = 86_400
/** The permissions of a gateway's account: ISSUE and REVOKE. */
const GATEWAY = 1 | 2

/** The issuer of a local chain, which is the first one registered there. */
export const LOCAL_ISSUER_ID = 1

export type LocalIssuer = {
  /** The account with which a gateway writes. */
  account: string
  name: string
  uri: string
  /** The key of the issuer's managing account (MANAGE); absent = the admin's key. */
  managerKey?: Hex
}

/** Thrown when there is other code at the registry's address. The message says what to do. */
export class LocalRegistryError extends Error {
  override name = 'LocalRegistryError'
}

/**
 * Finds or creates the registry of a local chain, with its first issuer and a gateway's account.
 * Each step is done once, however often this is called or interrupted.
 *
 * @param adminKey The key of the account that deploys and administers the registry. Its first
 * transaction is the deployment. The registry deploys its ERC-2771 forwarder itself.
 * @returns The CAIP-10 account ID of the registry, in lower case; the issuer is {@link
 * LOCAL_ISSUER_ID}.
 */
export async function ensureRegistry(
  provider: Eip1193Provider,
  adminKey: Hex,
  { account, name, uri, managerKey = adminKey }: LocalIssuer,
): Promise<RegistryId> {
  const artifact = readArtifact()
  const [admin, manager] = [accountOf(adminKey), accountOf(managerKey)]
  const { address, abi, request, view, write, transact } = connect(provider, admin)

  const code = await request<Hex>('eth_getCode', address, 'latest')
  if (code === '0x')
    await transact(admin, {
      data: artifact.bytecode + abi.encodeDeploy([admin.address, ADMIN_DELAY]).slice(2),
    })
  else if (programOf(code, artifact) !== programOf(artifact.deployedBytecode, artifact))
    throw new LocalRegistryError(
      'the local chain in DATA_DIR has another version of the registry, which this version cannot use: start with another DATA_DIR',
    )
  const issuers = await view('issuerCount')
  if (issuers === 0n) await write(admin, 'registerIssuer', manager.address, name, uri)
  const known = await view('accountOf', LOCAL_ISSUER_ID, account)
  if (known.addedBlock === 0n) await write(manager, 'addAccount', LOCAL_ISSUER_ID, account, GATEWAY)
  const chainId = Number(await request<Hex>('eth_chainId'))
  return formatRegistryId(chainId, address)
}

/** Updates the local chain's issuer if its name or uri differs. */
export async function nameIssuer(
  provider: Eip1193Provider,
  adminKey: Hex,
  { name, uri }: Pick<LocalIssuer, 'name' | 'uri'>,
): Promise<void> {
  const admin = accountOf(adminKey)
  const { view, write } = connect(provider, admin)
  const known = await view('issuerOf', LOCAL_ISSUER_ID)
  if (known.name === name && known.uri === uri) return
  await write(admin, 'updateIssuer', LOCAL_ISSUER_ID, name, uri)
}

type Artifact = {
  abi: InterfaceAbi
  bytecode: string
  deployedBytecode: Hex
  immutableReferences?: ImmutableReferences
}

function readArtifact(): Artifact {
  return JSON.parse(readFileSync(ARTIFACT, 'utf8'))
}

/**
 * @returns The deployed code without the values that the constructor fills in, and without the
 * compiler's metadata at its end, which changes with every comment. The last two bytes are the
 * length of the metadata.
 */
function programOf(code: Hex, { immutableReferences = {} }: Artifact): string {
  const program = withoutImmutables(code, immutableReferences)
  const metadata = Number.parseInt(program.slice(-4), 16) + 2
  return program.slice(0, -2 * metadata)
}

type Account = ReturnType<typeof accountOf>

function accountOf(privateKey: Hex) {
  const key = new SigningKey(privateKey)
  return { key, address: computeAddress(key) }
}

/** Calls to the registry that the admin's first transaction deploys. */
function connect(provider: Eip1193Provider, admin: Account) {
  const abi = new Interface(readArtifact().abi)
  const address = getCreateAddress({ from: admin.address, nonce: 0 })
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
  return { address, abi, request, view, write, transact }

  async function view(method: string, ...args: unknown[]) {
    const data = abi.encodeFunctionData(method, args)
    const result = await request<Hex>('eth_call', { to: address, data }, 'latest')
    return abi.decodeFunctionResult(method, result)[0]
  }

  function write(by: Account, method: string, ...args: unknown[]) {
    const data = abi.encodeFunctionData(method, args)
    return transact(by, { to: address, data })
  }

  async function transact(by: Account, call: { to?: string; data: string }): Promise<void> {
    const [nonce, gas, chain, head] = await Promise.all([
      request<Hex>('eth_getTransactionCount', by.address, 'latest'),
      request<Hex>('eth_estimateGas', { from: by.address, ...call }),
      request<Hex>('eth_chainId'),
      request<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false),
    ])
    const transaction = Transaction.from({
      type: 2,
      chainId: Number(chain),
      nonce: Number(nonce),
      ...call,
      gasLimit: BigInt(gas),
      maxPriorityFeePerGas: 1n,
      maxFeePerGas: 2n * BigInt(head.baseFeePerGas) + 1n,
    })
    transaction.signature = by.key.sign(transaction.unsignedHash)
    const hash = await request<Hex>('eth_sendRawTransaction', transaction.serialized)
    // The local chain mines a transaction before it answers.
    const receipt = await request<{ status: Hex } | null>('eth_getTransactionReceipt', hash)
    if (receipt?.status !== '0x1') throw new Error(`transaction ${hash} did not succeed`)
  }
}
