import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import { createDidDocument } from '#verifier/identity.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { serveHttp, type TestServer } from '../../support/http.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { type PageWorld, startPageWorld } from './page-world.ts'

const ETHEREUM = 1
const LOCAL = 31337
const DOMAIN = 'diploma.testville.example'
const NAME = 'University of Testville'
const UNCONFIRMED = 'Issued and unchanged, but nobody confirms who the issuer is'
const DENIED = 'The domain that the issuer names does not confirm it'
const NOT_LISTED = 'The domain of the issuer does not list the account that issued it'
const CORS = { 'access-control-allow-origin': '*' }

describeInBrowser('the identity of the issuer, on the page', () => {
  /** The issuer's own server, on loopback, as a local chain allows it. */
  let domain: TestServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let asked: IncomingMessage[]
  let world: PageWorld
  let live: PageWorld
  let pages: PageServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let publicId: string
  let host: string

  beforeAll(async () => {
    domain = await serveHttp((request, response) => {
      asked.push(request)
      answer(request, response)
    })
    host = new URL(domain.url).host
    ;[world, live, pages, browser] = await Promise.all([
      startPageWorld(LOCAL, { name: NAME, uri: domain.url }),
      startPageWorld(ETHEREUM, { name: NAME, uri: `https://${DOMAIN}` }),
      startPageServer(),
      launchChromium(),
    ])
    publicId = (await world.issue()).publicId
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await world?.stop()
    await live?.stop()
    await domain?.close()
  })
  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en' })
    page = await context.newPage()
    asked = []
    answer = serving(statement())
  })
  afterEach(() => context.close())

  const didOf = (name: string) => `did:web:${name.replace(':', '%3A')}`
  const statement = (changes: object = {}) =>
    JSON.stringify(
      createDidDocument({
        did: didOf(host),
        registry: world.config.registry,
        issuerId: 1,
        ...changes,
      }),
    )
  const serving =
    (body: string, headers: object = CORS) =>
    (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { ...headers })
      response.end(body)
    }
  const open = async (id = publicId) => {
    await page.goto(`${pages.host(world.config)}#${id}`)
    await page.locator('.verdict:not(.busy)').waitFor()
  }
  const parties = () => page.locator('.parties')
  /** The card, its title, and the title of the page agree. */
  const looks = async (tone: string, title: string) => {
    const card = page.locator('.verdict[data-status=valid]')
    expect(await card.getAttribute('class')).toBe(`verdict ${tone}`)
    expect(await card.locator('h1').textContent()).toBe(title)
    expect(await page.title()).toContain(`· ${title} ·`)
  }
  const check = (code: string) =>
    page
      .locator(`.checks li[data-check=identity][data-code=${code}]`)
      .waitFor({ state: 'attached' })

  test('shows the domain that confirms the issuer, large and with a tick', async () => {
    await open()
    const linked = parties().locator('.linked')
    await linked.waitFor()
    expect(await linked.locator('.host').textContent()).toBe(host)
    expect(await parties().textContent()).toContain(
      `This domain confirms the issuer, which calls itself ${NAME}.`,
    )
    expect(await parties().textContent()).not.toContain('not confirmed')
    await check('linked')
    const size = (selector: string) =>
      page.locator(selector).evaluate((e) => Number.parseFloat(getComputedStyle(e).fontSize))
    expect(await size('.linked .host')).toBeGreaterThan(await size('.parties .to'))
    expect(await page.locator('[role=status]').nth(1).textContent()).toBe(
      `Valid. The issuer is confirmed by the domain ${host}.`,
    )
    await looks('good', 'Valid')
  })

  test('asks without a cookie or the address of the page or the document', async () => {
    await context.addCookies([{ name: 'session', value: 'secret', url: domain.url }])
    await open()
    await parties().locator('.linked').waitFor()
    expect(asked.map(({ url }) => url)).toEqual(['/.well-known/did.json'])
    const { headers } = asked[0] ?? {}
    expect(headers).not.toHaveProperty('cookie')
    expect(headers).not.toHaveProperty('referer')
    expect(JSON.stringify(headers)).not.toContain(publicId)
  })

  test.each([
    ['denied', 'does not confirm it', { issuerId: 2 }, DENIED],
    [
      'account_not_listed',
      'but not the account that issued',
      { accounts: [`0x${'1'.repeat(40)}`] },
      NOT_LISTED,
    ],
  ] as const)('shows a denial in red: %s', async (code, words, changes, title) => {
    answer = serving(statement(changes))
    await open()
    const denial = page.locator('.verdict #denial')
    await denial.waitFor()
    expect(await denial.textContent()).toContain(words)
    expect(await denial.textContent()).toContain(host)
    await check(code)
    expect(await page.locator('.checks > ul').textContent()).toContain(code)
    // It decides no status.
    await looks('denied', title)
    expect(await page.locator('[role=status]').nth(1).textContent()).toContain(title)
    expect(await page.locator('.linked').count()).toBe(0)
    expect(await parties().locator('strong', { hasText: NAME }).count()).toBe(0)
  })

  const MOVED = { ...CORS, location: 'http://localhost/did.json' }
  test.each<[string, string, typeof answer]>([
    ['hangs up', 'unreachable', (_, response) => response.destroy()],
    ['is missing', 'unreachable', (_, response) => response.writeHead(404, CORS).end()],
    ['does not allow it', 'unreachable', (...to) => serving(statement(), {})(...to)],
    ['leads elsewhere', 'unreachable', (_, response) => response.writeHead(302, MOVED).end()],
    ['is too large', 'malformed', serving(' '.repeat(70_000))],
    ['is not JSON', 'malformed', serving('<!doctype html>')],
    ['is of another domain', 'malformed', serving('{"id":"did:web:x.example"}')],
  ])('a did.json that %s leaves the issuer unconfirmed', async (_, code, manner) => {
    answer = manner
    await open()
    await check(code)
    await looks('unsure', UNCONFIRMED)
    expect(await page.locator('[role=status]').nth(1).textContent()).toBe(
      `${UNCONFIRMED}. No domain confirms who the issuer is. The issuer calls itself ${NAME}.`,
    )
    expect(await page.locator('.linked, #denial').count()).toBe(0)
    // The name comes last, and neither it nor the address stands out.
    expect(await parties().textContent()).toMatch(/anyone can choose a name\..*calls itself/)
    expect(await parties().textContent()).toContain(host)
    const styles = await parties()
      .locator('.host strong, p:last-child bdi')
      .evaluateAll((all) => all.map((e) => getComputedStyle(e)).map((s) => Number(s.fontWeight)))
    expect(styles).toEqual([400, 400])
  })

  test('a slow domain does not delay the verdict, and is added later', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    answer = async (...to) => {
      await held
      serving(statement())(...to)
    }
    await open()
    await looks('asking', 'Issued and unchanged')
    expect(await parties().textContent()).toContain('Asking this domain')
    // What the reader does in the meantime stays.
    await page.getByText('Share only some fields').click()
    await page.getByLabel('Identifier').check()
    await page.getByText(/checks passed/).click()
    release()
    await parties().locator('.linked').waitFor()
    await looks('good', 'Valid')
    expect(await page.getByLabel('Identifier').isChecked()).toBe(true)
    expect(await page.locator('.checks details').getAttribute('open')).toBe('')
  })

  test('names no issuer and no domain when the document is not genuine', async () => {
    const { hash } = await world.issue()
    const documentKey = new Uint8Array(16)
    await open(encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey }))
    await check('linked')
    expect(await page.locator('.verdict').textContent()).not.toContain(host)
    expect(await page.locator('.parties').count()).toBe(0)
  })

  test('the reader can turn it off, and the choice is kept', async () => {
    await open()
    await page.getByText('Choose whom to ask').click()
    await page.getByLabel('Ask the issuer’s domain').uncheck()
    asked = []
    await page.getByRole('button', { name: 'Use these' }).click()
    await check('not_asked')
    expect(await parties().textContent()).toContain('has not asked it')
    await page.reload()
    await page.locator('.verdict.unsure').waitFor()
    await check('not_asked')
    expect(asked).toEqual([])
    await page.getByText('Choose whom to ask').click()
    await page.getByRole('button', { name: 'Back to those' }).click()
    await parties().locator('.linked').waitFor()
  })

  test('the server can turn it off', async () => {
    const config = { ...world.config, identity: false }
    await page.goto(`${pages.host(config)}#${publicId}`)
    await page.locator('.verdict.unsure').waitFor()
    await check('not_asked')
    expect(asked).toEqual([])
  })

  test('shows no confirmed issuer and no successor for a superseded document', async () => {
    answer = (_, response) => response.destroy()
    const { publicId, hash } = await world.issue()
    await world.supersede(hash)
    await open(publicId)
    expect(await page.locator('.verdict.past #unconfirmed').textContent()).toBe(
      'No domain confirms who the issuer is.',
    )
    expect(await page.locator('.verdict').textContent()).toContain(
      'Ask whoever gave it to you for the newer one, or the issuer.',
    )
    expect(await page.getByRole('button', { name: 'Show the newer one' }).count()).toBe(0)
  })

  test('a superseded document links to its successor if that was opened before', async () => {
    const [old, other] = [await world.issue(), await world.issue()]
    const newer = await world.issue({ supersedes: toHex(old.hash) })
    await world.supersede(old.hash)
    await world.supersede(other.hash)
    await open(newer.publicId)
    await check('linked')
    const next = async (publicId: string) => {
      await page.getByLabel('Code or link').fill(publicId)
      await page.keyboard.press('Enter')
      await page.locator('.verdict[data-status=superseded]').waitFor()
    }
    await next(other.publicId)
    expect(await page.getByRole('button', { name: 'Show the newer one' }).count()).toBe(0)
    await next(old.publicId)
    expect(await page.locator('.verdict').textContent()).not.toContain('Ask whoever')
    await page.getByRole('button', { name: 'Show the newer one' }).click()
    await page.locator('.verdict.good').waitFor()
    expect(await page.locator('.document').textContent()).toContain(toHex(old.hash))
    // It is forgotten with the page.
    page = await context.newPage()
    await open(old.publicId)
    expect(await page.getByRole('button', { name: 'Show the newer one' }).count()).toBe(0)
  })

  test('the policy lets the page ask any domain over https', async () => {
    const body = createDidDocument({
      did: didOf(DOMAIN),
      registry: live.config.registry,
      issuerId: 1,
    })
    await page.route(`https://${DOMAIN}/**`, (route) =>
      route.fulfill({ json: body, headers: CORS }),
    )
    const { publicId } = await live.issue()
    await page.goto(`${pages.host(live.config)}#${publicId}`)
    await parties().locator('.linked').waitFor()
    expect(await page.locator('.linked .host').textContent()).toBe(DOMAIN)
  })

  test('shows the path of a domain separately from its host', async () => {
    const path = `/${'a'.repeat(200)}/www.mit.example`
    const uri = `${domain.url}${path}`
    const elsewhere = await startPageWorld(LOCAL, { name: 'MIT', uri })
    try {
      const { registry } = elsewhere.config
      const did = didOf(host) + path.replaceAll('/', ':')
      answer = serving(statement({ did, registry }))
      const { publicId } = await elsewhere.issue()
      await page.goto(`${pages.host(elsewhere.config)}#${publicId}`)
      await parties().locator('.linked').waitFor()
      expect(await page.locator('.linked .host').textContent()).toBe(host)
      expect(await page.locator('.linked .path').textContent()).toBe(path)
      const isTooWide = await page.evaluate(
        () => document.documentElement.scrollWidth > window.innerWidth,
      )
      expect(isTooWide).toBe(false)
    } finally {
      await elsewhere.stop()
    }
  })

  // An impostor who names a true domain is denied by it, unless it cannot be asked.
  test('shows an address that cannot be asked as text, not as a domain', async () => {
    const uri = 'https://mit.example/?\u202eelpmaxe'
    const elsewhere = await startPageWorld(ETHEREUM, { name: 'MIT', uri })
    try {
      const { publicId } = await elsewhere.issue()
      await page.goto(`${pages.host(elsewhere.config)}#${publicId}`)
      await check('no_domain')
      expect(await parties().locator('.host, .linked').count()).toBe(0)
      expect(await parties().textContent()).toContain('https://mit.example/?%E2%80%AEelpmaxe')
    } finally {
      await elsewhere.stop()
    }
  })

  test('shows the age of the account and ignored revocations in the details', async () => {
    await open()
    await page.getByText('Technical details').click()
    const facts = await page.locator('.facts').textContent()
    expect(facts).toMatch(/since block\d+ \(\d+ blocks before it issued this\)/)
    expect(facts).toContain('Revocations set aside after a theftnone')
  })
})
