/** The EIP-712 messages of the registry's delegated functions: how a registrar signs what a gateway brings to the chain. */
import type { Signer, TypedDataDomain, TypedDataField } from 'ethers'

const field = (definition: string): TypedDataField => {
  const [type, name] = definition.split(' ') as [string, string]
  return { type, name }
}
const message = (fields: string): TypedDataField[] =>
  `address account,${fields},uint256 nonce,uint256 deadline`
    .split(',')
    .map(field)

export const messages = {
  Issue: message('bytes32 documentHash,uint40 validUntil'),
  IssueBatch: message('bytes32 root,uint40 size,bytes32 manifest'),
  Revoke: message('bytes32 documentHash,uint8 reason'),
  RevokeBatch: message('uint32 issuerId,bytes32 root,uint8 reason'),
  RevokeInBatch: message(
    'uint32 issuerId,bytes32 root,bytes32 documentHash,uint8 reason',
  ),
} as const

export interface Payloads {
  readonly Issue: { readonly documentHash: string; readonly validUntil: number }
  readonly IssueBatch: {
    readonly root: string
    readonly size: number
    readonly manifest: string
  }
  readonly Revoke: { readonly documentHash: string; readonly reason: number }
  readonly RevokeBatch: {
    readonly issuerId: number
    readonly root: string
    readonly reason: number
  }
  readonly RevokeInBatch: {
    readonly issuerId: number
    readonly root: string
    readonly documentHash: string
    readonly reason: number
  }
}

export interface Authorization {
  readonly account: string
  readonly nonce: bigint
  readonly deadline: bigint
  readonly signature: string
}

export const domainOf = (
  chainId: bigint,
  registry: string,
): TypedDataDomain => ({
  name: 'DocumentRegistry',
  version: '1',
  chainId,
  verifyingContract: registry,
})

export async function sign<Name extends keyof Payloads>(
  signer: Signer,
  domain: TypedDataDomain,
  name: Name,
  payload: Payloads[Name],
  nonce: bigint,
  deadline: bigint,
): Promise<Authorization> {
  const account = await signer.getAddress()
  const value = { account, ...payload, nonce, deadline }
  const signature = await signer.signTypedData(
    domain,
    { [name]: messages[name] },
    value,
  )
  return { account, nonce, deadline, signature }
}
