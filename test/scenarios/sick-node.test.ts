import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  createQuorumReader,
  verify,
} from '#verifier/index.ts'
import { docreg } from '../support/docreg.ts'
import type { RpcProxy } from '../support/rpc-proxy.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

// The first of two nodes says its head, and answers other calls with an error.

type Failing = RpcProxy['fail']

const all =
  (code: number, message: string): Failing =>
  (method) =>
    method === 'eth_blockNumber' ? undefined : { code, message }
const only =
  (failing: string, code: number, message: string): Failing =>
  (method) =>
    method === failing ? { code, message } : undefined

const SICK: [string, Failing][] = [
  ['-32600 App is inactive', all(-32600, 'App is inactive')],
  ['-32046', all(-32046, 'Cannot fulfill request')],
  ['-32603', all(-32603, 'Internal error')],
  ['-32601', all(-32601, 'the method does not exist/is not available')],
  ['-32001', all(-32001, 'Unable to complete request at this time')],
  ['-32005', all(-32005, 'limit exceeded')],
  ['-32000', all(-32000, 'header not found')],
  ['a missing trie node', only('eth_call', -32000, 'missing trie node 8f3c (path )')],
  ['no proofs', only('eth_getProof', -32601, 'method not found')],
  ['no estimates', only('eth_estimateGas', -32603, 'Internal error')],
  ['no transactions', only('eth_sendRawTransaction', -32603, 'Internal error')],
]

describe.each(SICK)('behind a first node that answers with %s', (_, fail) => {
  let stack: Stack
  let publicId: string
  let folder: string
  beforeAll(async () => {
    stack = await startStack({}, undefined, (sick, good) => [sick, good])
    publicId = (await stack.issue(ADA)).body.data.publicId
    folder = mkdtempSync(join(tmpdir(), 'sick-node-'))
  })
  beforeEach(() => {
    stack.proxy.fail = fail
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await stack.stop()
  })

  const get = (path: string): Promise<Answer> =>
    stack.request(path, { headers: { authorization: `Bearer ${API_KEY}` } })

  test('verifies', async () => {
    const { status, body } = await stack.verify(publicId)
    expect([status, body.data.status]).toEqual([200, 'valid'])
  })

  test('issues, and revokes', async () => {
    const { status, body } = await stack.issue({ ...ADA, subjectId: '2' })
    expect(status).toBe(201)
    const { publicId: issued } = body.data
    const revoked = await stack.request(`/v1/documents/${issued}/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(revoked.status).toBe(200)
    expect((await stack.verify(issued)).body.data.status).toBe('revoked')
  })

  test('is ready', async () => {
    expect((await get('/readyz')).status).toBe(200)
  })

  test('makes a bundle', async () => {
    expect((await get(`/v1/documents/${publicId}/bundle`)).status).toBe(200)
  })

  test('is outvoted by two good nodes of a reader', async () => {
    const readers = [stack.proxy.url, stack.chainUrl, stack.chainUrl].map((url) =>
      createChainReader(createFetchProvider(url), stack.registry),
    )
    const blocks = [createIpfsGatewaySource(stack.url)]
    const verdict = await verify(publicId, { chain: createQuorumReader(readers, 2), blocks })
    expect(verdict.status).toBe('valid')
  })

  test('is audited by docreg with both nodes', async () => {
    const nodes = ['--rpc', stack.proxy.url, '--rpc', stack.chainUrl]
    const args = ['--registry', stack.registry, '--issuer', '1']
    const { code, stderr } = await docreg(['audit', ...args, ...nodes])
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')])
  })
})
