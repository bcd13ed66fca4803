import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { ADA, API_KEY } from '../support/given.ts'
import { freePort } from '../support/http.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../support/remote-issuer.ts'
import { startRpcProxy } from '../support/rpc-proxy.ts'

// A permissioned chain without fees, such as Besu's.

const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
let issuer: RemoteIssuer
beforeAll(async () => {
  issuer = await startRemoteIssuer(folder, ['--base-fee', '0', '--gas-price', '0'], 1)
  await issuer.anvil.request('anvil_setBalance', new Wallet(issuer.keys.issuer).address, '0x0')
})
afterAll(async () => {
  await issuer?.anvil.kill()
  rmSync(folder, { recursive: true })
})

const gatewayWith = async (env: Record<string, string>): Promise<GatewayProcess> =>
  gatewayProcess({
    ...issuer.env,
    ISSUER_KEY: issuer.keys.issuer,
    LOG_LEVEL: 'error',
    DATA_DIR: join(folder, 'data'),
    PORT: String(await freePort()),
    ...env,
  })

test('an account without a balance issues', async () => {
  const gateway = await gatewayWith({})
  try {
    await gateway.start()
    const response = await fetch(`${gateway.url}/v1/documents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ADA),
    })
    expect(response.status).toBe(201)
    const { data } = (await response.json()) as { data: { blockchainHash: string } }
    expect(
      await issuer.anvil.request('eth_getTransactionReceipt', data.blockchainHash),
    ).toMatchObject({ status: '0x1', effectiveGasPrice: '0x0' })
  } finally {
    await gateway.stop()
  }
})

test('does not start on a chain without a base fee, and says so', async () => {
  const proxy = await startRpcProxy(issuer.anvil.url)
  proxy.change = (method, block) =>
    method === 'eth_getBlockByNumber' ? { ...(block as object), baseFeePerGas: undefined } : block
  const gateway = await gatewayWith({ RPC_URL: proxy.url })
  try {
    gateway.launch()
    await gateway.ended()
    expect(gateway.output()).toContain('blocks of this chain have no baseFeePerGas')
    expect(gateway.output().trim().split('\n')).toHaveLength(2)
  } finally {
    await gateway.kill()
    await proxy.close()
  }
})
