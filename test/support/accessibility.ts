import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Opens everything that is folded.
 *
 * @returns The findings of axe-core with the rules of WCAG 2.2 A and AA and best practices, and
 * whether the page must be scrolled sideways.
 */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.locator('details').evaluateAll((all) => {
    for (const one of all) one.setAttribute('open', '')
  })
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    (
      globalThis as unknown as {
        axe: { run(options: object): Promise<AxeResults> }
      }
    ).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      resultTypes: ['violations'],
    }),
  )
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
    ...((await isTooWide(page)) ? ['too wide'] : []),
  ]
}

/** @returns Whether the page must be scrolled sideways, or a card or question cuts off its content. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(
    () =>
      document.documentElement.scrollWidth > innerWidth ||
      [...document.querySelectorAll('section, dialog')].some(
        ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
      ),
  )
}
