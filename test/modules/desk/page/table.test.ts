import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseCsv } from '#table/csv.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { IS_LONG } from '../../../support/long.ts'
import { API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { sheetsOf } from '../../../support/workbook.ts'
import { linkAgain, linkFor, openWindow, signIn, type Window } from './desk-window.ts'

const ROWS = IS_LONG ? 10_000 : 300
/** Milliseconds within which a table answers to a person who types. */
const MAX_RESPONSE_MS = 10_000

describeInBrowser('a table at the desk', () => {
  let stack: Stack
  let browser: Browser
  let window: Window
  let page: Page
  let name: string

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
  beforeEach(async () => {
    window = await openWindow(browser, { acceptDownloads: true })
    page = window.page
    name = `Clerk ${randomUUID()}`
    await signIn(page, await linkFor(stack, 'clerk', { name }))
    await page.getByRole('link', { name: 'Issue from a table' }).first().click()
  })
  afterEach(async () => {
    const { context, mishaps } = window
    await context.close()
    expect(mishaps).toEqual([])
  })

  const give = (name: string, content: string | Buffer) =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) })
  const field = (name: string) => readFileSync(`test/packages/table/field/${name}.xlsx`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const start = async (count: number) => {
    const name = `Issue the good rows (${count.toLocaleString('en')})`
    await press(name)
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }
  const done = () => page.getByRole('heading', { name: 'The table is issued' }).waitFor()
  const saved = async (name: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name }).click(),
    ])
    return parseCsv(readFileSync(await download.path()))
  }
  const issued = async (category: string) => {
    let count = 0
    let cursor = ''
    do {
      const { status, body } = await stack.request(
        `/v1/documents?category=${category}&limit=100${cursor && `&cursor=${cursor}`}`,
        { headers: { authorization: `Bearer ${API_KEY}` } },
      )
      expect(status, JSON.stringify(body.error)).toBe(200)
      count += body.data.documents.length
      cursor = body.data.nextCursor ?? ''
    } while (cursor !== '')
    return count
  }

  test('matches columns, corrects bad cells, and saves the results', async () => {
    await give(
      'graduates.csv',
      'Full name;Student no;Degree;Date of issue;Notes\r\nAda;1;BSc;31.1.2026;x\r\n=Bob;2x;MSc;1.2.2026;\r\nCleo;3;MSc;30.2.2026;\r\n',
    )
    const open = page.getByText('First say what each column means')
    expect(await open.textContent()).toMatch(/Full name.*, .*Student no.*, .*Degree.*, .*Notes/)
    expect(await page.locator('#start').isDisabled()).toBe(true)
    await page.getByLabel('Full name').selectOption('Name')
    await page.getByLabel('Student no').selectOption('Identifier')
    await page.getByLabel('Degree').selectOption('Further entry of the document')
    await page.getByLabel('Notes').selectOption('Leave out')
    // 31.1.2026 can only begin with the day.
    expect(await page.getByLabel('How dates are written').inputValue()).toBe('dmy')
    expect(await open.count()).toBe(0)
    await page.locator('#set-category').fill('Master diploma')
    await page.keyboard.press('Tab')
    await page.getByText('Good rows: 1. Rows with a problem: 2.').waitFor()
    await page.getByLabel('Identifier, line 3').fill('2')
    await page.keyboard.press('Tab')
    await page.getByText('Good rows: 2. Rows with a problem: 1.').waitFor()
    expect(await page.getByLabel('Date of issue, line 4').getAttribute('aria-invalid')).toBe('true')
    await page.getByText('There is no 30 February.').waitFor()
    await start(2)
    await done()
    expect(await issued('master_diploma')).toBe(2)
    const { rows } = await saved('Save the results')
    expect(rows.map(({ cells }) => cells)).toMatchObject([
      { line: '2', subjectName: 'Ada', 'metadata.Degree': 'BSc', status: 'valid' },
      { line: '3', subjectName: '=Bob', issuedAt: '2026-02-01' },
    ])
    const verified = await stack.verify(rows[0]?.cells.publicId ?? '')
    expect(verified.body.data.status).toBe('valid')
    expect(rows[0]?.cells.verifyUrl).toContain(rows[0]?.cells.publicId)
    const failed = await saved('Save the rows that were not issued (1)')
    expect(failed.rows[0]?.cells).toMatchObject({ line: '4', 'Full name': 'Cleo' })
  })

  test('a single row can be issued once it is corrected', async () => {
    await give('one.csv', table('mended', 1).replace('1000', '1x'))
    const start = page.getByRole('button', { name: /^Issue the good rows/ })
    expect(await start.isDisabled()).toBe(true)
    await page.getByLabel('Identifier, line 2').fill('1')
    await page.keyboard.press('Tab')
    await start.click()
    await page.getByRole('dialog').waitFor()
  })

  test('says what is wrong with a file that is no table', async () => {
    await give('book.xlsx', Buffer.from([0x50, 0x4b, 0x03, 0x04, 0, 0]))
    await page.getByText('This file cannot be read.').waitFor()
    await give('open.csv', 'a,b\n"x,1\n')
    await page.getByText('a quotation mark is not closed').waitFor()
    await give('latin.csv', Buffer.from('subjectName\nZo\xeb\n', 'latin1'))
    await page.getByLabel('Which letters has the file?').selectOption('windows-1252')
    expect(await page.locator('#encoding-sample').textContent()).toBe('Zoë')
    await press('Read it so')
    await page.getByText('What the columns mean').waitFor()
    expect(await page.getByLabel('Name, line 2').inputValue()).toBe('Zoë')
  })

  test('shows names before it reads a file in another encoding', async () => {
    await give('c40.csv', readFileSync('test/packages/table/field/c40-cp1251.csv'))
    const letters = page.getByLabel('Which letters has the file?')
    await letters.selectOption('windows-1252')
    expect(await page.locator('#encoding-sample').textContent()).toBe('Àííà')
    await letters.selectOption('Cyrillic (windows-1251)')
    expect(await page.locator('#encoding-sample').textContent()).toBe('Анна')
    await press('Read it so')
    await page.getByText('What the columns mean').waitFor()
    expect(await page.getByLabel('Name, line 2').inputValue()).toBe('Анна')
  })

  const table = (category: string, count: number) =>
    `subjectName,subjectId,category,issuedAt\n${Array.from(
      { length: count },
      (_, i) => `Person ${i},${1000 + i},${category},2026-07-01\n`,
    ).join('')}`

  test('issues a table once when a reload loses the answer', async () => {
    await give('batch.csv', table('lost_batch', 20))
    let isSent = false
    await page.route('**/v1/runs?*', async (route) => {
      await route.fetch()
      isSent = true
    })
    await start(20)
    await expect.poll(() => isSent).toBe(true)
    await page.reload()
    await page.unroute('**/v1/runs?*')
    await page.getByText('Nothing is lost.').waitFor()
    await press('Go on')
    await done()
    expect(await issued('lost_batch')).toBe(20)
    expect((await saved('Save the results')).rows).toHaveLength(20)
  })

  test('another window shows the results after this one is closed', async () => {
    await give('rows.csv', table('closed_window', 300))
    await press('What will it cost, and how long will it take?')
    await page
      .getByText(/All together: .* about 10 seconds\. One by one: .* about 10 seconds/)
      .waitFor()
    await page.getByLabel('One by one.').check()
    await start(300)
    await page.getByText('You may close this window').waitFor()
    await page.close()
    page = await window.context.newPage()
    await page.goto(`http://localhost:${new URL(stack.url).port}/desk#/table`)
    await press('Show it')
    await done()
    expect(await issued('closed_window')).toBe(300)
    const { rows } = await saved('Save the results')
    expect(rows).toHaveLength(300)
    expect(rows[4]?.cells).toMatchObject({ line: '6', subjectName: 'Person 4', status: 'valid' })
    // What is given up is gone at the service too.
    await press('Use another table')
    await page.getByRole('dialog').getByRole('button', { name: 'Use another table' }).click()
    await page.getByText('Each row becomes a document.').waitFor()
    await page.reload()
    await page.getByText('Each row becomes a document.').waitFor()
    expect(await page.getByRole('button', { name: 'Show it' }).count()).toBe(0)
  })

  test('a session that ends during a run can be renewed, and the run continues', async () => {
    await give('rows.csv', table('signed_out', 12))
    await page.getByLabel('One by one.').check()
    let isOver = false
    await page.route('**/v1/runs/*', async (route) => {
      if (!isOver) await window.context.clearCookies()
      isOver = true
      await route.continue()
    })
    await start(12)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Sign-in link').fill(await linkAgain(stack, name))
    await dialog.getByRole('button', { name: 'Sign in with the link' }).click()
    await done()
    expect(await issued('signed_out')).toBe(12)
    expect(await page.getByRole('button', { name: /^Correct those rows/ }).count()).toBe(0)
  })

  test('reports that the table reader cannot be loaded, or has changed', async () => {
    await page.route('**/desk/reader', (route) => route.fulfill({ body: 'postMessage({})' }))
    await give('one.csv', table('other_reader', 1))
    await page.getByText('The page could not load what reads files.').waitFor()
    await page.unroute('**/desk/reader')
    window.mishaps.length = 0
    await give('one.csv', table('other_reader', 1))
    await page.getByText('What the columns mean').waitFor()
  })

  test('a workbook is read as a table', async () => {
    await give('graduates.xlsx', readFileSync('test/packages/table/workbooks/openpyxl.xlsx'))
    await page.getByText('What the columns mean').waitFor()
    await page.getByLabel('Full name').selectOption('Name')
    await page.getByLabel('Student no').selectOption('Identifier')
    await page.getByLabel('Degree').selectOption('Further entry of the document')
    await page.getByLabel('Grade').selectOption('Leave out')
    await page.locator('#set-category').fill('workbook')
    await page.keyboard.press('Tab')
    await page.getByText('Good rows: 2. Rows with a problem: 1.').waitFor()
    await page.getByLabel('Name, line 4').fill('Zoë')
    await page.keyboard.press('Tab')
    await start(3)
    await done()
    expect(await issued('workbook')).toBe(3)
  })

  test('a person chooses the sheet and the header line', async () => {
    const people = [
      ['Graduates', '2026'],
      ['subjectName', 'number'],
      ['Ada', '7'],
      ['Bob', '8'],
    ]
    await give('book.xlsx', Buffer.from(sheetsOf({ notes: [['Read me']], people })))
    await page.getByText('There are no rows.').waitFor()
    await page.getByLabel('Sheet', { exact: true }).selectOption('people')
    const header = page.getByLabel('Line that names the columns')
    await expect.poll(() => header.inputValue()).toBe('1')
    await page.locator('#set-category').fill('chosen')
    await header.selectOption('2: subjectName · number')
    await page.getByLabel('number', { exact: true }).selectOption('Identifier')
    await page.getByText('All rows are good (2).').waitFor()
    await header.selectOption('1: Graduates · 2026')
    await page.getByLabel('Graduates', { exact: true }).waitFor()
    expect(await page.locator('#set-category').inputValue()).toBe('chosen')
    await page.getByLabel('Sheet', { exact: true }).selectOption('notes')
    await page.getByText('There are no rows.').waitFor()
  })

  test('a bad cell of a workbook marks its row, unless its column is ignored', async () => {
    await give('formula.xlsx', readFileSync('test/packages/table/workbooks/formula.xlsx'))
    await page.getByLabel('Full name').selectOption('Name')
    await page.getByLabel('Student no').selectOption('Identifier')
    await page.getByLabel('Degree').selectOption('Leave out')
    await page.getByLabel('Grade').selectOption('Further entry of the document')
    await page.locator('#set-category').fill('formula')
    await page.keyboard.press('Tab')
    await page.getByText('The spreadsheet has an error here').waitFor()
    await page.reload()
    await page.getByText('The spreadsheet has an error here').waitFor()
    await page.getByLabel('Grade, line 4').fill('2')
    await page.keyboard.press('Tab')
    await page.getByText('The spreadsheet has an error here').waitFor({ state: 'detached' })
    await press('Use another table')
    await give('formula.xlsx', readFileSync('test/packages/table/workbooks/formula.xlsx'))
    await page.getByLabel('Grade').selectOption('Leave out')
    await page.getByText('The spreadsheet has an error here').waitFor({ state: 'detached' })
  })

  test('issues a column that shows other text than it stores as the person decides', async () => {
    await give('percent.xlsx', field('x10-percent'))
    expect(await page.getByLabel('grade, line 2').inputValue()).toBe('95%')
    expect(await page.locator('#start').isDisabled()).toBe(true)
    const shown = page.getByLabel('What is issued of this column?')
    await shown.selectOption('What it stores: \u20680.95\u2069')
    expect(await page.getByLabel('grade, line 2').inputValue()).toBe('0.95')
    await page.getByLabel('Numbers and months in the file').selectOption('de')
    await expect.poll(() => shown.inputValue()).toBe('')
    await shown.selectOption('What it shows: \u206895%\u2069')
    await start(1)
    await done()
    const { rows } = await saved('Save the results')
    expect(rows[0]?.cells).toMatchObject({ 'metadata.grade': '95%' })
  })

  test('suggests the local date', async () => {
    const there = await openWindow(browser, { timezoneId: 'Pacific/Auckland' })
    await there.page.clock.setFixedTime(new Date('2026-11-26T19:26:00Z'))
    await signIn(there.page, await linkFor(stack, 'clerk', { name: `There ${name}` }))
    await there.page.getByRole('link', { name: 'Issue a document' }).first().click()
    expect(await there.page.locator('#issuedAt').inputValue()).toBe('2026-11-27')
    await there.page.getByRole('link', { name: 'Issue from a table' }).first().click()
    await there.page.locator('#pasted').fill('subjectName\tsubjectId\nAda\t1\n')
    await there.page.getByRole('button', { name: 'Read these cells' }).click()
    await there.page.locator('#set-issuedAt').waitFor()
    expect(await there.page.locator('#set-issuedAt').inputValue()).toBe('2026-11-27')
    await there.context.close()
  })

  test('marks numbers that lost digits in a spreadsheet', async () => {
    await give('digits.xlsx', field('x13-id-17-digits'))
    await page.getByText('Good rows: 0. Rows with a problem: 2.').waitFor()
    expect(await page.getByText('Spreadsheets lose digits of so long a number.').count()).toBe(2)
  })

  test(`a table of ${ROWS} rows responds at once and is issued`, async () => {
    await give('large.csv', table('large', ROWS))
    await page.getByText(`All rows are good (${ROWS.toLocaleString('en')}).`).waitFor()
    const input = page.getByLabel('Identifier, line 3', { exact: true })
    const begun = Date.now()
    await input.fill('x')
    await page.keyboard.press('Tab')
    await page.getByText('Rows with a problem: 1.').waitFor()
    expect(Date.now() - begun).toBeLessThan(MAX_RESPONSE_MS)
    await input.fill('1001')
    await page.keyboard.press('Tab')
    await page.getByText('All rows are good').waitFor()
    await press('Later rows')
    await page.getByLabel('Identifier, line 52').waitFor()
    await start(ROWS)
    await done()
    expect(await issued('large')).toBe(ROWS)
    expect((await saved('Save the results')).rows).toHaveLength(ROWS)
  })
})
