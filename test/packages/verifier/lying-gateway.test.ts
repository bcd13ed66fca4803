import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { fromHex } from '#document/hex.ts'
import { instant, presentDocument, presentProof } from '#http/resources/present.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { verify } from '#verifier/verify.ts'
import { docreg } from '../../support/docreg.ts'
import { serveHttp, type TestServer } from '../../support/http.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../support/stack.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a liar answers has any shape.
type Json = any

/** A gateway that lies: everything of the real one, changed on its way. */
let liar: TestServer
let change: (path: string, body: Json) => Json
let asked: string[]

let stack: Stack
let publicId: string
let revokedId: string
beforeAll(async () => {
  stack = await startStack()
  const fields = {
    ...ADA,
    expiresAt: '2099-12-31',
    metadata: { registrar: 'Testville' },
  }
  publicId = (await stack.issue(fields)).body.data.publicId
  revokedId = (await stack.issue(fields)).body.data.publicId
  await stack.request(`/v1/documents/${revokedId}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: '{"reason":"keyCompromise"}',
  })
  liar = await serveHttp(async ({ url = '' }, response) => {
    asked.push(url)
    const headers = { authorization: `Bearer ${API_KEY}` }
    const { status, body } = await stack.request(url, { headers })
    const told = change(url, body)
    response.writeHead(told === undefined ? 404 : status)
    response.end(told instanceof Uint8Array ? told : JSON.stringify(told))
  })
})
beforeEach(() => {
  change = (_, body) => body
  asked = []
})
afterAll(async () => {
  await liar?.close()
  await stack?.stop()
})

const answerOf = async (id: string): Promise<Json> =>
  (await fetch(`${liar.url}/v1/verify?publicId=${id}`)).json()

const command = (id: string, ...more: string[]) =>
  docreg(
    [
      'verify',
      '-',
      '--json',
      '--rpc',
      stack.chainUrl,
      '--registry',
      stack.registry,
      '--ipfs',
      liar.url,
      ...more,
    ],
    { stdin: id },
  )

describe('a verifier that requests only ciphertext from the gateway', () => {
  test('tells the gateway no publicId, and does not use its verdict', async () => {
    change = (path, body) => (path.startsWith('/ipfs/') ? body : undefined)
    const { code, stdout } = await command(publicId)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).document.subjectName).toBe(ADA.subjectName)
    expect(asked).toEqual([expect.stringMatching(/^\/ipfs\/bafkrei/)])
  })

  test('does not find a revoked document valid, whatever the gateway says', async () => {
    change = (path, body) => {
      if (path.startsWith('/ipfs/')) return body
      const { data } = body
      const checks = data.checks.map((check: Json) => ({
        ...check,
        outcome: 'pass',
      }))
      const blockchainProof = {
        ...data.blockchainProof,
        revokedAt: null,
        reason: null,
      }
      return {
        ...body,
        data: {
          ...data,
          valid: true,
          status: 'valid',
          checks,
          blockchainProof,
        },
      }
    }
    expect((await answerOf(revokedId)).data.valid).toBe(true)
    const { code, stdout } = await command(revokedId)
    expect(code).toBe(1)
    expect(JSON.parse(stdout).status).toBe('revoked')
  })

  test.each<[string, (bytes: Uint8Array) => unknown]>([
    ['changed by a bit', (bytes) => bytes.map((b, i) => (i === 300 ? b ^ 1 : b))],
    ['cut off', (bytes) => bytes.subarray(0, 200)],
    ['withheld', () => undefined],
  ])('detects ciphertext that is %s', async (_, lie) => {
    change = (path, body) => (path.startsWith('/ipfs/') ? lie(body) : body)
    const { code, stdout } = await command(publicId)
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'unverifiable',
      document: null,
    })
    // The same document from somebody who is honest.
    expect((await command(publicId, '--ipfs', stack.url)).code).toBe(0)
  })

  test('rejects the ciphertext of another document', async () => {
    const other = (await stack.issue({ ...ADA, subjectName: 'Eve' })).body.data
    const cid = cidOf(fromHex(other.documentHash))
    const { body } = await stack.request(`/ipfs/${cid}?format=raw`)
    change = () => body
    const { code, stdout } = await command(publicId)
    expect(code).toBe(2)
    expect(stdout).not.toContain('Eve')
  })
})

describe("a client that checks the gateway's answer against the chain", () => {
  /**
   * Of these the chain knows nothing: the gateway's own addresses, and why it does not know what
   * the issuer's domain says (the check `identity`).
   */
  const OWN_WORD = ['document.qrCodeUrl', 'document.verifyUrl', 'checks.3.code']

  /** @returns What in an answer is not what chain and ciphertext say, by its path. */
  async function lies(id: string, { data }: Json): Promise<string[]> {
    const own = await verify(id, {
      chain: createChainReader(createFetchProvider(stack.chainUrl), stack.registry),
      blocks: [createIpfsGatewaySource(stack.url)],
      // As of the block that the answer says it is true for.
      asOf: data.asOf.blockNumber,
      finality: true,
    })
    const { document, blockchainProof: proof } = own
    const truth = {
      ...own,
      network: 'test',
      asOf: own.asOf && {
        ...own.asOf,
        blockTime: instant(own.asOf.blockTime),
      },
      blockchainProof: proof && presentProof(proof),
      document:
        document &&
        proof &&
        own.status !== 'unverifiable' &&
        presentDocument(
          {
            baseUrl: '',
            verifyUrl: '',
            registry: stack.registry,
            issuerId: 1,
            network: 'test',
          },
          document,
          {
            publicId: id,
            documentHash: proof.documentHash,
            status: own.status,
            transactionHash: proof.transactionHash,
          },
        ),
    }
    const [told, known] = [leavesOf(data), leavesOf(truth)]
    return [...new Set([...told.keys(), ...known.keys()])].filter(
      (path) => !OWN_WORD.includes(path) && told.get(path) !== known.get(path),
    )
  }

  test('finds nothing in an honest answer', async () => {
    for (const id of [publicId, revokedId]) expect(await lies(id, await answerOf(id))).toEqual([])
  })

  test('finds every changed field', async () => {
    for (const id of [publicId, revokedId]) {
      change = (_, body) => body
      const honest = await answerOf(id)
      const paths = [...leavesOf(honest.data).keys()]
      expect(paths.length).toBeGreaterThan(50)
      for (const path of paths) {
        change = (_, body) => ({ ...body, data: altered(body.data, path) })
        const answer = await answerOf(id)
        expect(answer, path).not.toEqual(honest)
        const found = await lies(id, answer)
        if (OWN_WORD.includes(path)) expect(found).toEqual([])
        else expect(found).toContain(path)
      }
    }
  })

  test('finds a missing and an added field', async () => {
    const { data } = await answerOf(publicId)
    const { metadata, ...document } = data.document
    expect(await lies(publicId, { data: { ...data, document } })).toContain(
      'document.metadata.registrar',
    )
    const added = { ...data, document: { ...document, metadata, age: '36' } }
    expect(await lies(publicId, { data: added })).toEqual(['document.age'])
    const checks = data.checks.slice(1)
    expect(await lies(publicId, { data: { ...data, checks } })).not.toEqual([])
  })
})

/** @returns The values of a JSON value that are neither object nor array, by their paths. */
function leavesOf(value: Json, path = ''): Map<string, unknown> {
  if (typeof value !== 'object' || value === null) return new Map([[path, value]])
  return new Map(
    Object.entries(value).flatMap(([key, child]) => [
      ...leavesOf(child, path === '' ? key : `${path}.${key}`),
    ]),
  )
}

/** @returns A copy with the value at a path made another one of its kind. */
function altered(value: Json, path: string): Json {
  if (path === '') return otherThan(value)
  const [key = '', ...rest] = path.split('.')
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = altered(copy[key], rest.join('.'))
  return copy
}

function otherThan(value: Json): Json {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (value === null) return 1
  // One digit of a hash or an account, one letter of a name.
  const last = value.at(-1) === '0' ? '1' : '0'
  return value.slice(0, -1) + last
}
