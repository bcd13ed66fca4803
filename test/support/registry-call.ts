import { registryAbi } from '#base/registry-abi.ts'
import type { RpcCall } from './fault-proxy.ts'

/** @returns Whether a call is an `eth_call` of this registry function. */
export function isCallOf(
  name: 'recordsOf' | 'verificationOf',
  { method, params }: Pick<RpcCall, 'method' | 'params'>,
): boolean {
  if (method !== 'eth_call') return false
  const { data } = params[0] as { data: string }
  return data.startsWith(String(registryAbi.getFunction(name)?.selector))
}
