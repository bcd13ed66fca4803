import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { cidOf, hashOfCid } from '#document/cid.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { docreg } from '../../../support/docreg.ts'
import { serveHttp, type TestServer } from '../../../support/http.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

// A source that refuses for now has not said that it lacks anything.

const PER_SECOND = 20
const BATCH = 30

let stack: Stack
/** The service, with other answers for some blocks. */
let front: TestServer
/** The status with which the front refuses a path. */
let refusal: (path: string) => number | undefined
let alone: Issued[]
let batch: Issued[]
/** Its CID. */
let manifest: string

type Issued = { publicId: string; documentHash: Hex; batchRoot: Hex }

beforeAll(async () => {
  stack = await startStack({ ADDRESS_RATE_LIMIT: `${PER_SECOND}` })
  alone = []
  for (let i = 0; i < 3; i++)
    alone.push((await stack.issue({ ...ADA, subjectId: `${i}` })).body.data)
  const lines = Array.from({ length: BATCH }, (_, i) =>
    JSON.stringify({ ...ADA, subjectId: `1${i}` }),
  )
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' }
  const response = await fetch(`${stack.url}/v1/batches`, {
    method: 'POST',
    headers,
    body: `${lines.join('\n')}\n`,
  })
  const text = (await response.text()).trimEnd()
  batch = text.split('\n').map((line) => JSON.parse(line).data)
  const { body } = await stack.request(`/v1/batches/${batch[0]?.batchRoot}`, { headers })
  manifest = body.data.manifest
  // An audit covers what is final.
  await stack.provider.request({ method: 'anvil_mine', params: ['0x8'] })
  front = await serveHttp(async ({ url = '' }, response) => {
    const status = refusal(url)
    if (status !== undefined) {
      response.writeHead(status).end()
      return
    }
    const answer = await fetch(`${stack.url}${url}`)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(new Uint8Array(await answer.arrayBuffer()))
  })
})
beforeEach(() => {
  refusal = () => undefined
})
afterAll(async () => {
  await front?.close()
  await stack?.stop()
})

const trusted = () => ['--registry', stack.registry, '--rpc', stack.chainUrl]
const audit = (...args: string[]) =>
  docreg([
    'audit',
    '--issuer',
    '1',
    ...trusted(),
    '--ipfs',
    front.url,
    '--payloads',
    '--young-days',
    '0',
    ...args,
  ])
const countsIn = (stdout: string): Record<string, number> =>
  Object.fromEntries(
    JSON.parse(stdout).issuers[0].findings.map((one: { code: string; count: number }) => [
      one.code,
      one.count,
    ]),
  )
const refuse = (status: number, ...hashes: Uint8Array[]) => {
  const refused = hashes.map((hash) => `/ipfs/${cidOf(hash)}?format=raw`)
  refusal = (path) => (refused.includes(path) ? status : undefined)
}

test('waits for a service that limits requests, and reads every block', async () => {
  const { code, stdout } = await audit('--json')
  expect(Object.keys(countsIn(stdout))).toEqual(['code_unchecked'])
  expect(JSON.parse(stdout).issuers[0].counts).toMatchObject({
    documentsInBatches: BATCH,
    unlistedDocuments: 0,
  })
  expect(code).toBe(0)
})

test('does not report a block as missing when a source fails, and says so on top', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [single, first] = [alone[0] as Issued, batch[0] as Issued]
  const batchBlock = decodePublicId(first.publicId).hash
  refuse(500, fromHex(single.documentHash), batchBlock)
  const ids = join(folder, 'ids.txt')
  writeFileSync(ids, `${single.publicId}\n${first.publicId}\n`)
  const { code, stdout } = await audit('--public-ids', ids, '--json')
  expect(countsIn(stdout)).toEqual({
    payload_unreachable: 1,
    batch_block_unreachable: 1,
    public_id_unreachable: 1,
    code_unchecked: 1,
  })
  expect(code).toBe(2)

  refuse(500, hashOfCid(manifest), fromHex(single.documentHash))
  const out = join(folder, 'out')
  const unlisted = await audit('--out', out)
  expect(unlisted.code).toBe(2)
  expect(unlisted.stdout).toMatch(/^COMPLETE, NOT ALL READ: The list has 3 of 3 documents/)
  const [headline = ''] = unlisted.stdout.split('\n')
  expect(headline).toContain(`Counted and not listed: ${BATCH} documents in 1 batch, because`)
  expect(headline).toContain('Not read, because a source did not answer: 1 payload.')
  expect(unlisted.stdout).toContain('\nIn plain words: ')
  const html = readFileSync(join(out, 'report.html'), 'utf8')
  expect(html).toContain('<section class="verdict open"><p class="word">Complete, not all read</p>')
  expect(html).toContain('<p>In plain words: ')
  const [issuer] = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8')).issuers
  expect(issuer.counts).toMatchObject({ documentsInBatches: 0, unlistedDocuments: BATCH })
  expect(issuer.batches[0]).toMatchObject({
    recount: 'unreachable',
    findings: ['batch_manifest_unreachable'],
  })

  // Nobody asked for what only --ipfs gives.
  const counted = await docreg(['audit', '--issuer', '1', ...trusted(), '--young-days', '0'])
  expect(counted.code).toBe(0)
  expect(counted.stdout).toMatch(
    /^COMPLETE, PROVEN: .* Counted and not listed: 30 documents in 1 batch, because that requires --ipfs\./,
  )
})

test('list, recount and bundle report a source that did not answer', async () => {
  refuse(500, hashOfCid(manifest))
  const ipfs = ['--ipfs', front.url]
  const listed = await docreg(['list', '--issuer', '1', ...trusted(), ...ipfs, '--json'])
  expect(JSON.parse(listed.stdout).batches.listed[0].recount.code).toBe('unreachable')
  expect(listed.code).toBe(2)
  const recounted = await docreg(['recount', manifest, ...trusted(), ...ipfs, '--json'])
  expect(JSON.parse(recounted.stdout).error.code).toBe('unreachable')
  expect(recounted.code).toBe(2)

  // A bundle is kept: without the document it would say that no source ever had it.
  const { documentHash, publicId } = alone[0] as Issued
  for (const status of [429, 500]) {
    refuse(status, fromHex(documentHash))
    const made = await docreg(['bundle', publicId, ...trusted(), ...ipfs, '--json'])
    expect(made).toMatchObject({ code: 2 })
    expect(JSON.parse(made.stdout).error.code).toBe('payload_unreachable')
  }
})
