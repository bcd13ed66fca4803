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
