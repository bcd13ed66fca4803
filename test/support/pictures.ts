import { join } from 'node:path'
import type { Page } from 'playwright-core'

const folder = process.env.PICTURES

/**
 * Takes a picture of a whole page, for people to look at, if `PICTURES` names a folder. It is not
 * the default, because it takes as long as the tests of the page.
 */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
