import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { ConfigError, readConfig } from '#settings/config.ts'
import { gatewayProcess } from '../support/gateway-process.ts'
import { freePort } from '../support/http.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../support/remote-issuer.ts'

/** Nobody knows this chain. */
const CHAIN = 987654321
const BANNER = 'Test network, or one not known to carry real documents'

describe('LIVE_CHAINS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  let issuer: RemoteIssuer
  beforeAll(async () => {
    issuer = await startRemoteIssuer(folder, ['--chain-id', String(CHAIN)], 1)
  })
  afterAll(async () => {
    await issuer?.anvil.kill()
    rmSync(folder, { recursive: true })
  })

  /** @returns What a gateway says about its network: answers, pages, the verify page's config. */
  async function toldBy(env: Record<string, string>) {
    const gateway = gatewayProcess({
      ...issuer.env,
      ISSUER_KEY: issuer.keys.issuer,
      ...env,
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
      LOG_LEVEL: 'error',
    })
    const read = async (path: string, headers = {}) =>
      (await fetch(gateway.url + path, { headers })).text()
    try {
      await gateway.start()
      const page = await read('/verify')
      const config = /<script type="application\/json" id="config">(.*?)<\/script>/.exec(page)?.[1]
      const qr = await read(`/qr/${golden.documents[0]?.publicId}`, {
        'sec-fetch-dest': 'document',
      })
      return {
        ready: JSON.parse(await read('/readyz')).data.network,
        home: JSON.parse(await read('/', { accept: 'application/json' })).data.network,
        banners: [await read('/'), qr].map((text) => text.includes(BANNER)),
        page: JSON.parse(config ?? '').liveChains,
        start: gateway.output().includes('LIVE_CHAINS'),
      }
    } finally {
      await gateway.stop()
    }
  }

  test('an unknown chain has the banner, and the start says so', async () => {
    expect(await toldBy({})).toEqual({
      ready: 'test',
      home: 'test',
      banners: [true, true],
      page: [],
      start: true,
    })
  })

  test('the operator names it live, and answers, pages and verify page follow', async () => {
    expect(await toldBy({ LIVE_CHAINS: `5, ${CHAIN}` })).toEqual({
      ready: 'live',
      home: 'live',
      banners: [false, false],
      page: [5, CHAIN],
      start: false,
    })
  })

  test('names each bad value by its position', () => {
    const read = () => readConfig({ LIVE_CHAINS: '31337,12,1337,mainnet' })
    expect(read).toThrow(ConfigError)
    for (const index of [0, 2, 3]) expect(read).toThrow(`LIVE_CHAINS.${index} must be`)
    expect(read).not.toThrow('LIVE_CHAINS.1')
  })
})
