import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { concat, getCreateAddress, Interface, Wallet, ZeroAddress } from 'ethers'
import type { Hex } from '#document/hex.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { sendTransaction } from '../support/transact.ts'

// A Safe, the multi-signature wallet, from the artifacts that its authors publish.

const SAFE_TX = {
  SafeTx: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
    { name: 'operation', type: 'uint8' },
    { name: 'safeTxGas', type: 'uint256' },
    { name: 'baseGas', type: 'uint256' },
    { name: 'gasPrice', type: 'uint256' },
    { name: 'gasToken', type: 'address' },
    { name: 'refundReceiver', type: 'address' },
    { name: 'nonce', type: 'uint256' },
  ],
}

export type Safe = {
  address: Hex
  /** Signs a call with as many owners as required, and sends it. Rejects if the call fails. */
  execute(call: { to: Hex; data: string }): Promise<void>
}

/**
 * Deploys a wallet that requires the signatures of two of its owners.
 *
 * @param payer The key of a funded account, which also sends what the owners have signed.
 */
export async function deploySafe(
  provider: Eip1193Provider,
  payer: Hex,
  owners: readonly Hex[],
): Promise<Safe> {
  const safe = readArtifact('Safe.sol/Safe')
  const factory = readArtifact('proxies/SafeProxyFactory.sol/SafeProxyFactory')
  const wallets = owners.map((key) => new Wallet(key))
  const send = (call: { to?: Hex; data: string }) => sendTransaction(provider, payer, call)
  const deploy = async (bytecode: string) => {
    const { nonce } = await send({ data: bytecode })
    return getCreateAddress({ from: new Wallet(payer).address, nonce }) as Hex
  }
  const view = async (to: Hex, abi: Interface, name: string, args: unknown[] = []) => {
    const data = abi.encodeFunctionData(name, args)
    const result = await provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })
    return abi.decodeFunctionResult(name, String(result))[0]
  }

  const singleton = await deploy(safe.bytecode)
  const factoryAddress = await deploy(factory.bytecode)
  const addresses = wallets.map(({ address }) => address)
  const noPayment = [ZeroAddress, 0, ZeroAddress]
  const setup = safe.abi.encodeFunctionData('setup', [
    addresses,
    2,
    ZeroAddress,
    '0x',
    ZeroAddress,
    ...noPayment,
  ])
  const args = [singleton, setup, 0]
  const from = new Wallet(payer).address
  const create = {
    to: factoryAddress,
    data: factory.abi.encodeFunctionData('createProxyWithNonce', args),
  }
  const result = await provider.request({
    method: 'eth_call',
    params: [{ from, ...create }, 'latest'],
  })
  const [address] = factory.abi.decodeFunctionResult('createProxyWithNonce', String(result))
  await send(create)

  return {
    address,
    async execute({ to, data }) {
      const chainId = Number(await provider.request({ method: 'eth_chainId' }))
      const nonce = await view(address, safe.abi, 'nonce')
      const message = {
        to,
        value: 0,
        data,
        operation: 0,
        safeTxGas: 0,
        baseGas: 0,
        gasPrice: 0,
        gasToken: ZeroAddress,
        refundReceiver: ZeroAddress,
        nonce,
      }
      const domain = { chainId, verifyingContract: address }
      // The wallet requires signatures in the order of their owners' addresses.
      const signers = wallets
        .slice(0, 2)
        .sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
      const signatures = concat(
        await Promise.all(signers.map((owner) => owner.signTypedData(domain, SAFE_TX, message))),
      )
      const values = SAFE_TX.SafeTx.slice(0, -1).map(
        ({ name }) => message[name as keyof typeof message],
      )
      await send({
        to: address,
        data: safe.abi.encodeFunctionData('execTransaction', [...values, signatures]),
      })
    },
  }
}

function readArtifact(path: string): { abi: Interface; bytecode: string } {
  const file = createRequire(import.meta.url).resolve(
    `@safe-global/safe-smart-account/build/artifacts/contracts/${path}.json`,
  )
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8'))
  return { abi: new Interface(abi), bytecode }
}
