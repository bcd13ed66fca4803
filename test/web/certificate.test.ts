import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { describeInBrowser } from '../support/chromium.ts'
import { usePage } from '../support/page-fixture.ts'

/** A PDF as far as the page looks, with one attachment. */
const pdfOf = (content: string) =>
  Buffer.concat([
    Buffer.from('%PDF-1.7\n1 0 obj <</Type/EmbeddedFile/Filter/FlateDecode>> stream\n'),
    deflateSync(content),
    Buffer.from('\nendstream endobj\n%%EOF'),
  ])

describeInBrowser('the page takes a certificate', () => {
  const fixture = usePage()
  const choose = async (buffer: Buffer) => {
    const { world, pages, page } = fixture
    await page.goto(pages.host({ ...world.config }))
    const file = { name: 'certificate.pdf', mimeType: 'application/pdf', buffer }
    await page.locator('input[type=file]').setInputFiles(file)
  }

  test('default: asks the node, and shows the words to compare with the paper', async () => {
    const { world, page } = fixture
    const { publicId } = await world.issue()
    await choose(pdfOf(JSON.stringify(await world.bundle(publicId))))
    await page.locator('.verdict.good[data-status=valid]').waitFor()
    const text = await page.locator('.document').textContent()
    expect(text).toContain('Ada')
    expect(text).toContain('Compare every entry with the PDF or the paper')
  })

  test('error: says that a PDF has no proof attached', async () => {
    const { page } = fixture
    await choose(pdfOf('{}'))
    await page.getByText('This PDF has no proof file attached').waitFor()
  })
})
