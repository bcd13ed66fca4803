import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as Verifier from '#verifier/index.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'
import type * as Runner from '../../support/vector-runner.ts'
import { VECTOR_COUNT, VECTORS } from '../../support/vectors.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

/** What a browser has; nothing of Node: no `process`, no `require`, no `Buffer`. */
const WEB = {
  AbortSignal,
  atob,
  Blob,
  btoa,
  clearTimeout,
  crypto,
  CryptoKey,
  DecompressionStream,
  fetch,
  setTimeout,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  URL,
  URLSearchParams,
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
  // Firefox has these since the end of 2023.
  const older = 'delete String.prototype.isWellFormed; delete String.prototype.toWellFormed;'
  return runInContext(`${older}${outputFiles[0]?.text}; loaded`, createContext({ ...WEB }))
}

test('verifies with every Node module denied', async () => {
  const { verify, createChainReader, createFetchProvider, createIpfsGatewaySource } = (await load(
    `export * from '#verifier/index.ts'`,
  )) as typeof Verifier
  const { publicId } = (await stack.issue(ADA)).body.data
  const verdict = await verify(publicId, {
    chain: createChainReader(createFetchProvider(stack.chainUrl), stack.registry),
    blocks: [createIpfsGatewaySource(stack.url)],
  })
  expect(verdict.valid).toBe(true)
  expect(verdict.document?.subjectName).toBe(ADA.subjectName)
})

test('the vectors hold with every Node module denied', async () => {
  const { runVectors } = (await load(
    `export * from '../../support/vector-runner.ts'`,
  )) as typeof Runner
  expect(await runVectors(VECTORS)).toEqual({ wrong: [], tried: VECTOR_COUNT })
})
