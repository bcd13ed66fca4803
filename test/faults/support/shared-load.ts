import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '#document/hex.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { ADA, API_KEY } from '../../support/given.ts'

/** A document that a gateway has acknowledged as valid or pending. */
export type Acknowledged = { idempotencyKey: string; publicId: string; documentHash: Hex }

const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

/** How long a client waits for an answer, because a gateway may be stopped. */
const PATIENCE_MS = 20_000
const RETRY_INTERVAL_MS = 100

/** @returns `undefined` when the gateway did not accept it. */
export async function issueAt(
  { url }: GatewayProcess,
  idempotencyKey: string,
): Promise<Acknowledged | undefined> {
  try {
    const response = await fetch(`${url}/v1/documents`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': idempotencyKey },
      body: JSON.stringify(ADA),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const { data } = (await response.json()) as { data: Acknowledged }
    if (!response.ok) return undefined
    const { publicId, documentHash } = data
    return { idempotencyKey, publicId, documentHash }
  } catch {
    return undefined
  }
}

/**
 * Revokes a document until a gateway has done or promised it. Each retry goes to another gateway.
 */
export async function revokeInTurn(
  gateways: readonly GatewayProcess[],
  publicId: string,
  { reason, from }: { reason: string; from: number },
): Promise<void> {
  for (let turn = from; ; turn++) {
    const { url } = gateways[turn % gateways.length] as GatewayProcess
    const response = await fetch(`${url}/v1/documents/${publicId}/revoke`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ reason }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => undefined)
    if (response?.ok) return
    await sleep(RETRY_INTERVAL_MS)
  }
}

/** @returns The answer of a gateway to a path. */
export async function textAt({ url }: GatewayProcess, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`, { headers })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.text()
}

/** @returns `undefined` when the gateway did not answer. */
export async function statusAt(
  { url }: GatewayProcess,
  publicId: string,
): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/v1/verify?publicId=${publicId}`, {
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const { data } = (await response.json()) as { data?: { status: string } }
    return data?.status
  } catch {
    return undefined
  }
}

/**
 * Issues documents at the gateways in turn, until all are acknowledged. Each retry goes to another
 * gateway.
 */
export async function issueInTurn(
  gateways: readonly GatewayProcess[],
  { name, count, connections }: { name: string; count: number; connections: number },
): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []

  async function issueOne(i: number): Promise<void> {
    for (let turn = i; ; turn++) {
      const gateway = gateways[turn % gateways.length]
      const one = gateway && (await issueAt(gateway, `${name}-${i}`))
      if (one) return void acknowledged.push(one)
      await sleep(RETRY_INTERVAL_MS)
    }
  }

  let next = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < count) await issueOne(next++)
    }),
  )
  return acknowledged
}
