import { expect, test } from 'vitest'
import { describeInBrowser } from '../../support/chromium.ts'
import { pdfOf } from './give-file.ts'
import { serveDidDocument, usePage } from './page-fixture.ts'

const COMPARE = 'Compare every entry: nobody has checked what is printed'
const PHONE = { width: 390, height: 844 }

describeInBrowser('a certificate on the page', () => {
  const fixture = usePage()
  const choose = async (attachment: object) => {
    const { world, pages, page } = fixture
    await page.setViewportSize(PHONE)
    await page.goto(pages.host({ ...world.config }))
    await page.locator('input[type=file]').setInputFiles(pdfOf(attachment))
  }
  const issue = async () => {
    const { publicId, hash } = await fixture.world.issue()
    return { hash, bundle: await fixture.world.bundle(publicId) }
  }

  test('asks to compare the PDF with the entries shown, and is not green', async () => {
    const { page } = fixture
    const { bundle } = await issue()
    await choose(bundle)
    await page.locator('.linked').waitFor()
    const card = page.locator('.verdict.unsure[data-status=valid]')
    expect(await card.locator('h1').textContent()).toBe(COMPARE)
    expect(await page.title()).toContain(COMPARE)
    expect(await page.locator('[role=status]').first().textContent()).toContain(COMPARE)
    expect(await card.locator('#compare').textContent()).toMatch(
      /^Compare every entry with the PDF/,
    )
    expect(
      await card.locator('#compare').locator('xpath=preceding-sibling::p[1]').textContent(),
    ).toBe('The document below is valid.')
    const entries = await card.locator('.document dl > div').all()
    expect(entries).toHaveLength(5)
    // Without scrolling.
    for (const entry of entries) {
      const box = await entry.boundingBox()
      expect((box?.y ?? PHONE.height) + (box?.height ?? 0)).toBeLessThan(PHONE.height)
    }
    expect(await page.locator('.document').count()).toBe(1)
  })

  test('still asks to compare after a reload and a step back', async () => {
    const { page } = fixture
    const { bundle } = await issue()
    await choose(bundle)
    const card = page.locator('.verdict.unsure[data-status=valid]')
    await card.locator('.linked').waitFor()
    await page.reload()
    await card.locator('.linked').waitFor()
    expect(await card.locator('h1').textContent()).toBe(COMPARE)
    await page.goto('about:blank')
    await page.goBack()
    await card.locator('.linked').waitFor()
    expect(await card.locator('#compare').count()).toBe(1)
    // Only what the page itself has written makes it ask.
    await page.evaluate(() => history.replaceState({ ...history.state, fromPdf: 'no' }, ''))
    await page.reload()
    await page.locator('.verdict.good').waitFor()
  })

  test('says that nobody confirms the issuer', async () => {
    const { world, page, context } = fixture
    await context.unrouteAll()
    const { bundle } = await issue()
    await choose(bundle)
    await page.locator('.verdict.unsure #unconfirmed').waitFor()
    expect(await page.locator('h1').textContent()).toBe(COMPARE)
    await serveDidDocument(context, world, 2)
    await choose(bundle)
    await page.locator('.verdict.denied #compare').waitFor()
    expect(await page.locator('h1').textContent()).toContain('does not confirm it')
    expect(await page.locator('.verdict').textContent()).not.toContain(
      'The document below is valid',
    )
  })

  test('does not ask to compare a revoked document', async () => {
    const { world, page } = fixture
    const { bundle, hash } = await issue()
    await world.revoke(hash)
    await choose(bundle)
    await page.locator('.verdict.bad[data-status=revoked]').waitFor()
    expect(await page.locator('#compare').count()).toBe(0)
    expect(await page.locator('.document').count()).toBe(1)
  })

  test('reports a PDF without an attached proof', async () => {
    const { page } = fixture
    await choose({})
    await page.getByText('This PDF has no proof file attached').waitFor()
  })
})
