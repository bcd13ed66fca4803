import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { findingsOf } from '../../../support/accessibility.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { takePicture } from '../../../support/pictures.ts'
import { API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import {
  answer,
  linkFor,
  openWindow,
  press,
  type Role,
  signIn,
  type Window,
} from './desk-window.ts'

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
  const fill = async (page: Page, subjectId: string) => {
    await page.locator('nav a[href="#/issue"]').click()
    await page.getByLabel('Kind of document').selectOption('Course of study')
    await page.getByLabel('Graduate', { exact: true }).fill('Ada')
    await page.getByLabel('Identifier').fill(subjectId)
  }

  test('the form has the fields of the kind, and only they are issued', async () => {
    const { page } = await enter('clerk')
    await fill(page, '2001')
    expect(await page.locator('.boxed label').allTextContents()).toEqual([
      'Degree <b>awarded</b>',
      'Grade',
      'Date of birth',
    ])
    await page.getByText('As in the passport').waitFor()
    await page.getByLabel('Grade').fill('1,7')
    await press(page, 'Check and issue')
    await page.getByText('Please fill this in.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-metadata.degree')
    await page.getByLabel('Degree').selectOption('Master')
    await page.getByLabel('Date of birth').fill('1955-03-02')
    await takePicture(page, 'kind-issue')
    expect(await findingsOf(page)).toEqual([])
    await press(page, 'Check and issue')
    const question = page.getByRole('dialog')
    const title = question.getByRole('heading', { level: 2 })
    expect(await title.textContent()).toContain('Course of study')
    // As on the verify page, the name in the document stands beside the issuer's words.
    const names = await question.locator('dt').allTextContents()
    expect(names).toContain('Degree <b>awarded</b> degree')
    await answer(page, 'Issue')
    await page.getByRole('heading', { name: 'The document is issued' }).waitFor()
    const [document] = await issued('2001')
    expect(document).toMatchObject({
      category: 'diploma',
      metadata: { degree: 'Master', grade: '1.7', born: '1955-03-02' },
    })
    await page.locator('nav a[href="#/find"]').click()
    await page.getByLabel('Kind of document').fill('studienabschluss')
    await press(page, 'Find')
    await page.locator('table.list').getByText('Course of study').first().waitFor()
  })

  test('shows input for another kind, which must be removed', async () => {
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

  test('a person with several kinds chooses among them by name', async () => {
    const { page } = await enter('clerk', { categories: ['diploma', 'permit'] })
    await page.locator('nav a[href="#/issue"]').click()
    const options = page.getByLabel('Kind of document').locator('option')
    await expect
      .poll(() => options.allTextContents())
      .toEqual(['Please choose', 'Course of study', 'Permit'])
  })

  test('matches a table by the labels of the kind, and checks it', async () => {
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
      'Graduate',
      'Identifier',
      'Degree <b>awarded</b>',
      'Grade',
      'Date of birth',
      'Date of issue',
    ])
    await press(page, 'Issue the good rows (1)')
    await answer(page, 'Issue the good rows (1)')
    await page.getByText('The table is issued').first().waitFor()
    expect((await issued('2101'))[0].metadata).toEqual({
      degree: 'Master',
      grade: '1.3',
      born: '1955-03-02',
    })
  })

  test('an administrator defines a kind, which applies at once', async () => {
    const { page } = await enter('administrator')
    await page.locator('nav a[href="#/kinds"]').click()
    await press(page, 'Define a kind')
    await press(page, 'Save this kind')
    await page.locator('#kind-category[aria-invalid=true]').waitFor()
    await page.getByLabel('Name (English)').fill('Fishing permit')
    expect(await page.getByLabel('Short name', { exact: true }).inputValue()).toBe('fishing_permit')
    await page.getByLabel('Add a language').selectOption('Deutsch')
    await page.getByLabel('Name (Deutsch)').fill('Angelschein')
    await press(page, 'Add an entry')
    const entry = page.getByRole('group', { name: 'Entry 1' })
    await entry.getByLabel('Name (English)').fill('Water')
    await entry.getByLabel('Name (Deutsch)').fill('Gewässer')
    await entry.getByLabel('What is entered').selectOption('One of several choices')
    await press(page, 'Save this kind')
    await entry.getByText('Something is missing or wrong here.').waitFor()
    await entry.getByLabel('Choices').fill('Lake\nRiver\n')
    await entry.getByLabel('Must be filled in').check()
    await page.getByLabel('end of validity').check()
    await takePicture(page, 'kind-form')
    expect(await findingsOf(page)).toEqual([])
    await press(page, 'Save this kind')
    await page.getByText('Fishing permit').first().waitFor()
    const { kinds } = await send('GET', '/v1/kinds')
    const { metadata } = kinds.find((one: Kind) => one.category === 'fishing_permit')
    expect(metadata).toMatchObject({
      display: [
        { locale: 'en', name: 'Fishing permit' },
        { locale: 'de', name: 'Angelschein' },
      ],
      claims: [
        { path: ['expiresAt'], mandatory: true },
        {
          path: ['metadata', 'water'],
          mandatory: true,
          document_registry: { type: 'choice', choices: ['Lake', 'River'] },
        },
      ],
    })
    await page.locator('nav a[href="#/issue"]').click()
    await page.getByLabel('Kind of document').selectOption('Fishing permit')
    await page.getByLabel('Water').selectOption('Lake')
    await send('DELETE', '/v1/kinds/fishing_permit')
  })

  test('saves a kind as a file, and reads from it more than the form has', async () => {
    const { page } = await enter('administrator')
    await page.locator('nav a[href="#/kinds"]').click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByLabel('Save as a file: \u2068Course of study\u2069').click(),
    ])
    const file = readFileSync(await download.path(), 'utf8')
    expect(JSON.parse(file)).toMatchObject({ display: KIND.display })
    await page.getByLabel('Remove \u2068Course of study\u2069').click()
    await answer(page, 'Remove')
    await page.getByText('There are none yet.').waitFor()
    const give = (text: string) =>
      page.locator('input[type=file]').setInputFiles({
        name: 'kind.json',
        mimeType: 'application/json',
        buffer: Buffer.from(text),
      })
    await give('{"display":[]}')
    await page.getByText('This file is not a kind of documents').waitFor()
    await give(`\ufeff${file}`)
    await page.getByRole('group', { name: 'Entry 3' }).waitFor()
    await press(page, 'Save this kind')
    await page.getByLabel('Change \u2068Course of study\u2069').waitFor()
    const { vct: _, ...again } = (await send('GET', '/v1/kinds')).kinds[0].metadata
    const { vct: __, ...before } = JSON.parse(file)
    expect(again).toEqual(before)
  })

  test('refuses a change of an older version, and keeps the input', async () => {
    const { page } = await enter('administrator')
    await page.locator('nav a[href="#/kinds"]').click()
    await page.getByLabel('Change \u2068Course of study\u2069').click()
    await send('PUT', '/v1/kinds/diploma', { ...KIND, claims: [] })
    await page.getByLabel('Name (English)').first().fill('Mine')
    await press(page, 'Save this kind')
    await page.getByText('Somebody else has changed this kind').waitFor()
    expect(await page.getByLabel('Name (English)').first().inputValue()).toBe('Mine')
  })

  test('only administrators have the page', async () => {
    const { page } = await enter('registrar')
    expect(await page.locator('nav a[href="#/kinds"]').count()).toBe(0)
  })
})

type Kind = { category: string }
