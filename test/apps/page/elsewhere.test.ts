import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { readBundle } from '#verifier/index.ts'
import { describeInBrowser, launchChromium } from '../../support/chromium.ts'
import { type PageServer, startPageServer } from '../../support/page-server.ts'
import { ADA, type Stack, startStack } from '../../support/stack.ts'
import { transact } from '../../support/transact.ts'
import { give } from './give-file.ts'
import { qrVideo } from './qr-video.ts'

describeInBrowser('the page on other hosts, and with other input than links', () => {
  let stack: Stack
  let pages: PageServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let publicId: string
  const dir = mkdtempSync(join(tmpdir(), 'document-registry-page-'))

  beforeAll(async () => {
    ;[stack, pages] = await Promise.all([startStack(), startPageServer()])
    publicId = (await stack.issue(ADA)).body.data.publicId
    const film = join(dir, 'camera.y4m')
    writeFileSync(film, qrVideo(`https://x.example/v#publicId=${publicId}`))
    browser = await launchChromium(
      [
        '--host-resolver-rules=MAP phone.example 127.0.0.1',
        '--use-fake-device-for-media-stream',
        `--use-file-for-fake-video-capture=${film}`,
      ],
      true,
    )
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
    await stack?.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en' })
    page = await context.newPage()
  })
  afterEach(() => context.close())

  const verdict = (status: string) => page.locator(`.verdict[data-status=${status}]`).waitFor()
  const config = () => ({
    registry: stack.registry,
    rpc: [`${stack.url}/rpc`],
    ipfs: [stack.url],
    service: stack.url,
  })
  const revoke = (id: string) =>
    transact(stack.provider, stack.registry, stack.issuerKey, 'revoke', [
      1,
      toHex(decodePublicId(id).hash),
      9,
    ])

  test('works on another host', async () => {
    await page.goto(`${pages.host(config())}#publicId=${publicId}`)
    await verdict('valid')
  })

  test('works from disk, with a registry and node from the reader', async () => {
    const file = pathToFileURL(join(dir, 'verify.html')).href
    build('--out', join(dir, 'verify.html'))
    await page.goto(`${file}#publicId=${publicId}&registry=${stack.registry}`)
    const problem = page.locator('#problem:not(:empty)')
    expect(await problem.textContent()).toContain('First name the registry')
    expect(await page.locator('header').textContent()).toContain('A file on this device')
    expect(await page.getByLabel('Registry that you trust').inputValue()).toBe('')
    await page.getByLabel('Registry that you trust').fill(stack.registry)
    await page.getByLabel('Nodes of the blockchain').fill(stack.chainUrl)
    await page.getByLabel('IPFS gateways').fill(stack.url)
    await page.getByRole('button', { name: 'Use these' }).click()
    await verdict('valid')
    await page.reload()
    await page.locator('h1').waitFor()
    expect(await page.getByLabel('Registry that you trust').inputValue()).toBe('')
    expect(await page.getByLabel('Nodes of the blockchain').inputValue()).toBe(stack.chainUrl)
  })

  test('works from disk, with its build configuration or saved from a gateway', async () => {
    const built = join(dir, 'built.html')
    const { registry, rpc, ipfs } = config()
    build('--registry', registry, '--rpc', rpc.join(), '--ipfs', ipfs.join(), '--out', built)
    const saved = join(dir, 'saved.html')
    writeFileSync(saved, (await stack.request('/verify')).body)
    for (const file of [built, saved]) {
      await page.goto(`${pathToFileURL(file).href}#${publicId}`)
      await verdict('valid')
    }
  })

  test('works on a phone in the same network, over plain HTTP', async () => {
    const port = new URL(stack.url).port
    await page.goto(`http://phone.example:${port}/verify#publicId=${publicId}`)
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    await verdict('valid')
    expect(await page.locator('.trust').textContent()).toContain(`http://phone.example:${port}`)
    expect(await page.locator('.warning').textContent()).toContain('not encrypted')
    const { hash } = decodePublicId(publicId)
    const documentKey = new Uint8Array(16)
    const forged = encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey,
    })
    await page.evaluate((fragment) => {
      location.hash = fragment
    }, forged)
    await verdict('wrong_key')
  })

  test('reports a link that names another registry', async () => {
    const forger = `eip155:1:0x${'f0'.repeat(20)}`
    await page.goto(`${stack.url}/verify#publicId=${publicId}&registry=${forger}`)
    await verdict('valid')
    const said = await page.locator('#hint').textContent()
    expect(said).toContain(forger)
    expect(said).toContain('does not trust it')
  })

  test('reads a link that was altered in transit, without naming a registry', async () => {
    const fragment = `publicId=${publicId}&registry=${stack.registry}`
    for (const link of [
      `verify#${fragment}?utm_source=mail`,
      `verify#${fragment}.`,
      `verify#${fragment}"> and keep it`,
      `verify#${encodeURIComponent(fragment)}`,
      `verify?${fragment}`,
      `verify?utm_source=mail#${fragment}`,
    ]) {
      await page.goto(`${stack.url}/${link}`)
      await verdict('valid')
      expect(await page.locator('#hint').count()).toBe(0)
      expect(await page.evaluate(() => location.href)).not.toContain(publicId)
      // The next visit must not show this one again.
      await page.goto('about:blank')
    }
  })

  test('reads a broken link that is pasted, and asks which of two documents is meant', async () => {
    const link = `${stack.url}/verify#publicId=${publicId}&registry=${stack.registry}`
    for (const end of ['\n', '=\n', '\u00ad']) {
      await page.goto(`${stack.url}/verify`)
      await page.evaluate(
        (text) => {
          document.getElementById('number')?.focus()
          document.execCommand('insertText', false, text)
        },
        link.replace(/.{76}/g, `$&${end}`),
      )
      await page.keyboard.press('Enter')
      await verdict('valid')
      await page.evaluate(() => history.replaceState(null, ''))
    }
    const other = (await stack.issue(ADA)).body.data.publicId
    await page.goto(`${stack.url}/verify`)
    await page.getByLabel('Code or link').fill(`${link} ${other}`)
    await page.keyboard.press('Enter')
    await page.locator('#problem', { hasText: 'several codes' }).waitFor()
    await page.goto('about:blank')
    await page.goto(`${stack.url}/verify?publicId=${other}#publicId=${publicId}`)
    await page.locator('#problem', { hasText: 'several codes' }).waitFor()
  })

  test('reads a picture of the QR code, as PNG and as JPEG', async () => {
    const png = Buffer.from((await stack.request(`/qr/${publicId}?format=png`)).body)
    for (const type of ['image/png', 'image/jpeg']) {
      await page.goto(`${stack.url}/verify`)
      const buffer = type === 'image/png' ? png : await asJpeg(png)
      const name = `code.${type.slice(6)}`
      await page.setInputFiles('input[type=file]', {
        name,
        mimeType: type,
        buffer,
      })
      await verdict('valid')
      await page.evaluate(() => history.replaceState(null, ''))
    }
  })

  /** Small, turned a little and grey, as a photograph would be. */
  async function asJpeg(png: Buffer): Promise<Buffer> {
    const source = `data:image/png;base64,${png.toString('base64')}`
    const blank = await context.newPage()
    const jpeg = await blank.evaluate(async (url) => {
      const image = new Image()
      image.src = url
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = 900
      canvas.height = 700
      const c = canvas.getContext('2d') as CanvasRenderingContext2D
      c.fillStyle = '#998f80'
      c.fillRect(0, 0, 900, 700)
      c.rotate(0.06)
      c.drawImage(image, 200, 60, 480, 480)
      return canvas.toDataURL('image/jpeg', 0.7)
    }, source)
    await blank.close()
    return Buffer.from(jpeg.split(',')[1] ?? '', 'base64')
  }

  test('refuses files without a code', async () => {
    await page.goto(`${stack.url}/verify`)
    const png = await page.screenshot()
    for (const [file, problem] of [
      [{ name: 'a.png', mimeType: 'image/png', buffer: png }, 'No QR code'],
      [{ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('x') }, 'neither a picture'],
      [{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }, 'neither a picture'],
      [
        {
          name: 'a.json',
          mimeType: 'application/json',
          buffer: Buffer.from('{"a":1}'),
        },
        'not a proof file',
      ],
    ] as const) {
      await page.setInputFiles('input[type=file]', file)
      await page.locator('#problem', { hasText: problem }).waitFor()
    }
  })

  const OLD = 'This browser is too old for this page.'

  test.each([
    'Object.hasOwn',
    'Element.prototype.replaceChildren',
    'crypto',
    'AbortSignal.timeout',
    'DecompressionStream',
    'Array.prototype.at',
    'Intl.ListFormat',
  ])('says that a browser without %s is too old', async (lacking) => {
    await page.addInitScript((path) => {
      const names = path.split('.')
      const last = names.pop() ?? ''
      const holder = names.reduce((from, name) => Reflect.get(from, name), globalThis)
      Reflect.deleteProperty(holder, last)
    }, lacking)
    for (const fragment of ['', `#${publicId}`]) {
      await page.goto(`${stack.url}/verify${fragment}`)
      await page.locator('h1', { hasText: OLD }).waitFor()
      await page.goto('about:blank')
    }
  })

  test('says in six languages that a browser is too old for the page', async () => {
    const built = Buffer.from((await stack.request('/verify')).body).toString()
    // As a browser sees a syntax that it does not know.
    const html = built
      .replace('<script>"use strict"', '<script>?')
      .replace(/<meta http-eq[^>]*>/, '')
    expect(html).toContain('<script>?;')
    const said = new Set<string>()
    for (const locale of ['en-GB', 'de-AT', 'fr', 'es-MX', 'pt-BR', 'ar', 'ja']) {
      const other = await browser.newContext({ locale })
      const old = await other.newPage()
      await old.route('**/verify', (route) =>
        route.fulfill({ body: html, contentType: 'text/html' }),
      )
      await old.goto(`${stack.url}/verify`)
      said.add((await old.locator('h1').textContent()) ?? '')
      await other.close()
    }
    expect(said.size).toBe(6)
    expect([...said][0]).toContain(OLD)
  })

  test('reads the camera', async () => {
    await context.grantPermissions(['camera'])
    await page.goto(`${stack.url}/verify`)
    await page.getByRole('button', { name: 'Scan with the camera' }).click()
    await verdict('valid')
    expect(await page.locator('video').count()).toBe(0)
  })

  test('reports that the camera is not allowed', async () => {
    const strict = await browser.newContext({ locale: 'en', permissions: [] })
    page = await strict.newPage()
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await page.goto(`${stack.url}/verify`)
    await page.getByRole('button', { name: 'Scan with the camera' }).click()
    await page.locator('#problem', { hasText: 'camera cannot be used' }).waitFor()
    await strict.close()
  })

  test('saves a proof file and reads it again, offline and after a revocation', async () => {
    const { publicId: id } = (await stack.issue(ADA)).body.data
    await page.goto(`${stack.url}/verify#publicId=${id}`)
    await verdict('valid')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the proof' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^proof-[0-9a-f]{8}\.json$/)
    const proof = readFileSync(await download.path(), 'utf8')
    await revoke(id)

    await give(page, proof)
    await verdict('revoked')

    // Nobody can be asked: the reader must know the block from somebody.
    await page.evaluate(() => history.replaceState(null, ''))
    await page.reload()
    await context.setOffline(true)
    await give(page, proof)
    await verdict('unverifiable')
    expect(await page.locator('.verdict').textContent()).toContain('no node has confirmed it')
    const { blockNumber, blockHash } = readBundle(proof).block
    const input = page.getByLabel(`Hash of block ${blockNumber}`)
    await input.fill('0x12')
    await page.keyboard.press('Enter')
    expect(await page.locator('#block-problem').textContent()).toContain('64 digits')
    await input.fill(blockHash)
    await page.keyboard.press('Enter')
    await verdict('valid')
    expect(await page.locator('.verdict').textContent()).toContain('From a proof file')
    expect(await page.locator('.document').textContent()).toContain(ADA.subjectName)
    const checks = await page.locator('.checks').textContent()
    expect(checks).toContain('at that block is proven')
    expect(checks).toContain('cannot prove the transaction')
    expect(checks).not.toContain('up to date')
  })

  function build(...args: string[]): void {
    execFileSync('node', ['scripts/build-page.ts', ...args])
  }
})
