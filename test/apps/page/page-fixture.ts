import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createDidDocument } from '#verifier/identity.ts'
import { launchChromium } from '../../support/chromium.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { type PageWorld, startPageWorld } from './page-world.ts'

/**
 * Shared by all tests of a file, except for `context` and `page`, which are separate for each test.
 */
export type PageFixture = {
  world: PageWorld
  pages: PageServer
  browser: Browser
  context: BrowserContext
  page: Page
}

const ETHEREUM = 1
export const ISSUER = {
  name: 'University of Testville',
  uri: 'https://diploma.testville.example',
}

/** Starts a world on a chain that is not for tests. */
export const startLiveWorld = () => startPageWorld(ETHEREUM, ISSUER)

/**
 * Starts a chain, the page's server and a browser for the tests around the call.
 *
 * @returns An object whose members are set once a test runs.
 */
export function usePage(): PageFixture {
  const fixture = {} as PageFixture
  beforeAll(async () => {
    const [world, pages, browser] = await Promise.all([
      startLiveWorld(),
      startPageServer(),
      launchChromium(),
    ])
    Object.assign(fixture, { world, pages, browser })
  })
  afterAll(async () => {
    await fixture.browser?.close()
    await fixture.pages?.close()
    await fixture.world?.stop()
  })
  beforeEach(async () => {
    fixture.context = await fixture.browser.newContext({ locale: 'en' })
    await serveDidDocument(fixture.context, fixture.world, 1)
    fixture.page = await fixture.context.newPage()
    fixture.world.node = 'answers'
    fixture.world.content = 'answers'
  })
  afterEach(() => fixture.context.close())
  return fixture
}

/**
 * Answers for the issuer's domain, in place of earlier answers.
 *
 * @param issuerId The issuer that the domain names.
 */
export async function serveDidDocument(
  browser: BrowserContext | Page,
  { config: { registry } }: PageWorld,
  issuerId: number,
): Promise<void> {
  const did = `did:web:${new URL(ISSUER.uri).host}`
  const json = createDidDocument({ did, registry, issuerId })
  const headers = { 'access-control-allow-origin': '*' }
  await browser.unrouteAll()
  await browser.route(`${ISSUER.uri}/**`, (route) => route.fulfill({ json, headers }))
}
