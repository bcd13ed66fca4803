import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type GatewayProcess, gatewayProcess } from '../../support/gateway-process.ts'
import { API_KEY } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'

let dataDir: string
let gateway: GatewayProcess | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'backup-socket-'))
})
afterEach(async () => {
  await gateway?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('starts without a backup socket where it cannot create one, and says so', async () => {
  mkdirSync(join(dataDir, 'control.sock'))
  gateway = gatewayProcess({
    PORT: String(await freePort()),
    CHAIN_PORT: '0',
    DATA_DIR: dataDir,
    API_KEY,
  })
  await gateway.start()
  await expect
    .poll(gateway.output)
    .toContain('docreg-gateway backup only works while the gateway is stopped')
  expect(await gateway.stop()).toBe(0)
})
