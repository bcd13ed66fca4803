import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, launchChromium } from '../support/chromium.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

describeInBrowser('the page', () => {
  let stack: Stack
  let browser: Browser
  beforeAll(async () => {
    stack = await startStack()
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })

  test('default: a valid document', async () => {
    const { verifyUrl } = (await stack.issue(ADA)).body.data
    const page = await browser.newPage()
    await page.goto(verifyUrl)
    await page.locator('.verdict.good').waitFor()
    expect(await page.locator('h1').textContent()).toBe('Valid')
    expect(await page.locator('.document').textContent()).toContain(
      ADA.subjectName,
    )
    expect(page.url()).not.toContain('#')
  })
})
