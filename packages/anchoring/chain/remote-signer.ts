import { getAddress } from 'ethers/address'
import { Transaction } from 'ethers/transaction'
import { toQuantity } from 'ethers/utils'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import type { Signer, UnsignedTransaction } from './signer.ts'

/** The JSON-RPC error for a method that does not exist. */
const NO_SUCH_METHOD = -32_601

/**
 * A remote signer (Web3Signer, Clef, or a node with unlocked accounts), so that the key is not on
 * the gateway. It is trusted only with the key: it must return exactly the requested transaction,
 * signed by the right account.
 */
export function createRemoteSigner(provider: Eip1193Provider, issuerAddress: Hex): Signer {
  const address = getAddress(issuerAddress)

  async function request(method: string, ...params: unknown[]) {
    try {
      return await provider.request({ method, params })
    } catch (error) {
      throw unavailable(`${method}: ${error instanceof Error ? error.message : error}`, error)
    }
  }

  /** Clef has its own name for this method. */
  async function signTransaction(transaction: object): Promise<unknown> {
    try {
      return await request('eth_signTransaction', transaction)
    } catch (error) {
      if (!isNoSuchMethod(error)) throw error
      return request('account_signTransaction', transaction)
    }
  }

  return {
    address,

    async assertReady() {
      let accounts: unknown
      try {
        accounts = await request('eth_accounts')
      } catch (error) {
        // Any answer is enough. Clef asks a person before it lists accounts, and has another name
        // for the method.
        if (isNoSuchMethod(error)) return
        throw error
      }
      const listed =
        Array.isArray(accounts) && accounts.some((account) => sameAddress(account, address))
      if (!listed) throw unavailable(`the signer has no key for ${address}`)
    },

    async sign(transaction) {
      const answer = await signTransaction(toRpc(address, transaction))
      const raw = rawOf(answer)
      if (raw === undefined || !isSigned(raw, transaction, address))
        throw unavailable('the signer signed a different transaction than requested')
      return raw
    },
  }
}

function toRpc(from: string, transaction: UnsignedTransaction): object {
  return {
    from,
    to: transaction.to,
    data: transaction.data,
    value: '0x0',
    chainId: toQuantity(transaction.chainId),
    nonce: toQuantity(transaction.nonce),
    gas: toQuantity(transaction.gasLimit),
    maxFeePerGas: toQuantity(transaction.maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(transaction.maxPriorityFeePerGas),
  }
}

/**
 * Web3Signer and Anvil return the bytes; geth and Clef return an object with the bytes as `raw`.
 */
function rawOf(answer: unknown): Hex | undefined {
  const raw = typeof answer === 'object' && answer !== null && 'raw' in answer ? answer.raw : answer
  return typeof raw === 'string' && /^0x[0-9a-f]+$/i.test(raw)
    ? (raw.toLowerCase() as Hex)
    : undefined
}

/** @returns Whether these bytes are exactly this transaction, signed by this account. */
function isSigned(raw: Hex, asked: UnsignedTransaction, address: string): boolean {
  try {
    const signed = Transaction.from(raw)
    return (
      signed.from === address &&
      signed.serialized === raw &&
      signed.unsignedSerialized === Transaction.from(asked).unsignedSerialized
    )
  } catch {
    return false
  }
}

function sameAddress(account: unknown, address: string): boolean {
  return typeof account === 'string' && account.toLowerCase() === address.toLowerCase()
}

function isNoSuchMethod(error: unknown): boolean {
  const { cause } = error as IssueError
  return cause instanceof RpcResponseError && cause.code === NO_SUCH_METHOD
}

function unavailable(message: string, cause?: unknown): IssueError {
  return new IssueError('signer_unavailable', message, cause)
}
