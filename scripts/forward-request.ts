/**
 * Signs a registry call that somebody else sends and pays for: an ERC-2771 request to
 * OpenZeppelin's `ERC2771Forwarder`, which the registry deployed and trusts. The account needs the
 * permission DELEGATE; see docs/contract.md, "Delegation".
 */
import type { Signer, TypedDataDomain } from 'ethers'

export const FORWARD_REQUEST_TYPES = {
  ForwardRequest: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'gas', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint48' },
    { name: 'data', type: 'bytes' },
  ],
}

/** The functions and errors that a call through the forwarder needs. */
export const FORWARDER_ABI = [
  'function nonces(address owner) view returns (uint256)',
  'function verify((address from, address to, uint256 value, uint256 gas, uint48 deadline, bytes data, bytes signature) request) view returns (bool)',
  'function execute((address from, address to, uint256 value, uint256 gas, uint48 deadline, bytes data, bytes signature) request) payable',
  'error ERC2771ForwarderInvalidSigner(address signer, address from)',
  'error ERC2771ForwarderExpiredRequest(uint48 deadline)',
] as const

export interface ForwardCall {
  /** The registry. */
  readonly to: string
  /** The gas that the call may use. */
  readonly gas: bigint
  /** The forwarder's `nonces(from)`. The requests of an account run one after another. */
  readonly nonce: bigint
  /**
   * The Unix seconds after which it is invalid. Keep it short, because anybody can send it until
   * then.
   */
  readonly deadline: number
  /** The encoded call. */
  readonly data: string
}

/** The request in the form of the forwarder, in which the nonce is signed but not sent. */
export interface SignedForwardRequest extends Omit<ForwardCall, 'nonce'> {
  readonly from: string
  readonly value: bigint
  readonly signature: string
}

export const forwarderDomain = (chainId: bigint, forwarder: string): TypedDataDomain => ({
  name: 'DocumentRegistryForwarder',
  version: '1',
  chainId,
  verifyingContract: forwarder,
})

export async function signForwardRequest(
  signer: Signer,
  domain: TypedDataDomain,
  { nonce, ...call }: ForwardCall,
): Promise<SignedForwardRequest> {
  const request = { from: await signer.getAddress(), value: 0n, ...call }
  const signature = await signer.signTypedData(domain, FORWARD_REQUEST_TYPES, {
    ...request,
    nonce,
  })
  return { ...request, signature }
}
