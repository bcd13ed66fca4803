import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ERRORS } from '#http/core/error-table.ts'
import { errorsOf } from '#http/core/operation.ts'
import { OPERATIONS } from '#modules/all.ts'
import { findingsOf } from '../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { takePicture } from '../../support/pictures.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'

/** Colours depend on the scheme alone, not on the width. */
const LOOKS = [
  { width: 320, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 1200, colorScheme: 'dark' },
] as const

describeInBrowser('the pages around the code, at the root and of the API', () => {
  let stack: Stack
  let browser: Browser
  let publicId: string
  let verifyUrl: string
  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([startStack(), launchChromium()])
    ;({ publicId, verifyUrl } = (await stack.issue(ADA)).body.data)
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })

  test('shows a page around the code to a browser', async () => {
    const page = await browser.newPage()
    const refused: string[] = []
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    page.on('console', (message) => refused.push(message.text()))
    await page.goto(`${stack.url}/qr/${publicId}`)
    const code = page.locator('img')
    expect(await code.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0)
    expect(await page.locator('.banner').textContent()).toBe(
      'Test network, or one not known to carry real documents',
    )
    expect(await page.locator('.secret').textContent()).toMatch(/can read the whole document/)
    // The code and nothing else: no script, nothing from elsewhere.
    expect(requested).toEqual([
      `${stack.url}/qr/${publicId}`,
      `${stack.url}/qr/${publicId}?format=svg`,
    ])
    expect(refused).toEqual([])

    await page.getByRole('link', { name: 'Check the document' }).click()
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(page.url().split('#')[0]).toBe(verifyUrl.split('#')[0])
    await page.close()
  })

  test.each(['svg', 'png'])(
    'saves the code as %s, under a name without the publicId',
    async (format) => {
      const page = await browser.newPage()
      await page.goto(`${stack.url}/qr/${publicId}`)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator(`a[download$=${format}]`).click(),
      ])
      expect(download.suggestedFilename()).toBe(`document-qr-code.${format}`)
      const saved = readFileSync(await download.path())
      expect(saved.subarray(0, 4).toString('latin1')).toBe(format === 'svg' ? '<svg' : '\x89PNG')
      await page.close()
    },
  )

  test('the page opened from the code gets no referrer', async () => {
    const page = await browser.newPage()
    await page.goto(`${stack.url}/qr/${publicId}`)
    await page.getByRole('link', { name: 'Check the document' }).click()
    await page.locator('.verdict[data-status=valid]').waitFor()
    expect(await page.evaluate(() => document.referrer)).toBe('')
    await page.close()
  })

  test('the landing page leads to the verify page', async () => {
    const page = await browser.newPage()
    await page.goto(`${stack.url}/`)
    expect(await page.locator('main').textContent()).toContain(stack.registry)
    for (const href of await page
      .locator('main a')
      .evaluateAll((links) => links.map((a) => (a as HTMLAnchorElement).href)))
      expect((await fetch(href)).status, href).toBe(200)
    await page.getByRole('link', { name: 'Check a document' }).click()
    await page.locator('section.ask').waitFor()
    await page.close()
  })

  test.each(['/verfy', '/verify/', '/Verify', `/verify/${'x'.repeat(40)}`, '/v1/nothing'])(
    'a mistyped address helps a browser, and gives a program an error: %s',
    async (path) => {
      const page = await browser.newPage()
      const response = await page.goto(stack.url + path)
      expect(response?.status()).toBe(404)
      const headers = (await response?.allHeaders()) ?? {}
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.vary).toBe('Accept')
      expect(await page.locator('h1').textContent()).toBe('There is nothing at this address')
      expect(await page.locator('main').textContent()).not.toContain('x'.repeat(40))
      await page.getByRole('link', { name: 'Check a document' }).click()
      await page.locator('section.ask').waitFor()
      await page.close()
      for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
        const answer = await fetch(stack.url + path, { headers: { accept } })
        expect(answer.status).toBe(404)
        expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } })
      }
    },
  )

  test('a mistyped address of a QR code helps a browser, and gives a program an error', async () => {
    const page = await browser.newPage()
    const path = '/qr/1-2-mistyped'
    expect((await page.goto(stack.url + path))?.status()).toBe(404)
    expect(await page.locator('h1').textContent()).toBe('There is nothing at this address')
    await page.close()
    const answer = await fetch(stack.url + path, { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'bad_public_id' } })
  })

  test('the reference has every operation, and loads no other resource', async () => {
    const page = await browser.newPage()
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await page.goto(`${stack.url}/docs`)
    for (const { operationId, summary } of OPERATIONS)
      expect(await page.locator(`section#${operationId} h3`).textContent()).toBe(summary)
    const described = new Set<string>(OPERATIONS.flatMap(errorsOf))
    for (const [code, { status }] of Object.entries(ERRORS)) {
      const text = await page.locator(`section#error-${code} p`).first().textContent()
      expect(text, code).toMatch(new RegExp(`^${status},`))
      const links = await page.locator(`.answer a[href="#error-${code}"]`).count()
      expect([code, links > 0]).toEqual([code, described.has(code)])
    }
    const targets = await page
      .locator('main a[href^="#"]')
      .evaluateAll((links) => links.map((a) => a.getAttribute('href')?.slice(1) ?? ''))
    expect(targets.length).toBeGreaterThan(OPERATIONS.length)
    const missing = await page.evaluate(
      (ids) => ids.filter((id) => document.getElementById(id) === null),
      targets,
    )
    expect(missing).toEqual([])
    expect(requested).toEqual([`${stack.url}/docs`])
    await page.close()
  })

  test.each(LOOKS)('are accessible: $width, $colorScheme', async ({ width, colorScheme }) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme,
      // For axe alone, which comes as a script.
      bypassCSP: true,
    })
    const page = await context.newPage()
    for (const [name, path] of [
      ['home', '/'],
      ['lost', '/verfy'],
      ['qr', `/qr/${publicId}`],
      ['docs', '/docs'],
    ]) {
      await page.goto(`${stack.url}${path}`)
      expect([name, await findingsOf(page)]).toEqual([name, []])
      await takePicture(page, `${name}-${width}-${colorScheme}`)
    }
    await context.close()
  })

  test('the code prints on one page, without buttons', async () => {
    const page = await browser.newPage()
    await page.goto(`${stack.url}/qr/${publicId}`)
    const pdf = await page.pdf({ format: 'A4' })
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.button:visible').count()).toBe(0)
    expect(await page.locator('img').isVisible()).toBe(true)
    await takePicture(page, 'qr-print')
    await page.close()
  })
})
