import { beforeEach, expect, test } from 'vitest'
import { formatRegistryId } from '#document/registry-id.ts'
import { type Bundle, readBundle } from '#verifier/index.ts'
import type { PageConfig } from '#web/config.ts'
import { describeInBrowser } from '../../support/chromium.ts'
import { give } from './give-file.ts'
import { startLiveWorld, usePage } from './page-fixture.ts'

describeInBrowser('the page never shows an outdated green', () => {
  const fixture = usePage()
  let { world, pages, context, page } = fixture
  beforeEach(() => {
    ;({ world, pages, context, page } = fixture)
  })

  const open = (config: Partial<PageConfig> = {}) =>
    page.goto(pages.host({ ...world.config, ...config }))
  const drop = (bundle: Bundle) => give(page, JSON.stringify(bundle))
  const shown = async (status: string, tone: string) => {
    const card = page.locator(`.verdict.${tone}[data-status=${status}]`)
    await card.waitFor()
    if (tone !== 'good') expect(await page.locator('.good').count()).toBe(0)
    return card
  }
  const title = () => page.locator('h1').textContent()
  const dayOf = (bundle: Bundle) =>
    new Intl.DateTimeFormat('en', {
      dateStyle: 'long',
      timeZone: 'UTC',
    }).format(readBundle(bundle).block.blockTime * 1000)
  const trust = async (bundle: Bundle) => {
    const { blockHash } = readBundle(bundle).block
    await page.getByLabel('Hash of block').fill(blockHash)
    await page.keyboard.press('Enter')
  }
  const makeRevoked = async () => {
    const { publicId, hash } = await world.issue()
    const bundle = await world.bundle(publicId)
    await world.revoke(hash)
    return { publicId, bundle }
  }

  test('shows a revoked document in red, with the older proof file below it', async () => {
    const { bundle } = await makeRevoked()
    await open()
    await drop(bundle)
    const card = await shown('revoked', 'bad')
    expect(await card.textContent()).toContain('Checked just now')
    const statement = page.locator('.statement')
    expect(await statement.textContent()).toMatch(
      new RegExp(`state of ${dayOf(bundle)} at .* UTC: Issued and unchanged\\.`),
    )
    expect(await statement.textContent()).toContain('The result above counts')
  })

  test('shows a document that is still valid in green, by the answer of the node', async () => {
    const { publicId } = await world.issue()
    await open()
    await drop(await world.bundle(publicId))
    const card = await shown('valid', 'good')
    expect(await card.textContent()).toContain('Checked just now')
    expect(await page.locator('.statement').count()).toBe(1)
  })

  test('reads a proof file of a document in a batch, with and without a node', async () => {
    const bundle = await world.bundle(await world.issueInBatch())
    expect(bundle.batch).not.toBeNull()
    world.content = 'hangs up'
    await open()
    await drop(bundle)
    await shown('valid', 'good')
    expect(await page.locator('.document').textContent()).toContain('Ada')
    expect(await page.locator('.checks').textContent()).toContain(
      'The list that the document was issued in was found.',
    )
    world.node = 'hangs up'
    await page.reload()
    await drop(bundle)
    await trust(bundle)
    await shown('valid', 'open')
    expect(await page.locator('.document').textContent()).toContain('Ada')
  })

  test('shows a proof file without a node as neutral and dated', async () => {
    const { bundle } = await makeRevoked()
    world.node = 'hangs up'
    await open()
    await drop(bundle)
    const unproven = await shown('unverifiable', 'open')
    expect(await unproven.textContent()).toContain('no node has confirmed it')
    await trust(bundle)
    const card = await shown('valid', 'open')
    expect(await title()).toBe(`Was valid on ${dayOf(bundle)}, not checked since`)
    expect(await page.title()).toContain('Was valid on')
    const text = await card.textContent()
    expect(text).toContain('It may have been withdrawn since then')
    expect(text).toContain('The node does not answer')
    expect(text).not.toContain('Checked just now')

    world.node = 'answers'
    await page.getByRole('button', { name: 'Try again' }).click()
    await shown('revoked', 'bad')
  })

  test('works offline, and checks again as soon as the device is online', async () => {
    const { bundle } = await makeRevoked()
    await open()
    await context.setOffline(true)
    await drop(bundle)
    await shown('unverifiable', 'open')
    await trust(bundle)
    const card = await shown('valid', 'open')
    expect(await card.textContent()).toContain('This device is offline')
    await context.setOffline(false)
    await shown('revoked', 'bad')
  })

  test('works without any node', async () => {
    const { bundle } = await makeRevoked()
    await open({ rpc: [] })
    await drop(bundle)
    await shown('unverifiable', 'open')
    await trust(bundle)
    const card = await shown('valid', 'open')
    expect(await card.textContent()).toContain('No node of the blockchain is')
  })

  test('a node that is behind confirms only the block of the file', async () => {
    const { publicId } = await world.issue()
    const bundle = await world.bundle(publicId)
    await page.clock.install({ time: Date.now() + 3_600_000 })
    await open({ maxHeadAge: 60 })
    await drop(bundle)
    const card = await shown('valid', 'open')
    expect(await title()).toContain('not checked since')
    expect(await card.textContent()).toContain('The node is behind')
  })

  test('a node that is behind still reports a revocation', async () => {
    const { bundle } = await makeRevoked()
    await page.clock.install({ time: Date.now() + 3_600_000 })
    await open({ maxHeadAge: 60 })
    await drop(bundle)
    await shown('unverifiable', 'open')
    expect(await title()).toBe('Could not be checked')
    expect(await page.locator('.checks li.fail').textContent()).toContain('has been revoked')
  })

  test('waits for a node that answers late', async () => {
    const { bundle } = await makeRevoked()
    world.node = 'hangs'
    await open()
    await drop(bundle)
    await page.waitForTimeout(500)
    expect(await title()).toBe('Checking …')
    world.node = 'answers'
    await shown('revoked', 'bad')
  })

  test('can retry a node that did not answer in time', async () => {
    const { bundle } = await makeRevoked()
    world.node = 'hangs'
    await open({ timeout: 1 })
    await drop(bundle)
    const card = await shown('unverifiable', 'open')
    expect(await card.textContent()).toContain('The node does not answer')
    world.node = 'answers'
    await page.getByRole('button', { name: 'Try again' }).click()
    await shown('revoked', 'bad')
  })

  test('reports without a node that the document has expired since', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const { publicId } = await world.issue({
      expiresAt: expiresAt.slice(0, 10),
    })
    const bundle = await world.bundle(publicId)
    world.node = 'hangs up'
    await page.clock.install({ time: Date.now() + 5 * 86_400_000 })
    await open()
    await drop(bundle)
    await shown('unverifiable', 'open')
    await trust(bundle)
    await shown('expired', 'past')
    expect(await title()).toBe('Expired')
  })

  test('says that a suspension may have ended since the proof file', async () => {
    const { publicId, hash } = await world.issue()
    await world.suspend(hash)
    const bundle = await world.bundle(publicId)
    world.node = 'hangs up'
    await open()
    await drop(bundle)
    await shown('unverifiable', 'open')
    await trust(bundle)
    const card = await shown('suspended', 'open')
    expect(await title()).toBe(`Was on hold on ${dayOf(bundle)}, not checked since`)
    expect(await card.textContent()).toContain('may have released it')

    world.node = 'answers'
    await page.getByRole('button', { name: 'Try again' }).click()
    await shown('suspended', 'held')
    expect(await title()).toBe('On hold')
  })

  test('a final failure keeps its title without a node', async () => {
    const { publicId, hash } = await world.issue()
    await world.revoke(hash)
    const bundle = await world.bundle(publicId)
    world.node = 'hangs up'
    await open()
    await drop(bundle)
    await shown('unverifiable', 'open')
    await trust(bundle)
    await shown('revoked', 'bad')
    expect(await title()).toBe('Revoked')
    expect(await page.locator('.verdict').textContent()).toContain('From a proof file')
  })

  test('dates "not issued" too, and does not show it in red', async () => {
    const { publicId } = await world.issue()
    const bundle = await world.bundle(publicId)
    const other = await startLiveWorld()
    const absent = await other
      .bundle(publicId)
      .finally(() => other.stop())
      .then((made) => ({ ...made, registry: other.config.registry }))
    world.node = 'hangs up'
    await open({ registry: absent.registry })
    await drop(absent)
    await shown('unverifiable', 'open')
    await trust(absent)
    await shown('not_issued', 'open')
    expect(await title()).toBe(`Not issued by ${dayOf(bundle)}, not checked since`)
  })

  test('uses content of the file for the current answer', async () => {
    const { publicId } = await world.issue()
    const bundle = await world.bundle(publicId)
    world.content = 'missing'
    await open()
    await drop(bundle)
    const card = await shown('valid', 'good')
    expect(await card.textContent()).toContain('Checked just now')
    expect(await page.locator('.document').textContent()).toContain('Ada Lovelace')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the proof' }).click(),
    ])
    const chunks: Buffer[] = []
    for await (const chunk of await download.createReadStream()) chunks.push(chunk)
    const saved = readBundle(Buffer.concat(chunks).toString()).bundle
    expect(saved.sealed).toBe(bundle.sealed)
  })

  test('rejects a file of another registry, and names that registry', async () => {
    const { publicId } = await world.issue()
    const forged = {
      ...(await world.bundle(publicId)),
      registry: formatRegistryId(1, `0x${'f0'.repeat(20)}`),
    }
    await open()
    await drop(forged)
    // The registry that the page trusts has the document, whatever the file says of it.
    await shown('valid', 'good')
    expect(await page.locator('#hint').textContent()).toContain(forged.registry)
    expect(await page.locator('.statement').textContent()).toContain('about another registry')
    world.node = 'hangs up'
    await drop(forged)
    await shown('unverifiable', 'open')
    expect(await page.locator('.verdict').textContent()).toContain('about another registry')
  })

  test('rejects a forged proof, with a node and without', async () => {
    const { bundle } = await makeRevoked()
    const forged = structuredClone(bundle)
    const [record] = forged.stateProof.storageProof
    if (record) record.value = `0x${'1'.repeat(64)}`
    await open()
    await drop(forged)
    await shown('revoked', 'bad')
    expect(await page.locator('.statement').textContent()).toContain('proves nothing')
    world.node = 'hangs up'
    await drop(forged)
    await shown('unverifiable', 'open')
    await trust(forged)
    await shown('unverifiable', 'open')
    expect(await page.locator('.verdict').textContent()).toContain('The proof proves nothing')
  })

  test('shows the age of its answer, and checks again in an open page', async () => {
    const { publicId, hash } = await world.issue()
    await page.clock.install()
    await page.goto(`${pages.host(world.config)}#${publicId}`)
    await shown('valid', 'good')
    await world.revoke(hash)
    await page.clock.fastForward('03:00')
    expect(await page.locator('#checked').textContent()).toMatch(/^Checked 3 minutes ago$/)
    await shown('valid', 'good')
    await page.clock.fastForward('08:00')
    await shown('revoked', 'bad')
  })

  test('checks again when the browser restores the page from its cache', async () => {
    const { publicId, hash } = await world.issue()
    await page.goto(`${pages.host(world.config)}#${publicId}`)
    await shown('valid', 'good')
    await world.revoke(hash)
    await page.evaluate(() =>
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })),
    )
    await shown('revoked', 'bad')
  })
})
