import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { readVerifyPage } from '#http/pages/verify-page.ts'
import type { PageConfig } from '#web/config.ts'
import { LANGUAGES } from '#web/i18n.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { type PageWorld, startPageWorld } from './page-world.ts'

const ETHEREUM = 1
const SEPOLIA = 11155111
const HOST = 'diploma.university-of-testville.example'
const ISSUER = {
  name: 'University of Testville',
  uri: `https://${HOST}/registry`,
}
const WARNING = 'Test network, or one not known to carry real documents'

/** @returns Its text as it is seen: without what is folded away. */
function visible(place: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: what is not seen must not be in it.
  return place.innerText()
}

describeInBrowser('the first screen on a phone', () => {
  let world: PageWorld
  let testWorld: PageWorld
  let pages: PageServer
  let browser: Browser
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    ;[world, testWorld, pages, browser] = await Promise.all([
      startPageWorld(ETHEREUM, ISSUER),
      startPageWorld(SEPOLIA, ISSUER),
      startPageServer(),
      launchChromium(),
    ])
    // These tests are not about the domain, and it is not on loopback.
    for (const { config } of [world, testWorld]) config.identity = false
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await testWorld?.stop()
    await world?.stop()
  })
  beforeEach(async () => {
    context = await browser.newContext({
      locale: 'en',
      viewport: { width: 320, height: 640 },
    })
    page = await context.newPage()
    world.node = 'answers'
    world.content = 'answers'
  })
  afterEach(() => context.close())

  const open = async (publicId: string, status: string, config: PageConfig = world.config) => {
    await page.goto(`${pages.host(config)}#${publicId}`)
    const card = page.locator(`.verdict[data-status=${status}]`)
    await card.waitFor()
    return card
  }
  const seen = () => visible(page.locator('main'))

  test('icon and title share a line, followed by issuer and subject', async () => {
    const { publicId } = await world.issue()
    const card = await open(publicId, 'valid')
    const title = page.locator('h1')
    const [seal, words] = await Promise.all([
      page.locator('.seal').boundingBox(),
      title.boundingBox(),
    ])
    if (!seal || !words) throw new Error('not seen')
    expect(seal.x + seal.width).toBeLessThan(words.x)
    expect(words.y).toBeLessThan(seal.y + seal.height)
    expect(seal.y).toBeLessThan(words.y + words.height)
    expect(await title.textContent()).toBe(
      'Issued and unchanged, but nobody confirms who the issuer is',
    )
    const parties = page.locator('.head + .parties')
    expect(await parties.locator('p').allTextContents()).toEqual([
      'Issued to Ada Lovelace.',
      HOST,
      '/registry',
      'This is the address that it names. This page has not asked it. Compare it with the address that you know: anyone can choose a name.',
      'The issuer calls itself University of Testville.',
    ])
    expect(await parties.locator('strong').allTextContents()).toEqual(['Ada Lovelace', HOST])
    expect(await visible(card)).toContain('Checked just now')
    // All of it without scrolling.
    expect((await card.boundingBox())?.height).toBeLessThan(560)
  })

  test('the header shows the host of the page and asks to compare it', async () => {
    const { publicId } = await world.issue()
    await open(publicId, 'valid')
    const header = page.locator('header')
    expect(await header.locator('.host').textContent()).toBe(new URL(pages.url).host)
    expect(await visible(header)).toContain('address bar show the same?')
    await page.emulateMedia({ media: 'print' })
    expect(await header.locator('.host').isVisible()).toBe(false)
  })

  test('the document names the one that it supersedes, on the first screen', async () => {
    const supersedes: Hex = `0x${'09af'.repeat(16)}`
    const { publicId } = await world.issue({ supersedes })
    await open(publicId, 'valid')
    expect(await visible(page.locator('.document'))).toMatch(
      new RegExp(`Replaces the document with the hash\\s+${supersedes}`),
    )
    const isTooWide = () => document.documentElement.scrollWidth > innerWidth
    expect(await page.evaluate(isTooWide)).toBe(false)
  })

  test('the number of the block is in the details', async () => {
    const { publicId } = await world.issue()
    await open(publicId, 'valid')
    expect(await seen()).not.toMatch(/block \d/i)
    await page.getByText('Technical details').click()
    expect(await seen()).toMatch(/Block \d+, \w+ \d+, \d{4}/)
    expect(await seen()).toContain(ISSUER.uri)
  })

  test('passed checks take one line; failed ones are listed', async () => {
    const { publicId, hash } = await world.issue()
    await open(publicId, 'valid')
    expect(await visible(page.locator('.checks'))).toMatch(
      /^What was checked\s+12 of 12 checks passed$/,
    )
    await page.getByText('12 of 12').click()
    expect(await visible(page.locator('.checks'))).toContain('not_revoked')
    await world.revoke(hash)
    await page.reload()
    await page.locator('.verdict.bad').waitFor()
    expect(await visible(page.locator('.checks'))).toMatch(
      /has been revoked\. revoked\s+11 of 12 checks passed$/,
    )
  })

  test('a long host of the issuer stays on one line', async () => {
    const { publicId } = await world.issue()
    await open(publicId, 'valid')
    const host = page.locator('.address .host')
    expect(await host.textContent()).toBe(HOST)
    const { lines, tooWide, isEndSeen } = await host.evaluate((e) => {
      const name = e.firstElementChild ?? e
      const range = new Range()
      range.selectNodeContents(name)
      const end = name.getBoundingClientRect().right
      return {
        lines: range.getClientRects().length,
        tooWide: document.documentElement.scrollWidth > innerWidth,
        isEndSeen: end <= e.getBoundingClientRect().right + 1,
      }
    })
    expect([lines, tooWide, isEndSeen]).toEqual([1, false, true])
  })

  test('names no issuer when the code does not open the document', async () => {
    const { hash } = await world.issue()
    const documentKey = new Uint8Array(16)
    const forged = encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey,
    })
    const card = await open(forged, 'wrong_key')
    expect(await page.locator('h1').textContent()).toBe('This code does not open the document')
    expect(await visible(card)).not.toContain('Testville')
    expect(await seen()).not.toContain('Testville')
    expect(await seen()).not.toContain('testville')
  })

  test('distinguishes missing content from a missing record', async () => {
    const { publicId } = await world.issue()
    world.content = 'missing'
    const card = await open(publicId, 'unverifiable')
    const text = await visible(card)
    expect(text).toMatch(
      /^Could not be checked\s+No domain confirms who the issuer is\.\s+The registry has a record of \w+ \d+, \d{4}\./,
    )
    expect(text).toContain('its content is unavailable')
    expect(text).not.toContain('This says nothing about the document')
  })

  test('shows header and "Checking" before the script has loaded', async () => {
    const { html, policy } = readVerifyPage(world.config)
    const [first = '', rest = ''] = html.split(/(?=<script>)/)
    let finish = () => {}
    const server = createServer((_, response) => {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
      })
      response.write(first)
      finish = () => response.end(rest)
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const { publicId } = await world.issue()
    await page.goto(`http://127.0.0.1:${port}/#${publicId}`, {
      waitUntil: 'commit',
    })
    await page.locator('h1', { hasText: 'Checking …' }).waitFor()
    expect(await visible(page.locator('header'))).toBe('Document check')
    finish()
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(await page.locator('header').count()).toBe(1)
    expect(await page.locator('main').count()).toBe(1)
    server.closeAllConnections()
    server.close()
  })

  test('after 4 s it says that it waits for the node', async () => {
    const { publicId } = await world.issue()
    world.node = 'hangs'
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1_000)
    await open(publicId, 'checking')
    await page.clock.runFor(3_900)
    expect(await visible(page.locator('.verdict'))).toBe('Checking …')
    await page.clock.runFor(200)
    const host = new URL(world.config.rpc[0] ?? '').host
    const text = `Still waiting for the blockchain: no answer from ${host} yet.`
    expect(await visible(page.locator('.verdict'))).toContain(text)
    expect(await page.locator('[role=status]').first().textContent()).toBe(text)
    world.node = 'answers'
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(await seen()).not.toContain('Still waiting')
  })

  test('after 4 s it says that it waits for the content', async () => {
    const { publicId } = await world.issue()
    world.content = 'hangs'
    await open(publicId, 'checking')
    await page.locator('.verdict', { hasText: 'waiting for the content' }).waitFor()
    world.content = 'answers'
    await page.locator('.verdict[data-status=valid]').waitFor()
  })

  test.each(Object.keys(LANGUAGES))(
    'prints one page that says where and when it was checked: %s',
    async (locale) => {
      await page.close()
      page = await browser.newPage({ locale })
      const metadata = Object.fromEntries(
        Array.from({ length: 8 }, (_, i) => [`entry ${i}`, `value ${i}`]),
      )
      const { publicId } = await testWorld.issue({ metadata })
      await open(publicId, 'valid', testWorld.config)
      const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
      expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
      await page.emulateMedia({ media: 'print' })
      const printed = await visible(page.locator('.printed'))
      expect(printed).toContain(new URL(pages.url).host)
      expect(printed).toMatch(/\d{1,2}:\d{2}:\d{2}.*UTC/)
      expect(printed).toContain(testWorld.config.registry)
      expect(await page.locator('.network').isVisible()).toBe(true)
      expect(await page.locator('.parties').isVisible()).toBe(true)
      expect(await seen()).not.toContain(publicId)
      await page.close()
    },
  )

  test('shows the banner for every verdict of a test network, and for no other', async () => {
    const issued = await testWorld.issue()
    const revoked = await testWorld.issue()
    await testWorld.revoke(revoked.hash)
    const absent = await world.issue()
    for (const [publicId, status] of [
      [issued.publicId, 'valid'],
      [revoked.publicId, 'revoked'],
      [absent.publicId, 'not_issued'],
    ] as const) {
      const card = await open(publicId, status, testWorld.config)
      expect(await visible(card.locator('.network'))).toBe(WARNING)
      expect(await page.title()).toMatch(/^Test or unknown network · /)
      expect(await page.locator('[role=status]').first().textContent()).toMatch(
        new RegExp(`^${WARNING}\\. `),
      )
    }
    await open(absent.publicId, 'valid')
    expect(await seen()).not.toContain(WARNING)
    // The page's own configuration may name it live; a link may not.
    await open(issued.publicId, 'valid', { ...testWorld.config, liveChains: [SEPOLIA] })
    expect(await seen()).not.toContain(WARNING)
    const link = `publicId=${issued.publicId}&registry=${testWorld.config.registry}`
    for (const named of [`liveChains=${SEPOLIA}`, `live-chain=${SEPOLIA}`]) {
      await page.goto('about:blank')
      const forged = await open(`${link}&${named}`, 'valid', testWorld.config)
      expect(await visible(forged.locator('.network'))).toBe(WARNING)
    }
    testWorld.node = 'hangs up'
    const card = await open(issued.publicId, 'unverifiable', testWorld.config)
    expect(await card.locator('.network').isVisible()).toBe(true)
    testWorld.node = 'answers'
  })

  test('a document that was never issued cannot be printed from the page', async () => {
    const print = page.getByRole('button', { name: 'Print' })
    await open((await world.issue()).publicId, 'valid')
    expect(await print.count()).toBe(1)
    await open((await testWorld.issue()).publicId, 'not_issued')
    expect(await print.count()).toBe(0)
  })

  test('sorts numbers in the names of entries by value', async () => {
    const metadata = { module_10: 'j', module_9: 'i', module_1: 'a', Module_2: 'b' }
    await open((await world.issue({ metadata })).publicId, 'valid')
    const names = page.locator('.document h3 + dl dt')
    const sorted = ['module_1', 'Module_2', 'module_9', 'module_10']
    expect(await names.allTextContents()).toEqual(sorted)
    const boxes = await page.locator('.share .name bdi').allTextContents()
    expect(boxes).toEqual(sorted)
  })

  test.each([
    [['en-US'], 'January 31, 2026'],
    [['en-GB'], '31 January 2026'],
    [['de-AT', 'en'], '31. Jänner 2026'],
    // The page has no Dutch: English, as it is written in the Netherlands.
    [['nl-NL'], '31 January 2026'],
    // Another calendar by default there.
    [['ar-SA'], '31 يناير 2026'],
  ])('writes dates for the region of the reader: %s', async (languages, date) => {
    await page.addInitScript((tags) => {
      Object.defineProperty(navigator, 'languages', { value: tags })
    }, languages)
    const { publicId } = await world.issue({ issuedAt: '2026-01-31' })
    await open(publicId, 'valid')
    const shown = await page.locator('.document').textContent()
    const digits = (text: string) =>
      text.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    expect(digits(shown ?? '')).toContain(date)
  })

  test('shows a date in the future without changing the status', async () => {
    const { publicId } = await world.issue({ issuedAt: '2999-01-01' })
    const card = await open(publicId, 'valid')
    expect(await card.getAttribute('class')).toBe('verdict unsure')
    expect(await visible(card.locator('#dating'))).toBe(
      'This document is dated in the future: January 1, 2999.',
    )
    expect(await page.locator('[role=status]').first().textContent()).toContain(
      'dated in the future',
    )
    expect(await visible(page.locator('.checks li.fail'))).toContain('in_future')
    await open((await world.issue()).publicId, 'valid')
    expect(await page.locator('#dating').count()).toBe(0)
  })

  test('accepts the address in a QR code', async () => {
    const { publicId } = await world.issue()
    expect(decodePublicId(publicId).kind).toBe('single')
    await page.goto(pages.host(world.config))
    await page.getByLabel('Code or link').fill(`https://issuer.example/qr/${publicId}?format=png`)
    await page.keyboard.press('Enter')
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(page.url()).not.toContain(publicId)
  })
})
