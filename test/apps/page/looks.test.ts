import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Document } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { createPresentation } from '#document/presentation.ts'
import { encodePublicId } from '#document/public-id.ts'
import { readBundle } from '#verifier/index.ts'
import { LANGUAGES, type Language } from '#web/i18n.ts'
import { TEXTS } from '#web/strings/all.ts'
import { findingsOf, isTooWide } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { startWorld, type World } from '../../support/corpus/world.ts'
import { IS_LONG } from '../../support/long.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { takePicture } from '../../support/pictures.ts'
import { give, pdfOf } from './give-file.ts'
import { ISSUER, serveDidDocument } from './page-fixture.ts'
import { type PageWorld, startPageWorld } from './page-world.ts'

/** Every state that the page can be in, by a case of the corpus that brings it there. */
const STATES = {
  ask: undefined,
  valid: 'valid-all-fields',
  hostile: 'valid-hostile-text',
  not_issued: 'not-issued-hint-of-forger',
  superseded: 'superseded',
  revoked: 'revoked-key-compromise',
  suspended: 'suspended',
  set_aside: 'valid-set-aside',
  distrusted: 'distrusted',
  wrong_key: 'wrong-key',
  tampered: 'tampered-not-json',
  expired: 'expired',
  unverifiable: 'node-down',
  unread: 'payload-missing',
  malformed: 'malformed-typo',
}

/** Looks that have little in common. Colours depend on the scheme alone, not on the width. */
const LOOKS = {
  'phone, light': { width: 390, colorScheme: 'light', locale: 'en' },
  'narrowest, dark, right to left': {
    width: 320,
    colorScheme: 'dark',
    locale: 'ar',
  },
  'desktop, dark': { width: 1200, colorScheme: 'dark', locale: 'de' },
} as const
/**
 * An ordinary run looks at every state with both schemes and the narrow widths, and at every fourth
 * one on a desktop, whose scheme is that of the narrowest; `npm run test:long` looks at all.
 */
const statesOf = <T>(all: Record<string, T>, width: number): [string, T][] =>
  Object.entries(all).filter((_, i) => IS_LONG || width < 1000 || i % 4 === 1)

const ETHEREUM = 1
const DIPLOMA: Partial<Document> = {
  subjectName: 'Ada Lovelace',
  category: 'master_of_science',
  expiresAt: '2031-12-31',
  metadata: { field: 'Mathematics', grade: 'with distinction' },
}

/**
 * States that the corpus does not know: of a chain that is not for tests, of proof files, of
 * waiting.
 */
const SCENES: Record<string, (page: Page, world: PageWorld, url: string) => Promise<void>> = {
  async unconfirmed(page, world, url) {
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.unsure').waitFor()
  },
  async asking(page, world, url) {
    await page.route(`${ISSUER.uri}/**`, () => {})
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.asking').waitFor()
  },
  async real_revoked(page, world, url) {
    const { publicId, hash } = await world.issue(DIPLOMA)
    await world.revoke(hash)
    await page.goto(`${url}#${publicId}`)
    await page.locator('.bad').waitFor()
  },
  async future(page, world, url) {
    await serveDidDocument(page, world, 1)
    const issuedAt = '2999-01-01'
    const expiresAt = '2999-12-31'
    const { publicId } = await world.issue({ ...DIPLOMA, issuedAt, expiresAt })
    await page.goto(`${url}#${publicId}`)
    await page.locator('.unsure #dating').waitFor()
    await page.unrouteAll()
  },
  async real_wrong_key(page, world, url) {
    const { hash } = await world.issue(DIPLOMA)
    const documentKey = new Uint8Array(16)
    await page.goto(`${url}#${encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey })}`)
    await page.locator('.bad').waitFor()
  },
  async linked(page, world, url) {
    await serveDidDocument(page, world, 1)
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.linked').waitFor()
  },
  async denied(page, world, url) {
    await serveDidDocument(page, world, 2)
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.denied #denial').waitFor()
  },
  async pdf(page, world, url) {
    await serveDidDocument(page, world, 1)
    await givePdf(page, world, url)
    await page.locator('.linked').waitFor()
  },
  async pdf_unconfirmed(page, world, url) {
    await page.unrouteAll()
    await givePdf(page, world, url)
    await page.locator('#unconfirmed').waitFor()
  },
  async replaced(page, world, url) {
    await serveDidDocument(page, world, 1)
    const old = await world.issue(DIPLOMA)
    const newer = await world.issue({ ...DIPLOMA, supersedes: toHex(old.hash) })
    await world.supersede(old.hash)
    await page.goto(`${url}#${newer.publicId}`)
    await page.locator('.good').waitFor()
    await page.locator('#number').fill(old.publicId)
    await page.keyboard.press('Enter')
    await page.locator('.past .linked').waitFor()
  },
  async other_registry(page, world, url) {
    const { publicId } = await world.issue(DIPLOMA)
    await page.goto(`${url}#publicId=${publicId}&registry=eip155:1:0x${'12'.repeat(20)}`)
    await page.locator('.good #hint').waitFor()
  },
  async stolen_revoked(page, world, url) {
    const { publicId, hash } = await world.issue(DIPLOMA)
    await world.steal('revoke', hash)
    await page.goto(`${url}#${publicId}`)
    await page.locator('.bad #revoker').waitFor()
  },
  async stolen_released(page, world, url) {
    const { publicId, hash } = await world.issue(DIPLOMA)
    await world.suspend(hash)
    await world.steal('release', hash)
    await page.goto(`${url}#${publicId}`)
    await page.locator('.held').waitFor()
  },
  async closed(page, world, url) {
    const { publicId } = await world.issue(DIPLOMA)
    await world.setClosed(true)
    await page.goto(`${url}#${publicId}`)
    await page.locator('.verdict:not(.asking) #closed').waitFor()
    await world.setClosed(false)
  },
  async share(page, world, url) {
    await serveDidDocument(page, world, 1)
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.linked').waitFor()
    await page.locator('.share summary').click()
    await page.locator('.share .tick').first().click()
    await page.locator('.share .primary').click()
    await page.locator('.result .code').waitFor()
  },
  async excerpt(page, world, url) {
    await serveDidDocument(page, world, 1)
    await giveExcerpt(page, world, url)
    await page.locator('.linked').waitFor()
  },
  async excerpt_revoked(page, world, url) {
    await giveExcerpt(page, world, url, true)
    await page.locator('.bad').waitFor()
  },
  async missing(page, world, url) {
    world.content = 'missing'
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('[data-status=unverifiable]').waitFor()
  },
  async waiting(page, world, url) {
    world.content = 'hangs'
    await page.goto(`${url}#${(await world.issue(DIPLOMA)).publicId}`)
    await page.locator('.busy > p').waitFor()
  },
  async bundle_live(page, world, url) {
    const { publicId, hash } = await world.issue(DIPLOMA)
    const bundle = await world.bundle(publicId)
    await world.revoke(hash)
    await page.goto(url)
    await give(page, JSON.stringify(bundle))
    await page.locator('.statement').waitFor()
  },
  async bundle_unproven(page, world, url) {
    const { publicId } = await world.issue(DIPLOMA)
    const bundle = await world.bundle(publicId)
    world.node = 'hangs up'
    await page.goto(url)
    await give(page, JSON.stringify(bundle))
    await page.locator('#block').waitFor()
  },
  async bundle_alone(page, world, url) {
    const { publicId } = await world.issue(DIPLOMA)
    const bundle = await world.bundle(publicId)
    world.node = 'hangs up'
    await page.goto(url)
    await give(page, JSON.stringify(bundle))
    await page.locator('#block').fill(readBundle(bundle).block.blockHash)
    await page.keyboard.press('Enter')
    await page.locator('[data-outdated]').waitFor()
  },
}

async function givePdf(page: Page, world: PageWorld, url: string): Promise<void> {
  const { publicId } = await world.issue(DIPLOMA)
  await page.goto(url)
  await page.locator('input[type=file]').setInputFiles(pdfOf(await world.bundle(publicId)))
}

/** Drops an excerpt with the name and one entry. */
async function giveExcerpt(
  page: Page,
  world: PageWorld,
  url: string,
  isRevoked = false,
): Promise<void> {
  const { publicId, hash } = await world.issue(DIPLOMA)
  const { sealed } = await world.bundle(publicId)
  const presentation = await createPresentation({
    publicId,
    sealed: Buffer.from(sealed ?? ''),
    choose: { fields: ['subjectName', 'category'], metadata: ['grade'] },
  })
  if (isRevoked) await world.revoke(hash)
  await page.goto(url)
  await give(page, JSON.stringify(presentation))
}

describeInBrowser('the appearance of the page', () => {
  let world: World
  let live: PageWorld
  let pages: PageServer
  let browser: Browser
  beforeAll(async () => {
    ;[world, live, pages, browser] = await Promise.all([
      startWorld(Object.values(STATES).flatMap((name) => name ?? 'valid-minimal')),
      startPageWorld(ETHEREUM, ISSUER),
      startPageServer(),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await live?.stop()
    await world?.stop()
  })

  test.each(Object.entries(LOOKS))(
    'every state is accessible: %s',
    async (look, { width, colorScheme, locale }) => {
      const nameOf = (state: string) => `${look.replaceAll(/\W+/g, '-')}-${state}`
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        locale,
        reducedMotion: 'reduce',
        // For axe alone, which comes as a script.
        bypassCSP: true,
      })
      const page = await context.newPage()
      for (const [state, name] of statesOf(STATES, width)) {
        await open(page, name)
        await takePicture(page, nameOf(state))
        const findings = await findingsOf(page)
        expect([look, state, findings]).toEqual([look, state, []])
      }
      for (const [state, play] of statesOf(SCENES, width)) {
        live.node = 'answers'
        live.content = 'answers'
        await play(page, live, pages.host(live.config))
        await takePicture(page, nameOf(state))
        const findings = await findingsOf(page)
        expect([look, state, findings]).toEqual([look, state, []])
      }
      await context.close()
    },
  )

  test('names a stolen key and a closed issuer beside the verdict', async () => {
    const page = await browser.newPage({ locale: 'en' })
    const play = (state: string) => SCENES[state]?.(page, live, pages.host(live.config))
    const text = (where: string) => page.locator(where).textContent()
    live.node = 'answers'
    live.content = 'answers'
    await play('stolen_revoked')
    expect(await text('#revoker')).toMatch(
      /reported stolen from block [\d,]+ on: 0x[0-9a-f]{40}\. Ask the issuer\./,
    )
    expect(await page.locator('#closed').count()).toBe(0)
    await play('stolen_released')
    expect(await text('.verdict')).toMatch(/was released on .* with a key that is reported stolen/)
    expect(await page.locator('#revoker').count()).toBe(0)
    await play('closed')
    expect(await text('#closed')).toMatch(/has closed this issuer \(block [\d,]+/)
    expect(await text('h1')).toBe('Issued and unchanged, but nobody confirms who the issuer is')
    await page.close()
  })

  test('prints well', async () => {
    live.node = 'answers'
    live.content = 'answers'
    for (const [locale, state] of [
      ['en', 'valid-all-fields'],
      ['de', 'revoked-key-compromise'],
      ['ar', 'wrong-key'],
      ['en', undefined],
    ] as const) {
      // The width of A4 without its margins.
      const viewport = { width: 688, height: 1017 }
      const page = await browser.newPage({ locale, viewport })
      if (state) await open(page, state)
      else await SCENES.bundle_live?.(page, live, pages.host(live.config))
      await page.emulateMedia({ media: 'print' })
      await takePicture(page, `paper-${locale}-${state ?? 'bundle'}`)
      expect(await page.locator('.printed').isVisible()).toBe(true)
      await page.close()
    }
  })

  test('every language can be chosen, and the choice is saved', async () => {
    const page = await browser.newPage({
      locale: 'pt-BR',
      viewport: { width: 320, height: 800 },
    })
    await open(page, 'valid-all-fields')
    const html = page.locator('html')
    expect(await html.getAttribute('lang')).toBe('pt')
    for (const [tag, { dir }] of Object.entries(LANGUAGES)) {
      await page.locator('#language').selectOption(tag)
      expect(await html.getAttribute('lang')).toBe(tag)
      expect(await html.getAttribute('dir')).toBe(dir)
      expect(await page.locator('h1').textContent()).toBe(
        TEXTS[tag as Language]['valid.unconfirmed'],
      )
      expect(await page.locator('#language').evaluate((e) => e === document.activeElement)).toBe(
        true,
      )
      expect(await isTooWide(page)).toBe(false)
      expect(await brokenWords(page)).toEqual([])
      // What was not filled in, or is a key and no text.
      expect(await page.locator('main').textContent()).not.toMatch(
        /\{\w+\}|\b(document|trust|ask|checks|parties|printed)\.\w+/,
      )
    }
    await page.setViewportSize({ width: 1200, height: 800 })
    await takePicture(page, 'desktop')
    await page.reload()
    await page.locator('h1').waitFor()
    expect(await html.getAttribute('lang')).toBe(Object.keys(LANGUAGES).at(-1))
    await page.close()
  })

  test('works by keyboard, and without animation on request', async () => {
    const page = await browser.newPage({
      locale: 'en',
      reducedMotion: 'reduce',
    })
    await open(page, 'valid-all-fields')
    const reached: (string | undefined)[] = []
    for (let i = 0; i < 13; i++) {
      await page.keyboard.press('Tab')
      reached.push(
        await page.evaluate(() => {
          const { activeElement: e } = document
          const outline = e?.closest('.button, *')
          const seen = outline && getComputedStyle(outline).outlineStyle !== 'none'
          return seen || e?.closest('.button')
            ? e?.id || e?.textContent || e?.localName
            : `unseen ${e?.localName}`
        }),
      )
    }
    expect(reached.slice(0, 12)).toEqual([
      'language',
      '12 of 12 checks passed',
      'Print',
      'Copy the code',
      'Save the proof',
      'Share only some fields',
      'Technical details',
      'Choose whom to ask',
      'number',
      'Check',
      'Scan with the camera',
      'input',
    ])
    const moving = await page.evaluate(() => document.getAnimations().length)
    expect(moving).toBe(0)
    await page.close()
  })

  async function open(page: Page, name: string | undefined): Promise<void> {
    const one = world.cases.find((each) => each.case === (name ?? 'valid-minimal'))
    if (!one) throw new Error(`no case ${name}`)
    const { registry, rpc, ipfs, given } = one
    const fragment = given.includes('#') ? given.slice(given.indexOf('#')) : `#publicId=${given}`
    await page.goto(pages.host({ registry, rpc, ipfs }) + (name ? fragment : ''))
    await page.locator('.verdict:not(.busy), section.ask:not(.again)').waitFor()
  }

  /** @returns Words of the page's name that go over a line's end. */
  const brokenWords = (page: Page) =>
    page.locator('.brand').evaluate(({ firstChild: text }) => {
      const linesOf = (start: number, length: number) => {
        const range = new Range()
        range.setStart(text as Text, start)
        range.setEnd(text as Text, start + length)
        return range.getClientRects().length
      }
      return [...(text as Text).data.matchAll(/\S+/g)]
        .filter(({ index, 0: word }) => linesOf(index, word.length) > 1)
        .map(([word]) => word)
    })
})
