import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { instant } from '#http/resources/present.ts'
import {
  authorization,
  bundleOf,
  issue,
  send,
  stack,
  trusting,
  useBundles,
} from '#test/support/bundles.ts'
import { ADA, startStack } from '#test/support/stack.ts'
import { verifyBundle } from '#verifier/bundle.ts'

useBundles()

/** More than the states that the local chain keeps, which are ten. */
async function makeBlocks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const hash = toHex(crypto.getRandomValues(new Uint8Array(32)))
    await send('issue', [1, hash, 0])
  }
}

describe('GET /v1/documents/{publicId}/bundle', () => {
  test('refuses a mistyped publicId, no key, and a key without the scope', async () => {
    const publicId = golden.documents[0]?.publicId ?? ''
    const malformed = await bundleOf('abc')
    expect([malformed.status, malformed.body.error.code]).toEqual([400, 'bad_public_id'])
    const path = `/v1/documents/${publicId}/bundle`
    expect((await stack.request(path)).status).toBe(401)
    const key = `Bearer ${stack.key(['verify'])}`
    expect((await stack.request(path, { headers: { authorization: key } })).status).toBe(403)
  })

  test('gives the verdict of a batch block of another issuer, as in a bundle', async () => {
    const response = await fetch(`${stack.url}/v1/batches`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify(ADA)}\n`,
    })
    const { publicId } = JSON.parse(await response.text()).data
    const batch = decodePublicId(publicId)
    const ofOther = encodePublicId({ ...batch, issuerId: 7 })
    const failed = [{ check: 'batch', outcome: 'fail', code: 'other_issuer' }]
    const { data } = (await stack.verify(ofOther)).body
    expect([data.status, data.checks]).toEqual(['tampered', failed])
    const bundle = await bundleOf(ofOther)
    expect([bundle.status, bundle.body.sealed]).toEqual([200, null])
    const { status, checks } = await verifyBundle(bundle.body, trusting(bundle.body))
    expect([status, checks]).toEqual(['tampered', failed])

    const unknown = await bundleOf(encodePublicId({ ...batch, hash: new Uint8Array(32) }))
    expect([unknown.status, unknown.body.error.code]).toEqual([503, 'unverifiable'])
    expect(unknown.body.error.details).toEqual([
      { check: 'batch', outcome: 'unknown', code: 'missing' },
    ])
  })

  test('reports a node without proofs, and no node at all', async () => {
    const { publicId } = await issue()
    const codeOf = async () => {
      const { status, headers, body } = await bundleOf(publicId)
      expect([status, headers.get('retry-after')]).toEqual([503, '2'])
      return [body.error.code, body.error.details[0]?.code]
    }
    stack.proxy.fail = (method) =>
      method === 'eth_getProof' ? { code: -32601, message: 'no' } : undefined
    expect(await codeOf()).toEqual(['unverifiable', 'proof_unavailable'])
    stack.proxy.fail = () => undefined
    stack.proxy.refuse = () => true
    expect(await codeOf()).toEqual(['unverifiable', 'rpc_unreachable'])
    stack.proxy.refuse = () => false
  })

  test('starts again at a newer block when the node has dropped the state', async () => {
    const { publicId } = await issue()
    for (const proven of [
      () => bundleOf(publicId),
      () =>
        stack.request(`/v1/verify?publicId=${publicId}&proof=full`, {
          headers: { authorization },
        }),
    ]) {
      let overtaken = 0
      stack.proxy.change = async (method, result) => {
        if (method === 'eth_call' && overtaken++ === 0) await makeBlocks(12)
        return result
      }
      stack.proxy.asked.length = 0
      expect(await proven()).toMatchObject({ status: 200 })
      stack.proxy.change = (_, result) => result
      const proofs = stack.proxy.asked.filter((m) => m === 'eth_getProof')
      expect(proofs).toHaveLength(2)
    }
  })

  test('refuses a node whose proof does not fit', async () => {
    const { publicId } = await issue()
    stack.proxy.change = (method, result) =>
      method === 'eth_getProof' ? { ...(result as object), accountProof: ['0x80'] } : result
    const { status, body } = await bundleOf(publicId)
    stack.proxy.change = (_, result) => result
    expect([status, body.error.details[0]?.code]).toEqual([503, 'proof_invalid'])
  })

  test('a document in flight gets no proof of absence', async () => {
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    const issued = await stack.issue(ADA, { prefer: 'respond-async' })
    expect(issued.status).toBe(202)
    const { publicId } = issued.body.data
    const { status, body } = await bundleOf(publicId)
    expect([status, body.error.details[0].code]).toEqual([503, 'head_behind'])
    stack.proxy.refuse = () => false
    await expect.poll(async () => (await bundleOf(publicId)).status).toBe(200)
  })

  test('refuses a node that does not advance', async () => {
    const impatient = await startStack({ MAX_HEAD_AGE_SECONDS: '1' })
    try {
      const { publicId } = (await impatient.issue(ADA)).body.data
      const path = `/v1/documents/${publicId}/bundle`
      const codeOf = async () =>
        (await impatient.request(path, { headers: { authorization } })).body.error?.details[0].code
      await expect.poll(codeOf).toBe('head_stale')
    } finally {
      await impatient.stop()
    }
  })

  test('reports that the block of the document is unavailable', async () => {
    const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
    const hash = new Uint8Array(32).fill(7)
    await send('issue', [1, hash, 0])
    const { documentKey } = keys
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey,
    })
    const { status, body } = await bundleOf(publicId)
    expect([status, body.error.code]).toEqual([503, 'unverifiable'])
    await send('revoke', [1, toHex(hash), 1])
    const bundle = await bundleOf(publicId)
    expect([bundle.status, bundle.body.sealed]).toEqual([200, null])
    const verdict = await verifyBundle(bundle.body, trusting(bundle.body))
    expect(verdict.status).toBe('revoked')
  })
})

describe('GET /v1/verify?proof=full', () => {
  const verify = (query: string) =>
    stack.request(`/v1/verify?${query}`, { headers: { authorization } })

  test('proves a record, and the absence of one', async () => {
    const { publicId } = await issue()
    const issued = (await verify(`publicId=${publicId}&proof=full`)).body.data
    expect(issued).toMatchObject({ valid: true, document: ADA_ISSUED })
    expect(issued.checks[0].code).toBe('proven')
    expect(issued.blockchainProof.transactionHash).toMatch(/^0x/)
    expect(issued.asOf.blockHash).toMatch(/^0x[0-9a-f]{64}$/)

    const never = golden.documents[0]?.publicId
    const absent = (await verify(`publicId=${never}&proof=full`)).body.data
    expect(absent).toMatchObject({ status: 'not_issued', document: null })
    expect(Object.keys(absent.blockchainProof)).toEqual([
      'chainId',
      'registry',
      'documentHash',
      'stateProof',
    ])
    for (const [id, { blockchainProof, asOf }] of [
      [publicId, issued],
      [never, absent],
    ]) {
      const bundle = {
        type: 'document-registry-bundle',
        v: 1,
        publicId: id,
        registry: stack.registry,
        batch: null,
        sealed: null,
        stateProof: blockchainProof.stateProof,
        unprovenEvent: null,
      }
      const { asOf: block } = await verifyBundle(bundle, {
        registry: stack.registry,
        trustedBlocks: [asOf.blockHash],
      })
      expect(block && { ...block, blockTime: instant(block.blockTime) }).toEqual(asOf)
    }
  })

  test('returns no proof and no block hash without it', async () => {
    const { publicId } = await issue()
    const { blockchainProof, asOf } = (await verify(`publicId=${publicId}`)).body.data
    expect(blockchainProof).not.toHaveProperty('stateProof')
    expect(asOf.blockHash).toBeNull()
  })

  test('refuses another value, or the parameter twice', async () => {
    for (const query of ['proof=half', 'proof=full&proof=full', 'proof=']) {
      const { status, body } = await verify(`publicId=x&${query}`)
      expect([status, body.error.details[0].field]).toEqual([400, 'proof'])
    }
  })
})

const ADA_ISSUED = { subjectName: ADA.subjectName }
