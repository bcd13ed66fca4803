import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { type Presentation, parsePresentation } from '#document/index.ts'
import { decodePublicId } from '#document/public-id.ts'
import { readBundle } from '#verifier/index.ts'
import type { PageConfig } from '#web/config.ts'
import { describeInBrowser } from '../../support/chromium.ts'
import { give } from './give-file.ts'
import { usePage } from './page-fixture.ts'

/** No value is part of another, or of what else is in an excerpt. */
const DIPLOMA = {
  subjectName: 'Ada Canary Lovelace',
  subjectId: '90817263544536271809',
  category: 'canary_category',
  issuedAt: '2021-02-03',
  expiresAt: '2034-05-06',
  metadata: { grade: 'canary distinction', field: 'canary mathematics' },
}
const SHOWN = ['Ada Canary Lovelace', 'canary mathematics']
const HIDDEN = [
  '90817263544536271809',
  'canary_category',
  'Canary category',
  '2021-02-03',
  'February 3',
  '2034-05-06',
  'May 6',
  'grade',
  'canary distinction',
]

describeInBrowser('an excerpt of a document, on the page', () => {
  const fixture = usePage()
  let { world, pages, context, page } = fixture
  let mishaps: string[]
  beforeEach(async () => {
    ;({ world, pages, context, page } = fixture)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    mishaps = []
    page.on('pageerror', (error) => mishaps.push(String(error)))
  })
  afterEach(() => expect(mishaps).toEqual([]))

  const open = async (publicId: string) => {
    await page.goto(`${pages.host(world.config)}#${publicId}`)
    await page.locator('.verdict.good').waitFor()
  }
  /** Makes an excerpt of what is open, with a name and one entry. */
  const make = async () => {
    await page.getByText('Share only some fields').click()
    await page.getByRole('checkbox', { name: 'Name Ada' }).check()
    await page.getByRole('checkbox', { name: 'field canary' }).check()
    await page.getByRole('button', { name: 'Make the excerpt' }).click()
    await page.getByText('The excerpt is ready').waitFor()
  }
  const link = async () => {
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  const file = async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file' }).click(),
    ])
    const text = readFileSync(await download.path(), 'utf8')
    return { name: download.suggestedFilename(), text }
  }
  const excerpt = async (fields?: object) => {
    await open((await world.issue({ ...DIPLOMA, ...fields })).publicId)
    await make()
    return file()
  }
  const ask = async (config: Partial<PageConfig> = {}) => {
    await page.goto(pages.host({ ...world.config, ...config }))
    await page.locator('section.ask').waitFor()
  }
  const status = (name: string) => page.locator(`.verdict[data-status=${name}]`).waitFor()
  const shows = async () => {
    await page.locator('.document.excerpt').waitFor()
    const main = (await page.locator('main').textContent()) ?? ''
    expect(main).toContain('The holder chose to show only these fields')
    for (const text of SHOWN) expect(main).toContain(text)
    for (const text of HIDDEN) expect(main).not.toContain(text)
    expect(await page.locator('.mark').textContent()).toBe('Excerpt of a document')
    expect(await page.locator('.share').count()).toBe(0)
  }

  test('is made from a valid document, from its link and again after a reload', async () => {
    await open((await world.issue(DIPLOMA)).publicId)
    await make()
    await page.goto(await link())
    await status('valid')
    await shows()
    expect(page.url()).not.toContain('#')
    await page.reload()
    await status('valid')
    await shows()
  })

  test('is made of a document in a batch', async () => {
    await open(await world.issueInBatch(DIPLOMA))
    await make()
    const { text } = await file()
    expect(parsePresentation(text).batch).not.toBeNull()
    await page.goto(await link())
    await status('valid')
    await shows()
  })

  test('is read from a dropped file, when no content source answers', async () => {
    const { name, text } = await excerpt()
    expect(name).toMatch(/^excerpt-[0-9a-f]{8}\.json$/)
    world.content = 'missing'
    await ask()
    await give(page, text, name)
    await status('valid')
    await shows()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('id'))).toBe('verdict')
  })

  test('is read as text, file, link and picture of its QR code', async () => {
    const { text } = await excerpt()
    const code = page.getByRole('img', { name: 'QR code of the excerpt' })
    const picture = await code.screenshot()
    const address = await link()
    for (const given of [text, address]) {
      await ask()
      await page.getByLabel('Code or link').fill(given)
      await page.keyboard.press('Enter')
      await status('valid')
      await shows()
    }
    await ask()
    await page.locator('input[type=file]').setInputFiles({
      name: 'code.png',
      mimeType: 'image/png',
      buffer: picture,
    })
    await status('valid')
    await shows()
  })

  test('holds only the chosen fields, and no key', async () => {
    const { publicId } = await world.issue(DIPLOMA)
    const { documentKey } = decodePublicId(publicId)
    await open(publicId)
    await make()
    const { text } = await file()
    const presentation = parsePresentation(text)
    const secrets = [
      publicId,
      toHex(documentKey).slice(2),
      Buffer.from(documentKey).toString('base64url'),
      ...HIDDEN,
    ]
    const inside = [
      text,
      ...presentation.disclosures.map((one) => Buffer.from(one, 'base64url').toString()),
    ].join('\n')
    for (const text of SHOWN) expect(inside).toContain(text)
    for (const secret of secrets) expect(inside).not.toContain(secret)
    expect(presentation.disclosures).toHaveLength(2)
  })

  test('is made without a request', async () => {
    await open((await world.issue(DIPLOMA)).publicId)
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await context.setOffline(true)
    await make()
    await file()
    expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([])
  })

  test('disappears when a choice changes, and is not made without a choice', async () => {
    await open((await world.issue(DIPLOMA)).publicId)
    await make()
    await page.getByRole('checkbox', { name: 'Identifier' }).check()
    expect(await page.getByText('The excerpt is ready').count()).toBe(0)
    for (const box of await page.locator('.share input').all()) await box.uncheck()
    await page.getByRole('button', { name: 'Make the excerpt' }).click()
    expect(await page.locator('#share-problem').textContent()).toBe('Tick at least one field.')
    expect(await page.getByText('The excerpt is ready').count()).toBe(0)
  })

  test('says what the receiver learns, and that it is not anonymous', async () => {
    await open((await world.issue(DIPLOMA)).publicId)
    await page.getByText('Share only some fields').click()
    const said = await page.locator('.share').textContent()
    expect(said).toContain('The receiver learns these fields')
    expect(said).toContain('does not make you anonymous')
  })

  test('is offered only for a valid document', async () => {
    const { publicId, hash } = await world.issue(DIPLOMA)
    await world.revoke(hash)
    await page.goto(`${pages.host(world.config)}#${publicId}`)
    await status('revoked')
    expect(await page.locator('.share').count()).toBe(0)
  })

  test('is checked with the current nodes: revoked after it was made', async () => {
    const { publicId, hash } = await world.issue(DIPLOMA)
    await open(publicId)
    await make()
    const address = await link()
    await world.revoke(hash)
    await page.goto(address)
    await status('revoked')
    await shows()
  })

  test('names nobody in the verdict when the name is not shown', async () => {
    await open((await world.issue(DIPLOMA)).publicId)
    await page.getByText('Share only some fields').click()
    await page.getByRole('checkbox', { name: 'grade' }).check()
    await page.getByRole('button', { name: 'Make the excerpt' }).click()
    await page.goto(await link())
    // The page of before stays until the excerpt is checked.
    const text = () => page.locator('main').textContent()
    await expect.poll(text).not.toContain('Lovelace')
    await expect.poll(text).toContain('canary distinction')
    await status('valid')
    const said = await text()
    expect(said).not.toContain('Lovelace')
    expect(said).not.toContain('Issued to')
    expect(said).not.toContain('without end')
  })

  test('is not genuine with fields of another document, and shows none', async () => {
    const { text } = await excerpt()
    const good: Presentation = parsePresentation(text)
    const forged = Buffer.from(
      JSON.stringify(['AAAAAAAAAAAAAAAAAAAAAA', 'subjectName', 'A Forger']),
    ).toString('base64url')
    await ask()
    await give(page, JSON.stringify({ ...good, disclosures: [forged] }))
    await status('tampered')
    expect(await page.locator('main').textContent()).not.toContain('A Forger')
    expect(await page.locator('.document').count()).toBe(0)
  })

  test('is judged by the registry of the page, and names the other one', async () => {
    const { text } = await excerpt()
    const registry = `eip155:1:0x${'a'.repeat(40)}`
    const good = parsePresentation(text)
    const claims = { ...good.claims, registry }
    await ask()
    await give(page, JSON.stringify({ ...good, registry, claims }))
    await status('tampered')
    expect(await page.locator('#hint').textContent()).toContain(registry)
  })

  test.each([
    ['{"type":"document-registry-presentation","v":1}'],
    ['https://a.example/#presentation=AAAA'],
    [`https://a.example/#presentation=${'A'.repeat(100_000)}`],
  ])('refuses %.60s as an excerpt', async (given) => {
    await ask()
    await page.getByLabel('Code or link').fill(given)
    await page.keyboard.press('Enter')
    const problem = page.locator('#problem:not(:empty)')
    expect(await problem.textContent()).toContain('not an excerpt')
    await open((await world.issue()).publicId)
    await page.evaluate(() => {
      location.hash = 'presentation=AAAA'
    })
    expect(await problem.textContent()).toContain('not an excerpt')
    expect(page.url()).not.toContain('#')
    expect(await page.locator('.verdict').count()).toBe(0)
  })

  test('a link that cannot be read stops the check', async () => {
    const { publicId } = await world.issue(DIPLOMA)
    world.node = 'hangs'
    const address = pages.host(world.config)
    await page.goto(`${address}#${publicId}`)
    await page.locator('.verdict.busy').waitFor()
    await page.goto(`${address}#presentation=AAAA`)
    await page.locator('#problem:not(:empty)').waitFor()
    world.node = 'answers'
    await page.waitForLoadState('networkidle')
    // Its verdict would seem to be that of the link.
    expect(await page.locator('.verdict').count()).toBe(0)
    expect(await page.locator('#problem').textContent()).toContain('not an excerpt')
  })

  test('is neutral and dated without a node if it has a state proof', async () => {
    const { publicId } = await world.issue(DIPLOMA)
    await open(publicId)
    await make()
    const { text } = await file()
    const bundle = await world.bundle(publicId)
    const { stateProof } = bundle
    world.node = 'hangs up'
    await ask()
    await give(page, JSON.stringify({ ...parsePresentation(text), stateProof }))
    await status('unverifiable')
    const { blockHash } = readBundle(bundle).block
    await page.getByLabel('Hash of block').fill(blockHash)
    await page.keyboard.press('Enter')
    await page.locator('.verdict.open[data-status=valid]').waitFor()
    expect(await page.locator('h1').textContent()).toMatch(/^Was valid on /)
    await shows()
  })

  test('is saved again unchanged', async () => {
    const { text } = await excerpt()
    await ask()
    await give(page, text)
    await status('valid')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the excerpt' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe(text)
    expect(await page.getByText('Copy the code').count()).toBe(0)
  })
})
