import { Wallet } from 'ethers'
import { expect } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { API_KEY, randomKey, type Stack } from './stack.ts'
import { transact } from './transact.ts'

/** Sends a revision of a document with the API key. */
export function revise(
  stack: Stack,
  action: 'revoke' | 'suspend' | 'release',
  publicId: string,
  { body = {}, headers = {} }: { body?: unknown; headers?: object } = {},
) {
  return stack.request(`/v1/documents/${publicId}/${action}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

/** @returns The same publicId with another issuer. */
export function inTheNameOf(issuerId: number, publicId: string): string {
  return encodePublicId({ ...decodePublicId(publicId), issuerId })
}

/** @returns The key of another account of the issuer, with funds. */
export async function addAccount(stack: Stack, permissions: number): Promise<Hex> {
  const key = randomKey()
  const { address } = new Wallet(key)
  const { provider, registry, adminKey } = stack
  await transact(provider, registry, adminKey, 'addAccount', [1, address, permissions])
  await provider.request({ method: 'anvil_setBalance', params: [address, '0xde0b6b3a7640000'] })
  return key
}

/** Ends the chain's refusals, and waits until the gateway has noticed at its next attempt. */
export async function endRefusals(stack: Stack): Promise<void> {
  stack.proxy.refuse = () => false
  const status = async () => (await stack.request('/readyz')).status
  await expect.poll(status).toBe(200)
}
