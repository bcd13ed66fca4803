import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as client from '#client/index.ts'
import * as document from '#document/index.ts'
import * as verifier from '#verifier/index.ts'
import { root } from '../docs/markdown.ts'
import { credentialOf } from '../support/credentials.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'

// Runs the examples in the documentation of all exported functions, against one chain and gateway.
// An example has what both packages export, and the names of `given` below. `a // => b` says that
// `a` equals `b`.

const EXPORTS: Record<string, unknown> = { ...document, ...verifier, ...client }
const EXAMPLE =
  /```ts\n([^`]*(?:`[^`]+`[^`]*)*?)\n \* ```\n \*\/\nexport (?:async )?function (\w+)/g

const sources = ['document', 'verifier', 'client'].flatMap((folder) =>
  readdirSync(join(root, 'packages', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'packages', folder, name), 'utf8')),
)
/** By the name of the function. */
const examples = new Map(
  sources.flatMap((source) =>
    [...source.matchAll(EXAMPLE)].map(([, code = '', name = '']) => [
      name,
      code.replaceAll(/^ \* ?/gm, ''),
    ]),
  ) as [string, string][],
)
const functions = Object.entries(EXPORTS)
  .filter(([, value]) => typeof value === 'function' && !(value.prototype instanceof Error))
  .map(([name]) => name)

let stack: Stack
let given: Record<string, unknown>

beforeAll(async () => {
  stack = await startStack()
  const { publicId } = (await stack.issue(ADA)).body.data
  const { hash } = document.decodePublicId(publicId)
  const read = await verifier.createIpfsGatewaySource(stack.url).get(hash)
  if (read.status !== 'found') throw new Error(read.status)
  const choose = { fields: ['subjectName'], metadata: [] }
  const presentation = await document.createPresentation({ publicId, sealed: read.bytes, choose })
  const batch = await document.buildBatch({ registry: stack.registry, issuerId: 1 }, [
    { documentHash: hash, validUntil: 0 },
  ])
  const blocks = [verifier.createIpfsGatewaySource(stack.url)]
  const { registry, provider } = stack
  given = {
    publicId,
    registry,
    sealed: read.bytes,
    presentation: JSON.stringify(presentation),
    credential: credentialOf(presentation),
    bundle: JSON.stringify(await verifier.createBundle(publicId, { provider, registry, blocks })),
    batchBlock: document.encodeBatchBlock(batch.blockAt(0)),
    issuerSecret: new Uint8Array(32).fill(7),
    apiKey: API_KEY,
  }
})
afterAll(() => stack?.stop())

test('every exported function has an example', () => {
  expect(functions.length).toBeGreaterThan(60)
  expect(functions.filter((name) => !examples.has(name))).toEqual([])
})

test.each(functions)('%s', async (name) => {
  const code = (examples.get(name) ?? '')
    .replaceAll(/https:\/\/rpc(\.\w+)?\.example/g, (_, second) =>
      second ? stack.proxy.url : stack.chainUrl,
    )
    .replaceAll(/https:\/\/(ipfs|documents)\.example/g, stack.url)
    .replaceAll(/^(.*) \/\/ => (.*)$/gm, 'expect($1).toEqual($2)')
  const scope = { ...EXPORTS, ...given, expect }
  const run = new Function(...Object.keys(scope), `return (async () => {\n${code}\n})()`)
  await run(...Object.values(scope))
})
