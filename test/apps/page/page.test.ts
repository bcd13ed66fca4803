import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'
import { transact } from '../../support/transact.ts'

/** The one thing that is asked of anybody else. */
const DID_DOCUMENT = 'https://testville.example/.well-known/did.json'

/** The domain cannot be asked. */
const UNCONFIRMED = 'Issued and unchanged, but nobody confirms who the issuer is'

/** Text that attacks who shows it as anything but text. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '</title><script>alert(1)</script>',
  '</bdi></dd><iframe srcdoc="<script>alert(1)</script>">',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attack.
  '${alert(1)}',
  '&lt;b&gt;&amp;',
  '<style>*{display:none}</style>',
  '<base href=//forger.example>',
  '\u202Edilav si siht\u202C',
  'line\nline\t\u0000\u001b[31m',
  '<a href="https://forger.example" target=_top>Valid</a>',
]

describeInBrowser('the page, served by the gateway', () => {
  let stack: Stack
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let requests: Request[]
  let mishaps: string[]

  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([startStack(), launchChromium()])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })
  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en' })
    page = await context.newPage()
    requests = []
    mishaps = []
    page.on('request', (request) => requests.push(request))
    page.on('pageerror', (error) => mishaps.push(String(error)))
    page.on('dialog', (dialog) => {
      mishaps.push(dialog.message())
      dialog.dismiss()
    })
    page.on('console', (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) mishaps.push(message.text())
    })
  })
  afterEach(async () => {
    stack.proxy.refuse = () => false
    await context.close()
    expect(mishaps).toEqual([])
  })

  const issue = async (fields: object = {}) => {
    const { status, body } = await stack.issue({ ...ADA, ...fields })
    expect(status).toBe(201)
    return body.data as { publicId: string; verifyUrl: string }
  }
  const focused = () => page.evaluate(() => document.activeElement?.id)
  const verdict = async (status: string) => {
    await page.locator(`.verdict[data-status=${status}]`).waitFor()
    return page.locator('h1')
  }

  test('shows a valid document', async () => {
    const { verifyUrl } = await issue({ metadata: { registrar: 'Testville' } })
    await page.goto(verifyUrl)
    await page.locator('.verdict.unsure[data-status=valid]').waitFor()
    expect(await page.locator('h1').textContent()).toBe(UNCONFIRMED)
    const shown = await page.locator('main').textContent()
    for (const text of [
      'Ada Lovelace',
      '18151210',
      'Birth certificate',
      'January 31, 2026',
      'registrar',
      'Registry office of Testville',
      'testville.example',
      stack.registry,
    ])
      expect(shown).toContain(text)
    expect(await page.title()).toBe(`Test or unknown network · ${UNCONFIRMED} · Document check`)
    expect(await page.locator('[role=status]').first().textContent()).toMatch(
      /^Test network, or one not known to carry real documents\. Issued and unchanged\. /,
    )
    expect(await page.locator('[role=status]').nth(1).textContent()).toContain(UNCONFIRMED)
  })

  test('secrets do not leave the browser and leave no trace in it', async () => {
    const { publicId, verifyUrl } = await issue()
    const { hash, documentKey } = decodePublicId(publicId)
    await page.goto(verifyUrl)
    await verdict('valid')
    await page.getByText('It could not be asked').waitFor()
    const secrets = [
      publicId,
      toHex(documentKey).slice(2),
      Buffer.from(documentKey).toString('base64'),
      Buffer.from(documentKey).toString('base64url'),
      'Lovelace',
      ADA.subjectId,
    ]
    const sent = await Promise.all(
      requests.map(async (request) => [
        // The fragment is in Playwright's word for the address, and not in what is sent.
        request.url().replace(/#.*/, ''),
        request.postData() ?? '',
        JSON.stringify(await request.allHeaders()),
      ]),
    )
    for (const secret of secrets) expect(sent.flat().join('\n')).not.toContain(secret)
    expect(sent.map(([, , headers]) => headers).join()).not.toMatch(/"referer":"[^"]/)
    const urls = sent.map(([url = '']) => url)
    const isOwn = (url: string) => url.startsWith(stack.url)
    const paths = new Set(urls.filter(isOwn).map((url) => url.slice(stack.url.length)))
    const elsewhere = urls.filter((url) => !isOwn(url))
    const kind = `/v1/types/1/${ADA.category}`
    expect(paths).toEqual(new Set(['/verify', '/rpc', `/ipfs/${cidOf(hash)}?format=raw`, kind]))
    expect(elsewhere).toEqual([DID_DOCUMENT])
    const traces = await page.evaluate(() =>
      JSON.stringify([
        location.href,
        document.title,
        document.cookie,
        { ...localStorage },
        { ...sessionStorage },
      ]),
    )
    for (const secret of secrets) expect(traces).not.toContain(secret)
  })

  test('a reload shows the same document again', async () => {
    await page.goto((await issue()).verifyUrl)
    await verdict('valid')
    await page.reload()
    await verdict('valid')
  })

  test('another fragment opens another document', async () => {
    const [one, other] = [await issue(), await issue()]
    await page.goto(one.verifyUrl)
    await verdict('valid')
    await transact(stack.provider, stack.registry, stack.issuerKey, 'revoke', [
      1,
      toHex(decodePublicId(other.publicId).hash),
      1,
    ])
    await page.evaluate((fragment) => {
      location.hash = fragment
    }, `publicId=${other.publicId}`)
    const title = await verdict('revoked')
    expect(await title.textContent()).toBe('Revoked')
    expect(await page.locator('.verdict').textContent()).toMatch(
      /on \w+ \d+, \d{4}\. Reason: a key was compromised\./,
    )
  })

  test('accepts a typed code in any form', async () => {
    const { publicId, verifyUrl } = await issue()
    for (const text of [
      publicId,
      ` ${publicId.slice(0, 20)}\n${publicId.slice(20)} `,
      verifyUrl,
      `https://other.example/v#publicId=${publicId}`,
    ]) {
      await page.goto(`${stack.url}/verify`)
      await page.getByLabel('Code or link').fill(text)
      await page.keyboard.press('Enter')
      await verdict('valid')
      expect(await focused()).toBe('verdict')
      await page.evaluate(() => history.replaceState(null, ''))
    }
  })

  test('refuses text that is not the code of a document', async () => {
    await page.goto(`${stack.url}/verify`)
    const input = page.getByLabel('Code or link')
    for (const [text, problem] of [
      ['', 'Enter the code'],
      ['hello', 'not the code of a document'],
      ['https://example.org/', 'not the code of a document'],
      ['x'.repeat(100_000), 'not the code of a document'],
    ] as const) {
      await input.fill(text)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      expect(await page.locator('#problem').textContent()).toContain(problem)
      expect(await input.getAttribute('aria-invalid')).toBe('true')
      expect(await focused()).toBe('number')
    }
    expect(requests.some((request) => request.url().endsWith('/rpc'))).toBe(false)
  })

  test('shows each check as it completes, also on a slow connection', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/ipfs/**', async (route) => {
      await held
      await route.continue()
    })
    await page.goto((await issue()).verifyUrl)
    await page.locator('.checks li[data-code=not_revoked]').waitFor({ state: 'attached' })
    expect(await page.locator('.verdict').getAttribute('data-status')).toBe('checking')
    expect(await page.locator('h1').textContent()).toBe('Checking …')
    release()
    await verdict('valid')
  })

  test('reports an unreachable node, and recovers', async () => {
    const { verifyUrl } = await issue()
    stack.proxy.refuse = () => true
    await page.goto(verifyUrl)
    await verdict('unverifiable')
    const said = await page.locator('.verdict').textContent()
    expect(said).toContain('Could not be checked')
    expect(said).toContain('This says nothing about the document')
    expect(said).toContain('The node does not answer')
    expect(await page.locator('[role=status]').first().textContent()).toMatch(
      / Could not be checked\. [^.]+\. The node does not answer\.$/,
    )
    stack.proxy.refuse = () => false
    await page.getByRole('button', { name: 'Try again' }).click()
    await verdict('valid')
  })

  test('reports an offline device', async () => {
    const { publicId } = await issue()
    await page.goto(`${stack.url}/verify`)
    await context.setOffline(true)
    await page.getByLabel('Code or link').fill(publicId)
    await page.keyboard.press('Enter')
    await verdict('unverifiable')
    expect(await page.locator('.verdict').textContent()).toContain('This device is offline')
  })

  test('shows hostile text as text', async () => {
    const metadata = Object.fromEntries(
      HOSTILE.flatMap((text, i) => [
        [`value ${i}`, text],
        [text.slice(0, 64), `name ${i}`],
      ]),
    )
    await page.goto((await issue({ subjectName: HOSTILE[1], metadata })).verifyUrl)
    await verdict('valid')
    const values = await page.locator('.document dd').allTextContents()
    const names = await page.locator('.document dt').allTextContents()
    expect(values[0]).toBe(HOSTILE[1])
    expect(await page.locator('.parties .to strong').textContent()).toBe(HOSTILE[1])
    for (const text of HOSTILE) {
      expect(values).toContain(text)
      expect(names).toContain(text.slice(0, 64))
    }
    const elements = await page
      .locator('.document *')
      .evaluateAll((all) => [...new Set(all.map(({ localName }) => localName))])
    expect(elements.sort()).toEqual(['bdi', 'dd', 'div', 'dl', 'dt', 'h2', 'h3'])
    expect(await page.locator('script, style, iframe, base, a, img').count()).toBe(4)
  })

  test('copies the code', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const { publicId, verifyUrl } = await issue()
    await page.goto(verifyUrl)
    await page.getByRole('button', { name: 'Copy the code' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(publicId)
  })

  test('prints the verdict without buttons', async () => {
    await page.goto((await issue()).verifyUrl)
    await verdict('valid')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('h1').isVisible()).toBe(true)
    expect(await page.locator('.document').isVisible()).toBe(true)
    expect(await page.locator('.checks').isVisible()).toBe(true)
    for (const control of await page.locator('button, input, select').all())
      expect(await control.isVisible()).toBe(false)
  })

  test('has a strict policy by hash, and is small', async () => {
    const response = await page.goto(`${stack.url}/verify`)
    const headers = (await response?.allHeaders()) ?? {}
    const policy = headers['content-security-policy'] ?? ''
    expect(policy).toMatch(
      /^default-src 'none'; script-src( 'sha256-[^']+'){2}; style-src 'sha256-[^']+'; /,
    )
    for (const part of [
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-encoding']).toBe('br')
    const html = (await response?.body()) ?? Buffer.alloc(0)
    expect(gzipSync(html).length).toBeLessThan(117_000)
    expect(requests.length).toBe(1)
  })

  test("the reader's nodes must agree, and are saved", async () => {
    const { verifyUrl } = await issue()
    await page.goto(verifyUrl)
    await verdict('valid')
    await page.getByText('Choose whom to ask').click()
    await page.getByLabel('Nodes of the blockchain').fill('ftp://x')
    await page.getByRole('button', { name: 'Use these' }).click()
    expect(await page.locator('#rpc-problem').textContent()).toContain('https://')
    await page
      .getByLabel('Nodes of the blockchain')
      .fill(`${stack.chainUrl}\n${stack.url}/rpc?second`)
    await page.getByRole('button', { name: 'Use these' }).click()
    await verdict('valid')
    expect(await page.locator('.trust').textContent()).toContain('Of 2 nodes, 2 must')
    stack.proxy.change = (method, result) =>
      method === 'eth_call' ? String(result).replace(/1(?=0{8})/, '2') : result
    await page.reload()
    await verdict('unverifiable')
    stack.proxy.change = (_, result) => result
  })
})
