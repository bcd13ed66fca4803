import { readFileSync } from 'node:fs'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { parseCsv } from '#table/csv.ts'
import { describeInBrowser, launchChromium } from '../../../support/chromium.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts'
import {
  answer,
  linkAgain,
  linkFor,
  openWindow,
  press,
  type Role,
  signIn,
  type Window,
} from './desk-window.ts'

/** A name that tries to be markup, and to turn the text around it. */
const HOSTILE = '\u202E</bdi><img src=x onerror=alert(1)>\u2066 of "Ada" & co'

describeInBrowser('the desk', () => {
  let stack: Stack
  let browser: Browser
  const open: Window[] = []

  beforeAll(async () => {
    ;[stack, browser] = await Promise.all([
      startStack({ ADDRESS_RATE_LIMIT: 'off', WEBHOOK_ALLOW_PRIVATE: 'true' }),
      launchChromium(),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.stop()
  })
  afterEach(async () => {
    const mishaps = open.flatMap((window) => window.mishaps)
    await Promise.all(open.splice(0).map(({ context }) => context.close()))
    expect(mishaps).toEqual([])
  })

  const enter = async (role: Role, more: Parameters<typeof linkFor>[2] = {}) => {
    const window = await openWindow(browser)
    open.push(window)
    await signIn(window.page, await linkFor(stack, role, more))
    return window
  }
  const fill = async (page: Page, subjectName: string, subjectId = ADA.subjectId) => {
    await page.getByRole('link', { name: 'Issue a document' }).first().click()
    // The page of finding has a field of this name as well.
    await heading(page, 'Issue a document')
    await page.getByLabel('Name', { exact: true }).fill(subjectName)
    await page.getByLabel('Identifier').fill(subjectId)
    await page.getByLabel('Kind of document').fill('Birth certificate')
  }
  const asAdmin = (method: string, path: string) =>
    stack.request(path, { method, headers: { authorization: `Bearer ${API_KEY}` } })
  const issued = async (subjectId: string) => {
    const { body } = await stack.request('/v1/documents/search', {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subjectId }),
    })
    return body.data.documents
  }
  /** @returns What gives the browser one more authenticator, and then what takes it away. */
  async function authenticatorsOf(page: Page) {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    return async (transport: 'internal' | 'usb') => {
      const added = await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport,
          automaticPresenceSimulation: true,
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
        },
      })
      return () => devtools.send('WebAuthn.removeVirtualAuthenticator', added)
    }
  }
  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)

  test('a clerk opens a link and issues a document', async () => {
    const { page } = await enter('clerk')
    await fill(page, HOSTILE, '1001')
    await press(page, 'Check and issue')
    const question = page.getByRole('dialog')
    await question.waitFor()
    // The marks that turn text around are taken off.
    const name = HOSTILE.replace(/[\u202e\u2066]/g, '')
    expect(await question.getByRole('heading').textContent()).toBe(
      `Issue this \u2068Birth certificate\u2069 for \u2068${name}\u2069?`,
    )
    // The verify page has the same words.
    await question.getByText('Specimen of what its readers will see').waitFor()
    const specimen = await question.locator('dl').first().textContent()
    expect(specimen).toContain('without end')
    await answer(page, 'Issue')
    await heading(page, 'The document is issued')
    expect(await focused(page)).toBe('heading')
    const [document] = await issued('1001')
    expect(document).toMatchObject({
      subjectName: name,
      category: 'birth_certificate',
      status: 'valid',
    })
    const link = page.getByRole('link', { name: 'Open as its readers see it' })
    expect(await link.getAttribute('href')).toBe(document.verifyUrl)
    expect(await page.getByRole('img', { name: /^QR code/ }).count()).toBe(1)
    await page.goto(document.verifyUrl)
    expect(await page.locator('.document dl').first().textContent()).toBe(specimen)
  })

  test('a link signs in once, when its button is pressed', async () => {
    const link = await linkFor(stack, 'reader')
    const visitor = await openWindow(browser)
    open.push(visitor)
    await visitor.page.goto(link)
    await visitor.page.getByRole('button', { name: 'Sign in with this link' }).waitFor()
    expect(visitor.page.url()).not.toContain('invitation')
    const { page, context } = await openWindow(browser)
    await signIn(page, link)
    await context.close()
    await press(visitor.page, 'Sign in with this link')
    await visitor.page.getByText('This link does not work any more').waitFor()
  })

  test('a link asks before it signs in another person', async () => {
    const { page } = await enter('reader')
    await page.goto(await linkFor(stack, 'clerk'))
    await page.getByRole('button', { name: /^Stay signed in as .*Grace/ }).click()
    await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor()
    expect(await page.getByRole('link', { name: /Issue/ }).count()).toBe(0)
  })

  test('a passkey signs in later; signing out clears what was typed', async () => {
    const { page, context } = await enter('clerk')
    await (await authenticatorsOf(page))('internal')
    await page.getByRole('link', { name: 'Set up a passkey' }).click()
    await press(page, 'Set up a passkey')
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    await fill(page, 'Charles Babbage')
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toContain('Babbage')
    const tab = await context.newPage()
    await tab.goto(page.url())
    await fill(tab, 'Charles Babbage')
    await press(page, 'Sign out')
    await heading(page, 'Sign in to the desk')
    await heading(tab, 'Sign in to the desk')
    expect(await tab.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Babbage')
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain(
      'Babbage',
    )
    await press(page, 'Sign in with a passkey')
    await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor()
    await page.getByRole('link', { name: 'Issue a document' }).first().click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
  })

  test('a form survives a reload, an ended session and an outage', async () => {
    const { page, context } = await enter('clerk', { name: 'Patient clerk' })
    await fill(page, 'Mary Somerville', '1002')
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mary Somerville')

    await context.clearCookies()
    const keys: (string | undefined)[] = []
    await page.route('**/v1/documents', async (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length === 1) await route.continue()
      else if (keys.length === 2)
        await route.fulfill({ status: 503, headers: { 'retry-after': '1' } })
      else if (keys.length === 3) {
        // The service issues it, and its answer is lost.
        await route.fetch()
        await route.abort()
      } else await route.continue()
    })
    await press(page, 'Check and issue')
    await answer(page, 'Issue')
    await page.getByRole('heading', { name: 'Please sign in again' }).waitFor()
    await page
      .getByRole('dialog')
      .getByLabel('Sign-in link')
      .fill(await linkAgain(stack, 'Patient clerk'))
    await answer(page, 'Sign in with the link')
    await heading(page, 'The document is issued')
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(4)
    expect(await issued('1002')).toHaveLength(1)
  })

  test('a form that may have been issued is locked until that is known', async () => {
    const { page } = await enter('clerk')
    await fill(page, 'Caroline Herschel', '1006')
    let attempts = 0
    await page.route('**/v1/documents', async (route) => {
      if (++attempts === 1) {
        await route.fetch()
        await route.abort()
      } else
        await route.fulfill({
          status: 500,
          json: {
            success: false,
            data: {},
            error: { code: 'internal', message: '', requestId: 'r' },
          },
        })
    })
    await press(page, 'Check and issue')
    await answer(page, 'Issue')
    await page.getByText('It is not known whether this document was issued').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true)
    await page.unroute('**/v1/documents')
    await press(page, 'Try again')
    await heading(page, 'The document is issued')
    expect(await issued('1006')).toHaveLength(1)
  })

  test('works over plain HTTP from another machine, without passkeys', async () => {
    const plain = await launchChromium([
      '--host-resolver-rules=MAP office.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ])
    try {
      const { page } = await openWindow(plain)
      await signIn(page, (await linkFor(stack, 'clerk')).replace('localhost', 'office.example'))
      expect(await page.evaluate(() => isSecureContext)).toBe(false)
      await page.getByText('This browser offers no passkeys here.').waitFor()
      await fill(page, 'Maria Mitchell', '1008')
      await press(page, 'Check and issue')
      await answer(page, 'Issue')
      await heading(page, 'The document is issued')
    } finally {
      await plain.close()
    }
  })

  test('another person who signs in does not see the form', async () => {
    const { page, context } = await enter('clerk')
    await fill(page, 'Sophie Germain')
    await context.clearCookies()
    await press(page, 'Check and issue')
    await answer(page, 'Issue')
    const other = await linkFor(stack, 'clerk', { name: 'Somebody else' })
    await page.getByRole('dialog').getByLabel('Sign-in link').fill(other)
    await answer(page, 'Sign in with the link')
    await page.getByRole('link', { name: 'Somebody else' }).waitFor()
    expect(await page.getByText('Germain').count()).toBe(0)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
  })

  test('a registrar finds, suspends, releases, corrects and revokes', async () => {
    await stack.issue({ ...ADA, subjectName: 'Emmy Noether', subjectId: '1003' })
    const { page } = await enter('registrar')
    const second = await enter('registrar')
    await page.getByRole('link', { name: 'Find' }).first().click()
    await page.getByLabel('Identifier').fill('1003')
    await page.getByLabel('Kind of document').fill('Birth certificate')
    await press(page, 'Find')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page, 'Save all as a table'),
    ])
    expect(parseCsv(readFileSync(await download.path())).rows).toMatchObject([
      { cells: { subjectName: 'Emmy Noether', subjectId: '1003', status: 'valid' } },
    ])
    await page.getByRole('link', { name: 'Emmy Noether' }).click()
    const status = (name: string) => page.locator('.document .status', { hasText: name }).waitFor()
    await status('Valid')
    await press(page, 'Put on hold')
    const question = page.getByRole('dialog').getByRole('heading')
    expect(await question.textContent()).toContain('Emmy Noether')
    await answer(page, 'Put on hold')
    await status('On hold')
    await press(page, 'Release')
    await answer(page, 'Release')
    await status('Valid')
    const acts = await page.locator('.acts li').allTextContents()
    expect(acts.map((text) => text.split(' · ').slice(0, 2).join(' · '))).toEqual([
      expect.stringMatching(/^Issued · the program with the key /),
      'Put on hold · Grace of the front desk',
      'Released · Grace of the front desk',
    ])

    await press(page, 'Correct')
    await page.getByLabel('Name', { exact: true }).fill('Amalie Emmy Noether')
    await press(page, 'Show what changes')
    const row = page.getByRole('dialog').getByRole('row', { name: /^Name/ })
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'Emmy Noether',
      'Amalie Emmy Noether',
    ])
    await answer(page, 'Correct')
    await page.getByText('Show the one that it replaces').waitFor()
    await page.locator('.document', { hasText: 'Amalie Emmy Noether' }).waitFor()

    await second.page.goto(page.url())
    await press(page, 'Revoke')
    expect(await page.getByRole('dialog').textContent()).toContain('This cannot be undone.')
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('do-revoke')
    await press(second.page, 'Revoke')
    await answer(second.page, 'Revoke')
    await second.page.locator('.document .status', { hasText: 'Revoked' }).waitFor()
    await press(page, 'Revoke')
    await page.getByLabel('Reason').selectOption('affiliationChanged')
    await answer(page, 'Revoke')
    await status('Revoked')
    await page.getByText('Somebody has already revoked this document.').waitFor()
  })

  test('finds documents by name only in tables of the person', async () => {
    const { body } = await stack.issue({ ...ADA, subjectName: 'Łucja Émile-Zola' })
    const { documentHash } = body.data
    const { page } = await enter('reader')
    await page.getByRole('link', { name: 'Find' }).first().click()
    await page.getByText('Find by name').click()
    await page.getByLabel('Tables of results').setInputFiles([
      {
        name: 'issued.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(
          `subjectName,subjectId,documentHash\nŁucja Émile-Zola,7,${documentHash}\nOther,8,0x0\n`,
        ),
      },
      { name: 'broken.csv', mimeType: 'text/csv', buffer: Buffer.from('a,"b\n') },
    ])
    await page.getByText('broken.csv').waitFor()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.postData() ?? request.url()))
    await page.getByLabel('Name', { exact: true }).fill('zola lucja')
    await page.getByRole('link', { name: /Łucja/ }).click()
    await page.locator('.document .status', { hasText: 'Valid' }).waitFor()
    expect(requests.join()).not.toMatch(/zola/i)
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toMatch(/Zola/)
  })

  test('keeps names in the browser for one person on request, until undone', async () => {
    const window = await openWindow(browser)
    open.push(window)
    const { page } = window
    const names = 'Keep the names of what I issue in this browser'
    const kept = () => page.evaluate(() => JSON.stringify(localStorage))
    const leave = async () => {
      await press(page, 'Sign out')
      await heading(page, 'Sign in to the desk')
    }
    const find = async (text: string) => {
      await page.getByRole('link', { name: 'Find' }).first().click()
      await page.getByLabel('Name', { exact: true }).fill(text)
    }
    const issue = async (name: string) => {
      await fill(page, name, '1008')
      await press(page, 'Check and issue')
      await answer(page, 'Issue')
      await heading(page, 'The document is issued')
      await press(page, 'Issue another one')
    }
    await signIn(page, await linkFor(stack, 'clerk', { name: 'Keeper' }))
    await issue('Nobody Before')
    await page.getByRole('link', { name: 'Find' }).first().click()
    await page.getByText('Find by name').click()
    await page.getByLabel(names).check()
    await issue('Çelik Öztürk')
    await page.getByRole('link', { name: 'Issue from a table' }).click()
    const table = 'subjectName,subjectId,category,issuedAt\nOmar Cruz,1008,diploma,2026-07-01\n'
    await page.getByLabel('Cells from a spreadsheet').fill(table)
    await press(page, 'Read these cells')
    await press(page, 'Issue the good rows (1)')
    await answer(page, 'Issue the good rows (1)')
    await page.getByRole('heading', { name: 'The table is issued' }).waitFor()

    // Another person at the same browser neither finds them nor deletes them.
    await leave()
    await signIn(page, await linkFor(stack, 'clerk', { name: 'Another' }))
    await page.getByRole('link', { name: 'Find' }).first().click()
    await page.getByText('Find by name').click()
    expect(await page.getByLabel(names).isChecked()).toBe(false)
    expect(await page.locator('#names-text').count()).toBe(0)
    await leave()
    const { hash: again } = new URL(await linkAgain(stack, 'Keeper'))
    await signIn(page, page.url() + again)
    await find('ozturk')
    expect(await page.locator('.rows a').allTextContents()).toEqual(['Çelik Öztürk'])
    await find('c')
    expect(await page.locator('.rows a').allTextContents()).toEqual(['Omar Cruz', 'Çelik Öztürk'])

    // The name of a document whose content is erased goes, whoever erased it.
    const hash = (await issued('1008')).find(
      ({ subjectName }: { subjectName: string }) => subjectName === 'Omar Cruz',
    ).documentHash
    await asAdmin('POST', `/v1/documents/${hash}/revoke`)
    await asAdmin('DELETE', `/v1/documents/${hash}/payload`)
    await page.getByRole('link', { name: 'Omar Cruz' }).click()
    await page.getByRole('alert').filter({ hasText: /\S/ }).waitFor()
    await find('c')
    expect(await page.locator('.rows a').allTextContents()).toEqual(['Çelik Öztürk'])
    expect(await kept()).not.toMatch(/Omar|Nobody/)

    await page.getByLabel(names).uncheck()
    await answer(page, 'Cancel')
    await expect.poll(() => page.getByLabel(names).isChecked()).toBe(true)
    await page.getByLabel(names).uncheck()
    await answer(page, 'Delete the names')
    await page.locator('#names-text').waitFor({ state: 'detached' })
    expect(await kept()).not.toContain('Öztürk')
  })

  test('revokes several documents from a list, with a result for each', async () => {
    for (const subjectName of ['Lise', 'Marie', 'Irene'])
      await stack.issue({ ...ADA, subjectName, subjectId: '1007' })
    const { page } = await enter('registrar')
    await page.getByRole('link', { name: 'Find' }).first().click()
    await page.getByLabel('Identifier').fill('1007')
    await press(page, 'Find')
    await page.getByLabel(/^Tick .*Lise/).check()
    await page.getByLabel(/^Tick .*Marie/).check()
    await press(page, 'Revoke')
    const question = page.getByRole('dialog')
    expect(await question.getByRole('listitem').allTextContents()).toEqual(['Marie', 'Lise'])
    await answer(page, 'Revoke')
    await page.getByText('Done: 2 of 2.').waitFor()
    const found = await issued('1007')
    expect(found.map((one: { status: string }) => one.status)).toEqual([
      'valid',
      'revoked',
      'revoked',
    ])
    await page.getByLabel(/^Tick .*Lise/).check()
    await press(page, 'Put on hold')
    await answer(page, 'Put on hold')
    await page.getByText(/Lise.*: Somebody has already revoked this document\./).waitFor()
  })

  test('a role shows only what it may do', async () => {
    const { body } = await stack.issue({ ...ADA, subjectId: '1004' })
    const { page } = await enter('clerk')
    const at = page.url().replace(/#.*/, '')
    await page.goto(`${at}#/documents/${body.data.documentHash}`)
    await page.getByText('Ada Lovelace').waitFor()
    expect(
      await page.getByRole('button', { name: /Revoke|Correct|Erase|Put on hold/ }).count(),
    ).toBe(0)
    const reader = await enter('reader')
    expect(await reader.page.getByRole('link', { name: /Issue/ }).count()).toBe(0)
    const limited = await enter('clerk', { categories: ['diploma'] })
    await limited.page.getByRole('link', { name: 'Issue a document' }).first().click()
    expect(
      await limited.page.getByLabel('Kind of document').locator('option').allTextContents(),
    ).toEqual(['Please choose', 'Diploma'])
  })

  test('an administrator invites a person, and removes them at once', async () => {
    const { page } = await enter('administrator')
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByLabel('Name', { exact: true }).fill('<b>Bertha</b>')
    await press(page, 'Add a person')
    const link = (await page.locator('.link').textContent()) ?? ''
    const invited = await openWindow(browser)
    open.push(invited)
    await signIn(invited.page, link)
    await page.getByRole('button', { name: /^Remove .*Bertha/ }).click()
    await answer(page, 'Remove')
    await page.getByRole('button', { name: /^Remove .*Bertha/ }).waitFor({ state: 'detached' })
    await invited.page.getByRole('link', { name: 'Find' }).first().click()
    await press(invited.page, 'Find')
    await invited.page.getByRole('heading', { name: 'Please sign in again' }).waitFor()
  })

  test('a second passkey requires the first; an administrator removes them', async () => {
    const { page } = await enter('clerk', { name: 'Dorothy' })
    const add = await authenticatorsOf(page)
    await add('internal')
    await page.getByRole('link', { name: 'Set up a passkey' }).click()
    await press(page, 'Set up a passkey')
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    await page.reload()
    const loseSecond = await add('usb')
    await page.getByText('first asks for a passkey that you have').waitFor()
    await press(page, 'Set up a passkey')
    await expect.poll(() => page.getByRole('button', { name: 'Remove' }).count()).toBe(2)

    const administrator = (await enter('administrator')).page
    await administrator.getByRole('link', { name: 'People' }).click()
    const passkeys = administrator.getByRole('button', { name: /^Passkeys of .*Dorothy/ })
    await passkeys.click()
    await administrator.getByLabel('Passkey 2').check()
    await answer(administrator, 'Remove')
    await loseSecond()
    await page.reload()
    await heading(page, 'Sign in to the desk')
    await press(page, 'Sign in with a passkey')
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    await administrator.reload()
    const signOut = administrator.getByRole('button', { name: /^Sign out .*Dorothy/ })
    await signOut.click()
    await signOut.waitFor({ state: 'detached' })
    const invite = administrator.getByRole('button', { name: /^New link for .*Dorothy/ })
    await invite.click()
    await answer(administrator, 'Cancel')
    await passkeys.waitFor()
    await invite.click()
    await answer(administrator, 'New link')
    await passkeys.waitFor({ state: 'detached' })
    await page.reload()
    await press(page, 'Sign in with a passkey')
    await page.getByText('This passkey is not known here').waitFor()
  })

  test('an administrator changes what a person may do', async () => {
    const { page } = await enter('administrator')
    const name = 'Clara'
    const clerk = await enter('clerk', { name })
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('button', { name: /^Change .*Clara/ }).click()
    await page.getByLabel('Role').last().selectOption('reader')
    await page.getByLabel('Only these kinds').last().fill('Diploma; birth certificate')
    await answer(page, 'Change')
    await page.getByText('Clara · Reader').waitFor()
    await clerk.page.getByRole('link', { name: 'Find' }).first().click()
    await press(clerk.page, 'Find')
    await clerk.page.getByRole('heading', { name: 'Please sign in again' }).waitFor()
    const { body } = await asAdmin('GET', '/v1/people')
    expect(body.data.people.find((one: { name: string }) => one.name === name)).toMatchObject({
      role: 'reader',
      categories: ['diploma', 'birth_certificate'],
    })
    await page.getByRole('button', { name: /^Change .*Clara/ }).click()
    await page.getByLabel('Blocked: may not sign in').check()
    await answer(page, 'Change')
    await page.getByText(/Clara · Reader.*blocked/).waitFor()
    await page.getByRole('button', { name: /^New link for .*Clara/ }).click()
    const again = await openWindow(browser)
    open.push(again)
    await again.page.goto((await page.locator('.link').textContent()) ?? '')
    await press(again.page, 'Sign in with this link')
    await again.page.getByText('An administrator has blocked you').waitFor()
  })

  test('an administrator makes, tests and removes keys and receivers', async () => {
    const { page } = await enter('administrator')
    await page.getByRole('link', { name: 'Programs' }).click()
    await page.getByLabel('What it is for').fill('<i>Registry</i>')
    await page.getByLabel('find and read').check()
    await press(page, 'Make a key')
    const key = (await page.locator('.link').textContent()) ?? ''
    const list = { headers: { authorization: `Bearer ${key}` } }
    expect((await stack.request('/v1/documents', list)).status).toBe(200)
    await page.getByRole('button', { name: /^Remove .*Registry/ }).click()
    await answer(page, 'Revoke')
    await page.getByRole('button', { name: /^Remove .*Registry/ }).waitFor({ state: 'detached' })
    expect((await stack.request('/v1/documents', list)).status).toBe(401)

    const receiver = await startWebhookReceiver()
    await page.getByLabel('Address').fill(receiver.url)
    await press(page, 'Add a receiver')
    await page.getByRole('button', { name: /^Test / }).click()
    await page.getByText('It has not answered').waitFor()
    receiver.secret = (await page.locator('.link').last().textContent()) ?? ''
    await page.getByRole('button', { name: /^Test / }).click()
    await page.getByText('It has answered.').waitFor()
    expect(receiver.accepted.map(({ event }) => event.type)).toEqual(['webhook.test'])
    await page.getByRole('button', { name: /^Remove .http/ }).click()
    await answer(page, 'Remove')
    await page.getByRole('button', { name: /^Test / }).waitFor({ state: 'detached' })
    await receiver.close()
  })

  describeInBrowser('its traces', () => {
    let window: Window
    let requests: Request[]
    beforeEach(async () => {
      window = await enter('registrar')
      requests = []
      window.page.on('request', (request) => requests.push(request))
    })

    test('no publicId is in an address, a Referer or a storage', async () => {
      const { page, context } = window
      await fill(page, 'Hypatia of Alexandria', '1005')
      await press(page, 'Check and issue')
      await answer(page, 'Issue')
      await page.getByRole('link', { name: 'Open the document' }).click()
      await page.getByRole('button', { name: 'Put on hold' }).click()
      await answer(page, 'Put on hold')
      await page.locator('.document .status', { hasText: 'On hold' }).waitFor()
      const [{ publicId }] = await issued('1005')
      const key = toHex(decodePublicId(publicId).documentKey).slice(2)
      const secrets = [publicId, key, 'Hypatia']
      const seen = await Promise.all(
        requests.map(async (request) => {
          const { referer = '' } = await request.allHeaders()
          return `${request.url()} ${referer}`
        }),
      )
      const storage = await page.evaluate(() =>
        JSON.stringify([
          localStorage,
          sessionStorage,
          history.state,
          document.title,
          location.href,
        ]),
      )
      for (const secret of secrets) {
        expect(seen.join('\n')).not.toContain(secret)
        expect(storage).not.toContain(secret)
      }
      expect(seen.every((one) => one.startsWith(page.url().replace(/\/desk.*/, '')))).toBe(true)
      expect((await context.storageState()).origins).toEqual([])
    })
  })
})
