import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { showDate } from '#web/i18n.ts'
import { inWords } from '#web/views/document.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { CAN_ASK, casesOfRun } from '../../support/corpus/cut.ts'
import { type CorpusCase, startWorld, type World } from '../../support/corpus/world.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { give } from './give-file.ts'

/** What the page says where the library refuses what its reader holds. */
const PROBLEMS: Record<string, string> = {
  public_id_checksum: 'typing error',
  public_id_kind: 'does not know documents of this kind',
  public_id_malformed: 'not the code of a document',
  presentation_malformed: 'not an excerpt',
  credential_malformed: 'not a credential',
}

/** More than a domain may take; milliseconds. */
const DOMAIN_PATIENCE = 60_000

const names = casesOfRun(CAN_ASK.page).map(({ name }) => name)

/** What the page says of an event that it did not find. */
const EVENTS_MISSING = {
  'valid-events-pruned': 'was not found. That does not change',
  'valid-event-pruned-geth': 'normal for an older document',
  'valid-event-error': 'could not be looked up',
  'valid-event-contradicts': 'does not fit the record. That does not change',
}

describeInBrowser('the page judges the corpus like the other programs', () => {
  let world: World
  let pages: PageServer
  let browser: Browser
  const free: Page[] = []
  beforeAll(async () => {
    ;[world, pages, browser] = await Promise.all([
      startWorld([...names, 'payload-gone', ...Object.keys(EVENTS_MISSING)]),
      startPageServer(),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await world?.stop()
  })

  test.concurrent.each(names)('%s', async (name) => {
    const page = free.pop() ?? (await browser.newPage({ locale: 'en', reducedMotion: 'reduce' }))
    try {
      await judge(page, name)
    } finally {
      free.push(page)
    }
  })

  test('mentions that a service says it erased the content, without relying on it', async () => {
    const one = world.cases.find((each) => each.case === 'payload-gone')
    if (!one) throw new Error('no case payload-gone')
    const { registry, rpc, ipfs, given } = one
    const [service = ''] = ipfs
    const page = await browser.newPage({ locale: 'en', reducedMotion: 'reduce' })
    await page.goto(`${pages.host({ registry, rpc, ipfs, service })}#publicId=${given}`)
    const verdict = page.locator('.verdict[data-status=unverifiable]')
    await verdict.waitFor()
    expect(await verdict.textContent()).toContain('says that it has erased')
    await page.close()
  })

  test.each(Object.entries(EVENTS_MISSING))(
    'does not report a missing event (%s) as a problem with the content',
    async (name, words) => {
      const one = world.cases.find((each) => each.case === name)
      if (!one) throw new Error(`no case ${name}`)
      const page = await browser.newPage({ locale: 'en', reducedMotion: 'reduce' })
      await open(page, one)
      await page.locator('.verdict[data-status=valid]').waitFor()
      const event = page.locator('.checks li[data-check=event]')
      expect(await event.textContent()).toContain(words)
      expect(await event.textContent()).not.toContain('content')
      await page.close()
    },
  )

  async function judge(page: Page, name: string): Promise<void> {
    const one = world.cases.find((each) => each.case === name)
    if (!one) throw new Error(`no case ${name}`)
    await routeDomain(page, one)
    await open(page, one)
    if (one.presentation) await give(page, one.given, 'excerpt.json')
    if (one.credential) await give(page, one.given, 'credential.txt')
    const { expected } = one
    if ('error' in expected) {
      const problem = page.locator('#problem:not(:empty)')
      expect(await problem.textContent()).toContain(PROBLEMS[expected.error])
      return
    }
    const verdict = page.locator('.verdict:not(.busy)')
    await verdict.waitFor()
    const notPassed = await page
      .locator('.checks li:not(.pass):not([data-check=identity])')
      .evaluateAll((lines) =>
        lines.map(({ dataset, className }) => `${dataset.check} ${className} ${dataset.code}`),
      )
    expect({
      status: await verdict.getAttribute('data-status'),
      notPassed: notPassed.sort(),
      document: (await page.locator('.document dl, .document.excerpt').count()) > 0,
      hinted: (await page.locator('#hint').count()) > 0,
      setAside: (await page.locator('#set-aside').count()) > 0,
      disclosed: await disclosedOn(page),
    }).toEqual({
      status: expected.status,
      notPassed: expected.notPassed.toSorted(),
      document: expected.document,
      hinted: expected.otherRegistryHinted ?? false,
      setAside: expected.setAside ?? false,
      disclosed: valuesOf(expected.disclosed),
    })
    const identity = expected.identityInBrowser ?? expected.identity
    if (identity === undefined) return
    const [outcome, code] = identity.split(' ')
    // The verdict does not wait for the domain.
    await page
      .locator(`.checks li.${outcome}[data-check=identity][data-code=${code}]`)
      .waitFor({ state: 'attached', timeout: DOMAIN_PATIENCE })
  }

  /** Lets the page find the domain of a case, which is served elsewhere than at its address. */
  async function routeDomain(page: Page, { domain }: CorpusCase) {
    if (!domain?.address) return
    await page.route(domain.address, async (route) => {
      const response = await fetch(domain.served, { redirect: 'manual' }).catch(() => undefined)
      // Playwright adds the header, and the browser would not.
      const isOpen = response?.headers.has('access-control-allow-origin')
      if (!response || !isOpen) return route.abort()
      await route.fulfill({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      })
    })
  }

  /** @returns The values that an excerpt shows. */
  async function disclosedOn(page: Page): Promise<string[]> {
    const values = await page.locator('.excerpt dd').allTextContents()
    return values.toSorted()
  }

  /** @returns The same of what is expected, as the page writes it. */
  function valuesOf(disclosed: Record<string, unknown> = {}): string[] {
    const { metadata = {}, ...fields } = disclosed
    const shown = Object.entries(fields).map(([name, value]) => {
      const text = String(value)
      if (name === 'issuedAt' || name === 'expiresAt') return showDate(text)
      return name === 'category' ? inWords(text) : text
    })
    return [...shown, ...Object.values(metadata as object)].toSorted()
  }

  async function open(page: Page, one: CorpusCase): Promise<void> {
    const { registry, rpc, ipfs, maxHeadAge, timeout, given } = one
    const identity = one.domain !== undefined
    const address = pages.host({
      registry,
      rpc,
      ipfs,
      maxHeadAge,
      timeout,
      identity,
    })
    if (one.presentation || one.credential) {
      await page.goto(address)
      await page.locator('section.ask').waitFor()
      return
    }
    const fragment = given.includes('#')
      ? given.slice(given.indexOf('#'))
      : `#publicId=${encodeURIComponent(given)}`
    await page.goto(address + fragment)
  }
})
