import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBundle } from '#verifier/bundle.ts'
import type * as Verifier from '#verifier/index.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { serveHttp, type TestServer } from '../../support/http.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../support/stack.ts'
import type * as Runner from '../../support/vector-runner.ts'
import { VECTOR_COUNT, VECTORS } from '../../support/vectors.ts'

declare const library: typeof Verifier & typeof Runner

describeInBrowser('the library in Chromium', () => {
  let stack: Stack
  let site: TestServer
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    stack = await startStack()
    browser = await launchChromium()
    site = await serveHttp((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>library</title>')
    })
    const { outputFiles } = await build({
      stdin: {
        contents: `export * from '#verifier/index.ts'
          export * from '../../support/vector-runner.ts'`,
        resolveDir: import.meta.dirname,
        loader: 'ts',
      },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'library',
      target: 'es2022',
      write: false,
    })
    page = await browser.newPage()
    await page.goto(site.url)
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await stack?.stop()
  })

  test('passes every vector', async () => {
    const outcome = await page.evaluate((vectors) => library.runVectors(vectors), VECTORS)
    expect(outcome).toEqual({ wrong: [], tried: VECTOR_COUNT })
  })

  test('verifies a document straight from chain and block', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const status = await page.evaluate(
      async ({ publicId, rpc, registry, ipfs }) => {
        const { createChainReader, createFetchProvider, createIpfsGatewaySource, verify } = library
        const { status } = await verify(publicId, {
          chain: createChainReader(createFetchProvider(rpc), registry),
          blocks: [createIpfsGatewaySource(ipfs)],
          signal: new AbortController().signal,
        })
        return status
      },
      {
        publicId,
        rpc: stack.chainUrl,
        registry: stack.registry,
        ipfs: stack.url,
      },
    )
    expect(status).toBe('valid')
  })

  test('verifies a bundle offline', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    const { body } = await stack.request(`/v1/documents/${publicId}/bundle`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const { registry } = stack
    const trustedBlocks = [readBundle(body).block.blockHash]
    await page.context().setOffline(true)
    try {
      const verdict = await page.evaluate(
        ({ text, registry, trustedBlocks }) =>
          library.verifyBundle(text, { registry, trustedBlocks }),
        { text: JSON.stringify(body), registry, trustedBlocks },
      )
      expect(verdict.status).toBe('valid')
      expect(verdict.document?.subjectName).toBe(ADA.subjectName)
    } finally {
      await page.context().setOffline(false)
    }
  })
})
