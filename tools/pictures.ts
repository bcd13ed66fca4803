// node scripts/run.mjs tools/pictures.ts
//
// Draws the README's pictures, docs/pictures/: a certificate with its QR code, the verify page on a
// phone before and after the document is revoked, and the desk. A real service on its own chain
// issues and revokes the documents, and a real browser shows the pages. With `desk` behind the
// command, the desk alone.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { freePort } from '#local-chain/free-port.ts'
import { chromiumPath } from '#scripts/chromium-path.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'docs', 'pictures')
const API_KEY = 'for-the-pictures-alone'
/** The address in the pictures, whatever port is free. */
const SHOWN_URL = 'http://localhost:3000'
const PHONE = { width: 360, height: 700 }
const SHARP = 2
const WEBP_QUALITY = 0.7
const START_TIMEOUT_MS = 60_000
const SCHEMES = ['light', 'dark'] as const

const DOCUMENT = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'university_degree',
  issuedAt: '2026-01-31',
  metadata: { degree: 'Master of Science in Mathematics' },
}

/** What the desk has issued, the newest last. */
const AT_THE_DESK = [
  ['Grace Hopper', '19061209', 'university_degree'],
  ['Emmy Noether', '18820323', 'university_degree', 'revoke'],
  ['Alan Turing', '19120623', 'birth_certificate'],
  ['Katherine Johnson', '19180826', 'language_course', 'suspend'],
  ['Maryam Mirzakhani', '19770512', 'university_degree'],
  ['Srinivasa Ramanujan', '18871222', 'birth_certificate'],
] satisfies [name: string, id: string, category: string, change?: 'revoke' | 'suspend'][]
const DESK_WINDOW = { width: 1000, height: 760 }

type Post = (path: string, body: object) => Promise<unknown>
type Issued = { publicId: string; verifyUrl: string }

async function main(): Promise<void> {
  if (chromiumPath === undefined)
    throw new Error('Chromium or Chrome is required: install one, or set CHROMIUM_PATH')
  mkdirSync(out, { recursive: true })
  const service = await startService()
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [`--host-resolver-rules=MAP ${new URL(SHOWN_URL).host} 127.0.0.1:${service.port}`],
  })
  try {
    await photographDesk(browser, service.post)
    if (process.argv[2] === 'desk') return
    const issued = (await service.post('/documents', DOCUMENT)) as Issued
    const valid = await photograph(browser, issued.verifyUrl, 'Valid')
    await service.post(`/documents/${issued.publicId}/revoke`, { reason: 'privilegeWithdrawn' })
    const revoked = await photograph(browser, issued.verifyUrl, 'Revoked')
    const qrCode = await service.qrCode(issued.publicId)
    for (const [index, scheme] of SCHEMES.entries())
      await compose(browser, scheme, qrCode, [valid[index], revoked[index]] as [Buffer, Buffer])
  } finally {
    await browser.close()
    await service.stop()
  }
}

async function startService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-pictures-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['apps/docreg-gateway/docreg-gateway.ts', 'start'], {
    cwd: root,
    env: {
      ...process.env,
      API_KEY,
      PORT: `${port}`,
      BASE_URL: SHOWN_URL,
      CHAIN_PORT: `${await freePort()}`,
      DATA_DIR: dataDir,
      ISSUER_NAME: 'University of Testville',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve())
  })
  await until(() =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    port,
    async qrCode(publicId: string): Promise<string> {
      return (await fetch(`${url}/qr/${publicId}?format=svg`)).text()
    },
    async post(path: string, body: object): Promise<unknown> {
      const response = await fetch(`${url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`the service answers ${response.status}`)
      return ((await response.json()) as { data: unknown }).data
    },
    async stop(): Promise<void> {
      child.kill('SIGTERM')
      await ended
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** @returns The page as a phone shows it, for each colour scheme. */
async function photograph(browser: Browser, link: string, title: string): Promise<Buffer[]> {
  const pictures: Buffer[] = []
  for (const colorScheme of SCHEMES) {
    const context = await browser.newContext({
      viewport: PHONE,
      deviceScaleFactor: SHARP,
      colorScheme,
      locale: 'en',
      isMobile: true,
    })
    const page = await context.newPage()
    await page.goto(link)
    await page.getByRole('heading', { name: title }).first().waitFor()
    await page.waitForLoadState('networkidle')
    pictures.push(await page.screenshot())
    await context.close()
  }
  return pictures
}

/** Issues some documents, and writes a picture of the desk of the administrator who signs in. */
async function photographDesk(browser: Browser, post: Post): Promise<void> {
  const person = { name: 'Registrar’s office', role: 'administrator' }
  const { invitation } = (await post('/people', person)) as { invitation: string }
  for (const [subjectName, subjectId, category, change] of AT_THE_DESK) {
    const document = { ...DOCUMENT, subjectName, subjectId, category }
    const { publicId } = (await post('/documents', document)) as Issued
    if (change !== undefined) await post(`/documents/${publicId}/${change}`, {})
  }
  const page = await browser.newPage({ viewport: DESK_WINDOW, colorScheme: 'light', locale: 'en' })
  await page.goto(invitation)
  await page.getByRole('button', { name: 'Sign in with this link' }).click()
  await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor()
  await giveAuthenticator(page)
  await page.getByRole('link', { name: 'Set up a passkey' }).click()
  await page.getByRole('button', { name: 'Set up a passkey' }).click()
  await page.getByRole('button', { name: 'Remove' }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('Grace Hopper').waitFor()
  await page.screenshot({ path: join(out, 'desk.png') })
  await page.close()
}

async function giveAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    automaticPresenceSimulation: true,
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options })
}

/** Puts certificate and phones side by side. */
async function compose(
  browser: Browser,
  scheme: (typeof SCHEMES)[number],
  qrCode: string,
  phones: [Buffer, Buffer],
): Promise<void> {
  const page = await browser.newPage({ deviceScaleFactor: SHARP, colorScheme: scheme })
  const [valid, revoked] = phones.map((png) => `data:image/png;base64,${png.toString('base64')}`)
  await page.setContent(SCENE(scheme, qrCode, valid ?? '', revoked ?? ''))
  const png = await page.locator('main').screenshot({ omitBackground: true })
  writeFileSync(join(out, `front-${scheme}.webp`), await toWebp(page, png))
  await page.close()
}

/** WebP is a tenth of the PNG's size. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const data = await page.evaluate(
    async ([source, quality]) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', quality).split(',')[1] ?? ''
    },
    [`data:image/png;base64,${png.toString('base64')}`, WEBP_QUALITY] as const,
  )
  return Buffer.from(data, 'base64')
}

const SCENE = (scheme: string, qrCode: string, valid: string, revoked: string) => `<!doctype html>
<style>
  body { margin: 0; background: transparent; font: 16px/1.5 Georgia, 'Liberation Serif', serif; }
  main { display: flex; align-items: center; gap: 28px; width: 1000px; padding: 12px; }
  .paper {
    flex: 1; display: flex; flex-direction: column; justify-content: center; align-items: center;
    box-sizing: border-box; height: 460px; padding: 0 28px 20px; text-align: center;
    background: #fffdf7; color: #1d2733; border: 6px double #8a7a4f; border-radius: 4px;
    ${scheme === 'dark' ? '' : 'box-shadow: 0 2px 14px #0003;'}
  }
  h1 { margin: 0 0 12px; font-size: 21px; font-weight: normal; letter-spacing: .02em; }
  .name { margin: 14px 0; font-size: 31px; font-style: italic; }
  .paper p { margin: 0; }
  .paper svg { width: 180px; margin-top: 14px; }
  .paper small { display: block; font: 12px/1.4 system-ui, 'Liberation Sans', sans-serif; color: #555; }
  .phone {
    box-sizing: border-box; width: 262px; padding: 12px 8px; border-radius: 30px; background: #111;
    ${scheme === 'dark' ? 'border: 1px solid #555;' : ''}
  }
  .phone img { display: block; width: 100%; border-radius: 20px; }
  figure { margin: 0; }
  figcaption {
    margin-top: 8px; text-align: center; font: 15px/1.4 system-ui, 'Liberation Sans', sans-serif;
    color: ${scheme === 'dark' ? '#c9d1d9' : '#333'};
  }
</style>
<main>
  <div class="paper">
    <h1>University of Testville</h1>
    <p>certifies that</p>
    <p class="name">${DOCUMENT.subjectName}</p>
    <p>has earned the degree of<br>${DOCUMENT.metadata.degree}</p>
    ${qrCode}
    <small>Scan to check this certificate</small>
  </div>
  <figure><div class="phone"><img src="${valid}"></div><figcaption>scanned today</figcaption></figure>
  <figure><div class="phone"><img src="${revoked}"></div><figcaption>scanned after it was revoked</figcaption></figure>
</main>`

async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + START_TIMEOUT_MS
  while (!(await holds())) {
    if (performance.now() > giveUp) throw new Error('the service does not start')
    await sleep(100)
  }
}

await main()
