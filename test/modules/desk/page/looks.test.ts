import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findingsOf, isTooWide } from '../../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { takePicture } from '../../../support/pictures.ts'
import { ADA, type Stack, startStack } from '../../../support/stack.ts'
import { linkFor, openWindow } from './desk-window.ts'

/** The maximum bytes of the first screen, with everything on it. */
const MAX_BYTES = 120 * 1024
/** Milliseconds until it is there, also on a busy machine. */
const MAX_MS = 5_000

const LOOKS = {
  'phone, light': { width: 360, colorScheme: 'light', locale: 'en' },
  'phone, dark, right to left': { width: 360, colorScheme: 'dark', locale: 'ar' },
  'desktop, dark': { width: 1200, colorScheme: 'dark', locale: 'de' },
} as const

/** A name that is long, in two directions, and tries to be markup. */
const HOSTILE = `\u202E<b>${'Wolfeschlegelsteinhausen'.repeat(5)}</b> محمد`

const TABLE = `subjectName,subjectId,Grade of the whole year,issuedAt
${'Unbreakable'.repeat(15)},1,good,2026-07-01
=Bob,x,good,2026-07-01
Cleo,3,good,2026-13-01
`

/** Every screen, by what leads to it from the one before. */
const SCREENS: Record<string, (page: Page, link: string) => Promise<void>> = {
  async signIn(page, link) {
    await page.goto(link)
    await page.locator('.sign-in .primary').waitFor()
  },
  async overview(page) {
    await page.locator('.sign-in .primary').click()
    await page.locator('.numbers table.list').waitFor()
  },
  async issueBad(page) {
    await page.locator('nav a[href="#/issue"]').click()
    await page.locator('#add-entry').click()
    await page.locator('#subjectId').fill('x')
    await page.locator('#submit').click()
    await page.locator('#subjectName-problem').waitFor()
  },
  async question(page) {
    await page.locator('#subjectName').fill(HOSTILE)
    await page.locator('#subjectId').fill('77')
    await page.locator('#category').fill('diploma')
    await page.locator('#entry-0-name').fill('grade')
    await page.locator('#entry-0-value').fill('Unbreakable'.repeat(15))
    await page.locator('#submit').click()
    await page.locator('dialog').waitFor()
  },
  async issued(page) {
    await page.locator('dialog .primary').click()
    await page.locator('.pass-on').waitFor()
  },
  async document(page) {
    await page.locator('.verdict a.button').click()
    await page.locator('#check').click()
    await page.locator('.checks').waitFor()
  },
  async revoke(page) {
    await page.locator('#do-revoke').click()
    await page.locator('dialog').waitFor()
  },
  async correct(page) {
    await page.keyboard.press('Escape')
    await page.locator('#do-correct').click()
    await page.locator('#entry-0-value').fill('better')
    await page.locator('#submit').click()
    await page.locator('dialog table').waitFor()
  },
  async find(page) {
    await page.keyboard.press('Escape')
    await page.locator('nav a[href="#/find"]').click()
    await page.locator('details:has(#names-keep) summary').click()
    await page.locator('#names-keep').check()
    await page.locator('form .primary').click()
    await page.locator('table.list').waitFor()
  },
  async give(page) {
    await page.locator('nav a[href="#/table"]').click()
    await page.locator('#pasted').fill(TABLE)
  },
  async table(page) {
    await page.locator('.give form button').click()
    await page.locator('#rows').waitFor()
  },
  async results(page) {
    await page.locator('#column-2').selectOption({ index: 6 })
    await page.locator('#set-category').fill('diploma')
    await page.keyboard.press('Tab')
    await page.locator('#start:enabled').click()
    await page.locator('dialog .primary').click()
    await page.locator('#mend').waitFor()
  },
  async kind(page) {
    await page.locator('nav a[href="#/kinds"]').click()
    await page.locator('section .primary').click()
    await page.locator('input[id^=kind-name]').fill('Unbreakable'.repeat(9))
    await page.locator('#kind-category').fill('permit')
    await page.locator('#add-field').click()
    await page.locator('input[id^=kind-0-]').first().fill('Unbreakable'.repeat(9))
    await page.locator('#kind-0-type').selectOption('choice')
    await page.locator('form .primary').click()
    await page.locator('#kind-0-choices[aria-invalid=true]').waitFor()
  },
  async kinds(page) {
    await page.locator('#kind-0-choices').fill('Unbreakable'.repeat(9))
    await page.locator('#kind-0-required').check()
    await page.locator('form .primary').click()
    await page.locator('.rows .danger').waitFor()
  },
  async issueKind(page) {
    await page.locator('nav a[href="#/issue"]').click()
    await page.locator('.verdict .primary').click()
    await page.locator('#category').selectOption('permit')
    await page.locator('#submit').click()
    await page.locator('.boxed select[aria-invalid=true]').waitFor()
  },
  async removeKind(page) {
    await page.locator('nav a[href="#/kinds"]').click()
    await page.locator('.rows .danger').click()
    await page.locator('dialog').waitFor()
  },
  async people(page) {
    await page.locator('dialog .primary').click()
    await page.locator('.rows').waitFor({ state: 'detached' })
    await page.locator('nav a[href="#/people"]').click()
    await page.locator('#name').fill(HOSTILE.slice(0, 60))
    await page.locator('form .primary').click()
    await page.locator('.link').waitFor()
  },
  async programs(page) {
    await page.locator('nav a[href="#/programs"]').click()
    await page.locator('#key-label').fill(HOSTILE.slice(0, 60))
    await page.locator('#scope-verify').check()
    await page.locator('form .primary').first().click()
    await page.locator('.link').waitFor()
  },
  async me(page) {
    await page.locator('.who a').click()
    await page.locator('#label').waitFor()
  },
}

describeInBrowser('the appearance of the desk', () => {
  let stack: Stack
  let browser: Browser

  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([
      startStack({ ADDRESS_RATE_LIMIT: 'off' }),
      launchChromium(),
    ])
    await stack.issue(ADA)
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })

  test.each(Object.entries(LOOKS))(
    'every screen is accessible and fits: %s',
    async (name, { width, colorScheme, locale }) => {
      const viewport = { width, height: 800 }
      const { context, page, mishaps } = await openWindow(browser, {
        viewport,
        colorScheme,
        locale,
        reducedMotion: 'reduce',
      })
      const link = await linkFor(stack, 'administrator', { name: 'Grace <b>Hopper</b>' })
      const findings: string[] = []
      for (const [screen, reach] of Object.entries(SCREENS)) {
        await reach(page, link)
        await takePicture(page, `desk-${screen}-${name.replaceAll(/\W+/g, '-')}`)
        // The rules do not depend on the width.
        const found =
          width === 360 ? await findingsOf(page) : (await isTooWide(page)) ? ['too wide'] : []
        findings.push(...found.map((one) => `${screen}: ${one}`))
      }
      expect(findings).toEqual([])
      expect(mishaps).toEqual([])
      await context.close()
    },
  )

  test('a form can be filled in and sent with the keyboard only', async () => {
    const { context, page } = await openWindow(browser)
    await page.goto(await linkFor(stack, 'clerk'))
    await page.getByRole('button', { name: 'Sign in with this link' }).waitFor()
    const reach = async (name: string) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab')
        const label = await page.evaluate(() => {
          const { activeElement: at } = document
          const labels = at instanceof HTMLInputElement ? (at.labels ?? []) : []
          return labels[0]?.textContent ?? at?.textContent
        })
        if (label === name) return
      }
      throw new Error(`the keyboard does not reach ${name}`)
    }
    await reach('Sign in with this link')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Hello/ }).waitFor()
    await reach('Issue a document')
    await page.keyboard.press('Enter')
    for (const [label, text] of [
      ['Name', 'Ada'],
      ['Identifier', '1815'],
      ['Kind of document', 'diploma'],
    ] as const) {
      await reach(label)
      await page.keyboard.type(text)
    }
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await reach('Issue')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The document is issued' }).waitFor()
    await context.close()
  })

  test('the first screen is small, fast, and loads no other resource', async () => {
    const { context, page } = await openWindow(browser, { locale: 'de' })
    await page.goto((await linkFor(stack, 'clerk')).replace(/#.*/, ''))
    await page.locator('.sign-in').waitFor()
    const { bytes, shownAfter, others, policy } = await page.evaluate(async () => {
      const kinds = ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))
      const loaded = kinds as PerformanceResourceTiming[]
      const response = await fetch('/desk')
      return {
        bytes: loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        shownAfter: performance.now(),
        others: loaded.map(({ name }) => new URL(name).pathname),
        policy: response.headers.get('content-security-policy'),
      }
    })
    expect(bytes).toBeLessThan(MAX_BYTES)
    expect(shownAfter).toBeLessThan(MAX_MS)
    expect(others.toSorted()).toEqual([
      '/desk',
      '/desk/texts/de',
      '/v1/session',
      '/v1/session/ways',
    ])
    expect(policy).not.toContain('unsafe')
    await context.close()
  })
})
