import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as Verifier from '../../verifier/index.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'
import golden from '../vectors/documents.json' with { type: 'json' }
import mustFail from '../vectors/must-fail.json' with { type: 'json' }

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** What a browser has; nothing of Node: no `process`, no `require`, no `Buffer`. */
const WEB = {
  AbortSignal,
  atob,
  btoa,
  clearTimeout,
  crypto,
  CryptoKey,
  fetch,
  setTimeout,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  URL,
}

async function load(entry: string): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    // Fails for an import of any Node module.
    platform: 'browser',
    format: 'iife',
    globalName: 'loaded',
    target: 'es2022',
    write: false,
  })
  return runInContext(
    `${outputFiles[0]?.text}; loaded`,
    createContext({ ...WEB }),
  )
}

test('behavior: verifies with every Node module denied', async () => {
  const {
    verify,
    createChainReader,
    createFetchProvider,
    createIpfsGatewaySource,
  } = (await load(`export * from '../../verifier/index.ts'`)) as typeof Verifier
  const { publicId } = (await stack.issue(ADA)).body.data
  const verdict = await verify(publicId, {
    chain: createChainReader(
      createFetchProvider(stack.chainUrl),
      stack.registry,
    ),
    blocks: [createIpfsGatewaySource(stack.url)],
  })
  expect(verdict.valid).toBe(true)
  expect(verdict.document?.subjectName).toBe(ADA.subjectName)
})

test('behavior: the vectors hold with every Node module denied', async () => {
  const run = (await load(`
    import { fromCanonical } from '../../document/canonical.ts'
    import { hashOfCid } from '../../document/cid.ts'
    import { decodeDocument } from '../../document/document.ts'
    import { parseStrictJson } from '../../document/json.ts'
    import { decodePublicId } from '../../document/public-id.ts'
    import { open } from '../../document/sealed.ts'
    import { hexToBytes } from '@noble/hashes/utils.js'
    const bytes = (text) => new TextEncoder().encode(text)
    const opened = async (sealed, key) => decodeDocument(await open(bytes(sealed), hexToBytes(key)))
    export const good = async (vector) => {
      decodePublicId(vector.publicId)
      hashOfCid(vector.cid)
      return JSON.stringify(await opened(vector.sealed, vector.documentKey))
    }
    const decoders = {
      publicId: ({ input }) => decodePublicId(input),
      cid: ({ input }) => hashOfCid(input),
      json: ({ input }) => parseStrictJson(input),
      canonical: ({ input }) => fromCanonical(bytes(input)),
      document: ({ input }) => decodeDocument(bytes(input)),
      sealed: ({ input, documentKey }) => opened(input, documentKey),
    }
    export const codeOf = async (vector) => {
      try { await decoders[vector.format](vector); return 'taken' } catch (error) { return error.code }
    }
  `)) as {
    good: (vector: unknown) => Promise<string>
    codeOf: (vector: unknown) => Promise<string>
  }
  for (const vector of golden.documents)
    expect(JSON.parse(await run.good(vector))).toEqual(vector.document)
  for (const vector of mustFail.cases)
    expect([vector.name, await run.codeOf(vector)]).toEqual([
      vector.name,
      vector.code,
    ])
})
