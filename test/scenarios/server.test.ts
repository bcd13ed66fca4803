import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpcPool } from '#chain/rpc.ts'
import { createKeySigner } from '#chain/signer.ts'
import { readConfig } from '#settings/config.ts'
import { freePort } from '../support/http.ts'
import { randomKey, type Stack, startGatewayFor, startStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

test('releases data folder and account when its port is used', async () => {
  const { registry, issuerKey, chainUrl } = stack
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const issuerSecrets: [`0x${string}`] = [randomKey()]
  const start = async (port: number) => {
    const settings = { PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'silent' }
    // Two processes must not write with one account of a remote chain.
    const config = { ...readConfig(settings), rpcUrls: [chainUrl] }
    const rpc = createRpcPool([chainUrl], config.rpcTimeout)
    const signer = createKeySigner(issuerKey)
    return startGatewayFor(config, { rpc, registry, issuerSecrets, signer })
  }
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  other.close()
  const gateway = await start(await freePort())
  expect((await fetch(`http://127.0.0.1:${gateway.port}/readyz`)).status).toBe(200)
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('readiness warns while the newest block is later than the clock', async () => {
  const warnings = async () => (await stack.request('/readyz')).body.data.warnings
  expect(await warnings()).toEqual([])
  await stack.provider.request({ method: 'evm_increaseTime', params: [3_600] })
  await stack.provider.request({ method: 'evm_mine', params: [] })
  await expect.poll(warnings).toEqual(['clock_behind_chain'])
})
