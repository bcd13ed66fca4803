import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../support/http.ts'
import { createClient } from './support/client.ts'

// The oracle of the fault runs must not take an outage for a loss.

const BYTES = 'sealed'
const VERDICT = { data: { valid: true, status: 'valid', asOf: { blockNumber: 7 } } }

/** A gateway that answers 503 a few times, and then as told. */
async function startBusyGateway(outages: number) {
  let requests = 0
  const server = await serveHttp(async ({ url }, response) => {
    requests++
    if (requests <= outages) response.writeHead(503).end('{"data":{}}')
    else if (url?.includes('missing')) response.writeHead(404).end()
    else response.end(url?.startsWith('/ipfs') ? BYTES : JSON.stringify(VERDICT))
  })
  const client = createClient(server.url)
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  return { client, requests: () => requests }
}

test('an outage is no evidence about a payload or a verdict', async () => {
  const { client } = await startBusyGateway(2)
  expect(Buffer.from((await client.block('cid')) ?? []).toString()).toBe(BYTES)
  const verdicts = await startBusyGateway(2)
  expect(await verdicts.client.verdict('id')).toMatchObject({ valid: true, asOf: 7 })
})

test('reports a payload that no gateway has as missing at once', async () => {
  const { client, requests } = await startBusyGateway(0)
  expect(await client.block('missing')).toBeUndefined()
  expect(requests()).toBe(1)
})
