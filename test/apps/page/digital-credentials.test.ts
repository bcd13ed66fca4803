import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAnswer, readWanted, requestFor } from '#web/digital-credentials.ts'
import { findingsOf, isTooWide } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { type CorpusCase, startWorld, type World } from '../../support/corpus/world.ts'
import { bindingOf, type JwsParts } from '../../support/credentials.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { takePicture } from '../../support/pictures.ts'

const PROTOCOL = 'openid4vp-v1-unsigned'
const VCT = 'https://testville.example/v1/types/birth_certificate'

describe('the request to wallets', () => {
  test('names issuer, type and date, or the fields in the address', () => {
    expect(readWanted('?vct=a&vct=b')).toEqual({
      types: ['a', 'b'],
      fields: ['subjectName', 'category', 'issuedAt'],
    })
    const wanted = readWanted('?vct=a&field=metadata.degree&field=subjectName')
    expect(wanted?.fields).toEqual(['metadata.degree', 'subjectName'])
    expect(requestFor({ types: ['a'], fields: ['metadata.degree.of', 'category'] }, 'n')).toEqual({
      response_type: 'vp_token',
      response_mode: 'dc_api',
      nonce: 'n',
      client_metadata: {
        vp_formats_supported: {
          'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'], 'kb-jwt_alg_values': ['ES256'] },
        },
      },
      dcql_query: {
        credentials: [
          {
            id: 'document',
            format: 'dc+sd-jwt',
            meta: { vct_values: ['a'] },
            claims: [{ path: ['metadata', 'degree.of'] }, { path: ['category'] }],
          },
        ],
      },
    })
  })

  test('needs a type', () => {
    for (const query of ['', '?', '?vct=', '?field=subjectName', '?VCT=a'])
      expect(readWanted(query)).toBeUndefined()
  })
})

describe('the answer of a wallet', () => {
  const answer = (vp_token: unknown) => ({ protocol: PROTOCOL, data: { vp_token } })

  test('has one credential', () => {
    expect(readAnswer(answer({ document: ['x~'] }))).toBe('x~')
  })

  test.each([
    undefined,
    null,
    'text',
    7,
    {},
    { protocol: PROTOCOL, data: 'text' },
    { protocol: PROTOCOL, data: { error: 'invalid_request' } },
    { protocol: PROTOCOL, data: { error: 'x', vp_token: { document: ['x~'] } } },
  ])('is rejected if malformed: %j', (bad) => {
    expect(() => readAnswer(bad)).toThrow(expect.objectContaining({ problem: 'wallet' }))
  })

  test.each([
    { ...answer({ document: ['x~'] }), protocol: 'openid4vp' },
    answer(undefined),
    answer('x~'),
    answer(['x~']),
    answer({ other: ['x~'] }),
    answer({ document: 'x~' }),
    answer({ document: [] }),
    answer({ document: ['x~', 'y~'] }),
    answer({ document: [{}] }),
    answer({ document: [['x~']] }),
  ])('is rejected as another credential: %j', (bad) => {
    expect(() => readAnswer(bad)).toThrow(expect.objectContaining({ problem: 'credential' }))
  })
})

/** What the page asked for. */
type Asked = { digital: { requests: { protocol: string; data: Record<string, unknown> }[] } }
/** What the wallet does; `wrong` replaces parts of what the key of its holder signs. */
type Manner = 'decline' | 'shows' | { wrong: JwsParts } | { answers: unknown }

/** The browser's own API with its virtual wallet, which answers what the test has signed. */
describeInBrowser('a credential that the page requests from a wallet', () => {
  let world: World
  let pages: PageServer
  let browser: Browser
  let one: CorpusCase
  beforeAll(async () => {
    ;[world, pages, browser] = await Promise.all([
      startWorld(['credential-valid-all']),
      startPageServer(),
      launchChromium(),
    ])
    one = world.cases[0] as CorpusCase
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await world?.stop()
  })

  type Opened = { page: Page; asked: Asked[] }

  async function open(
    manner: Manner,
    {
      query = `?vct=${encodeURIComponent(VCT)}`,
      ...options
    }: BrowserContextOptions & {
      query?: string
    } = {},
  ): Promise<Opened> {
    const context = await browser.newContext({ locale: 'en', ...options })
    const page = await context.newPage()
    await page.route(one.domain?.address ?? '', async (route) => {
      const response = await fetch(one.domain?.served ?? '')
      const headers = Object.fromEntries(response.headers)
      await route.fulfill({ headers, body: await response.text() })
    })
    const { registry, rpc, ipfs, maxHeadAge, timeout } = one
    const address = pages.host({ registry, rpc, ipfs, maxHeadAge, timeout })
    const cdp = await context.newCDPSession(page)
    const asked: Asked[] = []
    const send = (behavior: object) =>
      cdp.send('DigitalCredentials.setVirtualWalletBehavior' as 'Page.enable', behavior as object)
    // A wallet signs the nonce of the request, so the virtual one is set up when there is a request.
    await page.exposeFunction('prepareWallet', async (request: Asked) => {
      asked.push(request)
      if (manner === 'decline') {
        await send({ action: 'decline' })
        return
      }
      const { nonce } = request.digital.requests[0]?.data ?? {}
      const shown = one.given.slice(0, one.given.lastIndexOf('~') + 1)
      const { header, payload, by } = manner !== 'shows' && 'wrong' in manner ? manner.wrong : {}
      const aud = `origin:${new URL(address).origin}`
      const binding = bindingOf(shown, { header, by, payload: { aud, nonce, ...payload } })
      const good = { vp_token: { document: [shown + binding] } }
      const response = manner !== 'shows' && 'answers' in manner ? manner.answers : good
      await send({ action: 'respond', protocol: PROTOCOL, response })
    })
    await page.addInitScript(() => {
      const get = navigator.credentials.get.bind(navigator.credentials)
      navigator.credentials.get = async (request) => {
        const { prepareWallet } = globalThis as unknown as {
          prepareWallet(request: unknown): Promise<void>
        }
        await prepareWallet(request)
        return get(request)
      }
    })
    await page.goto(address + query)
    return { page, asked }
  }

  const button = (page: Page) => page.locator('.ask .ways button', { hasText: 'wallet' })
  const lineOf = (page: Page) => page.locator('.checks li[data-check=credential]')

  async function ask(manner: Manner): Promise<Opened> {
    const opened = await open(manner)
    await button(opened.page).click()
    return opened
  }

  async function verdictOf({ page }: Opened): Promise<[string | null, string | null]> {
    await page.locator('.verdict:not(.busy)').waitFor()
    const status = await page.locator('.verdict').getAttribute('data-status')
    return [status, await lineOf(page).getAttribute('data-code')]
  }

  test('is shown for this page and this request, also after a reload', async () => {
    const opened = await ask('shows')
    expect(await verdictOf(opened)).toEqual(['valid', 'holder'])
    const { page, asked } = opened
    expect(await page.locator('.excerpt').textContent()).toContain('Ada Lovelace')
    const [{ protocol, data } = { protocol: '', data: {} }] = asked[0]?.digital.requests ?? []
    expect(protocol).toBe(PROTOCOL)
    expect(String(data.nonce)).toMatch(/^[\w-]{22}$/)
    expect(data).toEqual(
      requestFor(
        { types: [VCT], fields: ['subjectName', 'category', 'issuedAt'] },
        `${data.nonce}`,
      ),
    )
    await page.reload()
    expect(await verdictOf(opened)).toEqual(['valid', 'holder'])
    await button(page).click()
    await expect.poll(() => asked.length).toBe(2)
    expect(asked[1]?.digital.requests[0]?.data.nonce).not.toBe(data.nonce)
  })

  test.each([
    { wrong: { payload: { nonce: 'that-of-another-request' } }, code: 'holder_invalid' },
    { wrong: { payload: { aud: 'origin:https://other.example' } }, code: 'holder_invalid' },
    { wrong: { by: 'stranger' }, code: 'holder_invalid' },
  ] as const)('is not genuine when made for another request: %j', async ({ code, wrong }) => {
    const opened = await ask({ wrong })
    expect(await verdictOf(opened)).toEqual(['tampered', code])
    await opened.page.reload()
    expect(await verdictOf(opened)).toEqual(['tampered', code])
  })

  test('is not genuine without the key of the holder', async () => {
    const shown = one.given.slice(0, one.given.lastIndexOf('~') + 1)
    const opened = await ask({ answers: { vp_token: { document: [shown] } } })
    expect(await verdictOf(opened)).toEqual(['tampered', 'holder_missing'])
    expect(await lineOf(opened.page).textContent()).toContain('has signed nothing')
  })

  test.each([
    { manner: 'decline', says: 'No wallet has shown a credential.' },
    { manner: { answers: { error: 'access_denied' } }, says: 'No wallet has shown a credential.' },
    { manner: { answers: { vp_token: { document: ['x'] } } }, says: 'not a credential' },
  ] as const)('reports that the wallet has none: %j', async ({ manner, says }) => {
    const { page } = await ask(manner)
    await expect.poll(() => page.locator('#problem').textContent()).toContain(says)
    expect(await page.locator('.verdict').count()).toBe(0)
  })

  test('sends no request unless the address names a type', async () => {
    const { page } = await open('shows', { query: '' })
    await page.locator('.ask .ways label').waitFor()
    expect(await button(page).count()).toBe(0)
  })

  test('sends no request in a browser without support', async () => {
    const { page } = await open('shows')
    await button(page).waitFor()
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'DigitalCredential'))
    await page.reload()
    await page.locator('.ask .ways label').waitFor()
    expect(await button(page).count()).toBe(0)
  })

  test.each([
    { locale: 'en', colorScheme: 'light', width: 390 },
    { locale: 'ar', colorScheme: 'dark', width: 320 },
    { locale: 'de', colorScheme: 'light', width: 1_000 },
  ] as const)('is accessible: %j', async ({ width, ...options }) => {
    const { page } = await open('shows', { ...options, viewport: { width, height: 900 } })
    await page.locator('.ask .ways button').last().waitFor()
    await takePicture(page, `ask-wallet-${options.locale}`)
    expect(await findingsOf(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  })
})
