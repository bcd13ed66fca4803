import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'

/** Drops a file on the page, like a reader. */
export async function give(
  page: Page,
  text: string,
  name = 'proof.json',
  type = 'application/json',
): Promise<void> {
  const data = await page.evaluateHandle(
    (file) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([file.text], file.name, { type: file.type }))
      return transfer
    },
    { text, name, type },
  )
  await page.dispatchEvent('main', 'drop', { dataTransfer: data })
}

/**
 * @returns A PDF with one attachment, with only the parts that the page reads, for a file input.
 */
export function pdfOf(attachment: object) {
  const buffer = Buffer.concat([
    Buffer.from('%PDF-1.7\n1 0 obj <</Type/EmbeddedFile/Filter/FlateDecode>> stream\n'),
    deflateSync(JSON.stringify(attachment)),
    Buffer.from('\nendstream endobj\n%%EOF'),
  ])
  return { name: 'certificate.pdf', mimeType: 'application/pdf', buffer }
}
