import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeInBrowser, launchChromium } from '../support/chromium.ts'
import { linkFor, openWindow, type Role, signIn, type Window } from '../support/desk-window.ts'
import { API_KEY, type Stack, startStack } from '../support/stack.ts'

const KIND = {
  display: [
    { locale: 'en', name: 'Course of study' },
    { locale: 'de', name: 'Studienabschluss' },
  ],
  claims: [
    { path: ['subjectName'], display: [{ locale: 'en', label: 'Graduate' }] },
    {
      path: ['metadata', 'degree'],
      display: [
        { locale: 'en', label: 'Degree <b>awarded</b>' },
        { locale: 'de', label: 'Abschluss' },
      ],
      mandatory: true,
      document_registry: { type: 'choice', choices: ['Bachelor', 'Master'] },
    },
    {
      path: ['metadata', 'grade'],
      display: [{ locale: 'en', label: 'Grade' }],
      document_registry: { type: 'number' },
    },
    {
      path: ['metadata', 'born'],
      display: [{ locale: 'en', label: 'Date of birth', description: 'As in the passport' }],
      document_registry: { type: 'date' },
    },
  ],
}

describeInBrowser('kinds of documents at the desk', () => {
  let stack: Stack
  let browser: Browser
  const open: Window[] = []
  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([
      startStack({ ADDRESS_RATE_LIMIT: 'off' }),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })
  beforeEach(() => send('PUT', '/v1/kinds/diploma', KIND))
  afterEach(async () => {
    const mishaps = open.flatMap((window) => window.mishaps)
    await Promise.all(open.splice(0).map(({ context }) => context.close()))
    expect(mishaps).toEqual([])
  })

  const send = async (method: string, path: string, body?: object) => {
    const answer = await stack.request(path, {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return answer.body.data
  }
  const issued = async (subjectId: string) =>
    (await send('POST', '/v1/documents/search', { subjectId })).documents
  const enter = async (role: Role, more: Parameters<typeof linkFor>[2] = {}) => {
    const window = await openWindow(browser)
    open.push(window)
    await signIn(window.page, await linkFor(stack, role, more))
    return window
  }
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click()
  const answer = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  const fill = async (page: Page, subjectId: string) => {
    await page.locator('nav a[href="#/issue"]').click()
    await page.getByLabel('Kind of document').selectOption('Course of study')
    await page.getByLabel('Graduate', { exact: true }).fill('Ada')
    await page.getByLabel('Identifier').fill(subjectId)
  }

  test('default: the form has the fields of the kind, and only they are issued', async () => {
    const { page } = await enter('clerk')
    await fill(page, '2001')
    expect(await page.locator('fieldset.entries label').allTextContents()).toEqual([
      ...['Degree <b>awarded</b>', 'Grade', 'Date of birth'],
    ])
    await page.getByText('As in the passport').waitFor()
    await page.getByLabel('Grade').fill('1,7')
    await press(page, 'Check and issue')
    await page.getByText('Please fill this in.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-metadata.degree')
    await page.getByLabel('Degree').selectOption('Master')
    await page.getByLabel('Date of birth').fill('1955-03-02')
    await press(page, 'Check and issue')
    const question = page.getByRole('dialog')
    expect(await question.getByRole('heading').textContent()).toContain('Course of study')
    expect(await question.locator('dt').allTextContents()).toContain('Degree <b>awarded</b>')
    await answer(page, 'Issue')
    await page.getByRole('heading', { name: 'The document is issued' }).waitFor()
    const [document] = await issued('2001')
    expect(document).toMatchObject({
      category: 'diploma',
      metadata: { degree: 'Master', grade: '1.7', born: '1955-03-02' },
    })
  })

  test('behavior: what was typed for another kind is shown, and has to go', async () => {
    const { page } = await enter('clerk')
    await page.locator('nav a[href="#/issue"]').click()
    await page.getByLabel('Kind of document').selectOption('Another kind')
    await page.getByLabel('Which kind?').fill('Permit')
    await press(page, 'Add an entry')
    await page.locator('#entry-0-name').fill('street')
    await page.locator('#entry-0-value').fill('Main')
    await page.getByLabel('Kind of document').selectOption('Course of study')
    await page.getByText('This kind of document has no such entry. Remove it.').waitFor()
    await page.getByLabel('Remove entry 1').click()
    expect(await page.getByText('no such entry').count()).toBe(0)
  })

  test('behavior: a person with some kinds chooses among them by name', async () => {
    const { page } = await enter('clerk', { categories: ['diploma', 'permit'] })
    await page.locator('nav a[href="#/issue"]').click()
    const options = page.getByLabel('Kind of document').locator('option')
    await expect
      .poll(() => options.allTextContents())
      .toEqual(['Please choose', 'Course of study', 'Permit'])
  })

  test('default: a table is matched by the labels of the kind, and checked', async () => {
    const { page } = await enter('clerk')
    await page.locator('nav a[href="#/table"]').click()
    const table = [
      'Graduate;subjectId;Abschluss;Grade;Date of birth;issuedAt',
      'Ada;2101;Master;1,3;2.3.1955;1.7.2026',
      'Bob;2102;Doctor;2;31.12.1960;1.7.2026',
    ]
    await page.getByLabel('Cells from a spreadsheet').fill(table.join('\n'))
    await press(page, 'Read these cells')
    await page.locator('#set-category').fill('course of study')
    await page.locator('#set-category').press('Tab')
    await page.getByText('Good rows: 1. Rows with a problem: 1.').waitFor()
    expect(await page.locator('td.problem').nth(1).textContent()).toContain(
      'One of the choices of this entry.',
    )
    const headings = await page.locator('.grid thead th').allTextContents()
    expect(headings.slice(1, -1)).toEqual([
      ...['Graduate', 'Identifier', 'Degree <b>awarded</b>', 'Grade', 'Date of birth'],
      'Date of issue',
    ])
    await press(page, 'Issue the good rows (1)')
    await answer(page, 'Issue the good rows (1)')
    await page.getByText('The table is issued').first().waitFor()
    expect((await issued('2101'))[0].metadata).toEqual({
      ...{ degree: 'Master', grade: '1.3', born: '1955-03-02' },
    })
  })
})
