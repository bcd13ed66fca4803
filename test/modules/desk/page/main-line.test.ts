import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { describeDatabases } from '../../../support/databases.ts'
import { type Stack, startStack } from '../../../support/stack.ts'
import { linkFor, openWindow, signIn } from './desk-window.ts'

describeInBrowser('the main path through the desk', () => {
  describeDatabases('on', (settings) => {
    let stack: Stack
    let browser: Browser
    beforeAll(async () => {
      ;[stack, browser] = await Promise.all([startStack(await settings()), launchChromium()])
    })
    afterAll(async () => {
      await browser?.close()
      await stack?.stop()
    })

    test('invited people issue, find, revoke, and see who did it', async () => {
      const office = await openWindow(browser)
      const { page } = office
      await signIn(page, await linkFor(stack, 'administrator', { name: 'Head' }))
      await page.getByRole('link', { name: 'People' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Rosa')
      await page.getByLabel('Role').selectOption('registrar')
      await page.getByRole('button', { name: 'Add a person' }).click()
      const link = (await page.locator('.link').textContent()) ?? ''

      const desk = await openWindow(browser)
      const rosa = desk.page
      const answer = (name: string) =>
        rosa.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      await signIn(rosa, link)
      await rosa.getByRole('link', { name: 'Issue a document' }).first().click()
      await rosa.getByLabel('Name', { exact: true }).fill('Lise Meitner')
      await rosa.getByLabel('Identifier').fill('1878')
      await rosa.getByLabel('Kind of document').fill('Diploma')
      await rosa.getByRole('button', { name: 'Check and issue' }).click()
      await answer('Issue')
      await rosa.getByText('The document is issued').waitFor()
      await rosa.getByRole('link', { name: 'Find' }).first().click()
      await rosa.getByLabel('Identifier').fill('1878')
      await rosa.getByRole('button', { name: 'Find', exact: true }).click()
      await rosa.getByRole('link', { name: 'Lise Meitner' }).click()
      await rosa.getByRole('button', { name: 'Revoke', exact: true }).click()
      await answer('Revoke')
      await rosa.locator('.document .status', { hasText: 'Revoked' }).waitFor()
      const acts = await rosa.locator('.acts li').allTextContents()
      expect(acts.map((text) => text.split(' · ').slice(0, 2).join(' by '))).toEqual([
        'Issued by Rosa',
        'Revoked by Rosa',
      ])
      expect([...office.mishaps, ...desk.mishaps]).toEqual([])
    })
  })
})
