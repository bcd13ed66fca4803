import type { Browser, BrowserContext, Page } from 'playwright-core'
import { invite } from '../../../support/desk.ts'
import { API_KEY, type Stack } from '../../../support/stack.ts'

export type Role = 'reader' | 'clerk' | 'registrar' | 'administrator'

/** Adds a person. @returns The link that signs them in once. */
export async function linkFor(
  stack: Stack,
  role: Role,
  settings: Parameters<typeof invite>[1] = {},
): Promise<string> {
  const { invitation } = await invite(stack, { name: 'Grace of the front desk', role, ...settings })
  return `http://localhost:${new URL(stack.url).port}/desk#invitation=${invitation}`
}

/** @returns Another link for the person of this name. */
export async function linkAgain(stack: Stack, name: string): Promise<string> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const { body } = await stack.request('/v1/people', { headers })
  const { id } = body.data.people.find((one: { name: string }) => one.name === name)
  const again = await stack.request(`/v1/people/${id}/invitations`, { method: 'POST', headers })
  return again.body.data.invitation
}

/** Opens the desk, and signs in with a link. */
export async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in with this link' }).click()
  await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor()
}

/** Presses a button. */
export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click()

/** Presses a button of the question that is open. */
export const answer = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** A desk in a window of its own, with what went wrong in it. */
export type Window = { context: BrowserContext; page: Page; mishaps: string[] }

export async function openWindow(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Window> {
  const context = await browser.newContext({ locale: 'en', ...options })
  const page = await context.newPage()
  const mishaps: string[] = []
  page.on('pageerror', (error) => mishaps.push(String(error)))
  page.on('dialog', (dialog) => {
    // A run is under way, and the page is left all the same.
    if (dialog.type() === 'beforeunload') return dialog.accept()
    mishaps.push(dialog.message())
    return dialog.dismiss()
  })
  page.on('console', (message) => {
    if (/Content.Security.Policy|Trusted/i.test(message.text())) mishaps.push(message.text())
  })
  return { context, page, mishaps }
}
