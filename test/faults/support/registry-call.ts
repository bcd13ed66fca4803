import { Interface } from 'ethers'
import { registryAbi } from '../../../verifier/readers/registry-abi.ts'
import type { RpcCall } from '../../support/fault-proxy.ts'

const abi = new Interface(registryAbi)

/** Whether a call reads this function of the registry. */
export function isCallOf(
  name: 'recordsOf' | 'verificationOf',
  { method, params }: RpcCall,
): boolean {
  if (method !== 'eth_call') return false
  const { data } = params[0] as { data: string }
  return data.startsWith(String(abi.getFunction(name)?.selector))
}
