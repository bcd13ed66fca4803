import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@noble/hashes/sha2.js'
import { Interface } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '#cli/audit/follow.ts'
import type { Mark } from '#cli/audit/journal.ts'
import { decodeFollowedLog } from '#cli/audit/registry-events.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { toQuantity } from '#verifier/readers/rpc-codec.ts'
import { type AnvilNode, startAnvilNode } from '../../../support/anvil.ts'
import { type BlockServer, startBlockServer } from '../../../support/block-server.ts'
import { docreg } from '../../../support/docreg.ts'
import { type RpcProxy, startRpcProxy } from '../../../support/rpc-proxy.ts'
import { type AuditedIssuer, createAuditedIssuer, REASON } from './audited-issuer.ts'

type Found = { code: string; count: number; severity: string; examples: string[] }

let dir: string
let anvil: AnvilNode
let blocks: BlockServer
let proxy: RpcProxy
let world: AuditedIssuer
let publicIds: string
/** What was planted: the code of its finding, and how often. */
const planted = new Map<string, number>()
const plant = (code: string) => planted.set(code, (planted.get(code) ?? 0) + 1)
/** What the admin, or a thief of that key, can write into the registry. */
const NOT_UTF8 = { name: Uint8Array.of(0x41, 0xff), uri: Uint8Array.of(0xc3) }
const garbage = new TextEncoder().encode('not a sealed document')
const hashes: Record<string, Hex> = {}
/** What the thief released or revoked last, as the findings name it. */
const stolen: { released: Hex[]; revoked: string[]; batch?: Hex; lostBatch?: Hex } = {
  released: [],
  revoked: [],
}

async function plantFaults(): Promise<void> {
  const { issue, issueBatch, make, send, addresses, pass } = world
  const ids: string[] = ['publicId,name']
  const good = [await issue(), await issue({ category: 'diploma' })]
  ids.push(...good.map(({ publicId }, i) => `${publicId},person ${i}`))

  for (const [code, reason] of [
    ['revoked', REASON.keyCompromise],
    ['superseded', REASON.superseded],
    ['suspended', REASON.hold],
  ] as const) {
    const { documentHash } = await issue()
    await send('issuer', 'revoke', 1, documentHash, reason)
    hashes[code] = documentHash
    plant(code)
  }
  await issue({ issuedAt: '2020-01-01', expiresAt: '2020-01-02' })
  plant('expired')

  blocks.set(fromHex((await issue()).documentHash), 404)
  plant('payload_missing')
  blocks.set(fromHex((await issue()).documentHash), garbage)
  plant('payload_wrong_bytes')
  blocks.set(sha256(garbage), garbage)
  await send('issuer', 'issue', 1, toHex(sha256(garbage)), 0)
  plant('payload_malformed')

  const foreign = 'eip155:1:0x00000000000000000000000000000000000000aa'
  for (const [code, fields] of [
    ['other_registry', { registry: foreign }],
    ['other_issuer', { issuerId: 7 }],
    ['dated_in_future', { issuedAt: '2999-01-01' }],
  ] as const) {
    ids.push((await issue(fields)).publicId)
    plant(code)
  }
  const other = await make()
  await send('issuer', 'issue', 1, other.documentHash, 4_000_000_000)
  ids.push(other.publicId)
  plant('other_expiry')
  const { documentHash } = await issue()
  const opensAnother = await make()
  hashes.wrongKey = documentHash
  ids.push(withKeyOf(opensAnother.publicId, documentHash))
  plant('wrong_key')
  ids.push(withIssuer(opensAnother.publicId, 9))
  plant('public_id_other_issuer')
  ids.push((await make()).publicId)
  plant('public_id_not_listed')
  ids.push(`${good[0]?.publicId.slice(0, -1)}${good[0]?.publicId.endsWith('2') ? '3' : '2'}`)
  plant('public_id_malformed')

  const { batch, documents, batchBlocks } = await issueBatch(3)
  hashes.inBatch = documents[0]?.documentHash as Hex
  await send('issuer', 'revokeInBatch', 1, batch.root, [hashes.inBatch], REASON.keyCompromise)
  plant('revoked')
  blocks.set(sha256(batchBlocks[0] as Uint8Array), 404)
  plant('batch_block_missing')
  const lost = await issueBatch(2)
  blocks.set(fromHex(lost.batch.manifest), 404)
  plant('batch_manifest_unreadable')
  const root = toHex(sha256(garbage))
  await send('issuer', 'issueBatch', 1, root, 3, batch.manifest)
  plant('batch_not_recounted')
  await send('issuer', 'revokeBatch', 1, lost.batch.root, REASON.keyCompromise)
  plant('batch_revoked')

  await send('manager', 'addAccount', 1, addresses.thief, 3)
  plant('account_unexpected')
  const forged = await issue({}, 'thief')
  plant('distrusted')
  plant('young_account')
  await send('thief', 'revoke', 1, good[1]?.documentHash, REASON.keyCompromise)
  await plantTheftOfRevoke(batch.root, documents)
  const [log] = await anvil.request<{ blockNumber: Hex }[]>('eth_getLogs', {
    address: world.registry.split(':')[2],
    fromBlock: '0x0',
    topics: [null, forged.documentHash],
  })
  await send('manager', 'distrustFrom', 1, addresses.thief, Number(log?.blockNumber))
  plant('account_distrusted')
  await send('manager', 'release', 1, good[1]?.documentHash)
  plant('set_aside')

  await world.setTexts(1, NOT_UTF8)
  plant('issuer_renamed')
  await send('admin', 'updateIssuer', 1, 'New name', 'https://new.example')
  plant('issuer_renamed')
  await send('admin', 'proposeAccount', 1, addresses.admin)
  plant('recovery_pending')
  await send('admin', 'closeIssuer', 1)
  plant('issuer_closed')
  await pass(1)
  publicIds = join(dir, 'issued.csv')
  // Without a line feed at the end, as many editors leave it.
  writeFileSync(publicIds, ids.join('\n'))
}

/** What a thief with REVOKE does to documents alone, in a batch, and to whole batches. */
async function plantTheftOfRevoke(root: Hex, inBatch: { documentHash: Hex }[]): Promise<void> {
  const { issue, issueBatch, send } = world
  const { hold, keyCompromise } = REASON
  const [released, suspended, revoked] = [await issue(), await issue(), await issue()]
  await send('issuer', 'revoke', 1, released.documentHash, hold)
  await send('thief', 'release', 1, released.documentHash)
  await send('thief', 'revoke', 1, suspended.documentHash, hold)
  await send('thief', 'revoke', 1, revoked.documentHash, keyCompromise)
  const [, released2, revoked2] = inBatch.map(({ documentHash }) => documentHash)
  await send('issuer', 'revokeInBatch', 1, root, [released2], hold)
  await send('thief', 'releaseInBatch', 1, root, [released2])
  await send('thief', 'revokeInBatch', 1, root, [revoked2], keyCompromise)
  stolen.released = [released.documentHash, released2 as Hex]
  stolen.revoked = [
    `${suspended.documentHash}: suspended`,
    `${revoked.documentHash}: revoked`,
    `${revoked2}: revoked`,
  ]
  const [whole, lost] = [await issueBatch(2), await issueBatch(1)]
  stolen.batch = whole.batch.root
  stolen.lostBatch = lost.batch.root
  await send('issuer', 'revokeBatch', 1, whole.batch.root, hold)
  await send('thief', 'releaseBatch', 1, whole.batch.root)
  await send('thief', 'revokeBatch', 1, lost.batch.root, hold)
  for (const code of ['batch_released_by_distrusted', 'batch_revoked_by_distrusted']) plant(code)
  for (const _ of stolen.released) plant('released_by_distrusted')
  for (const _ of stolen.revoked) plant('revoked_by_distrusted')
  for (const _ of [whole, lost]) plant('batch_suspended')
  // Both that were released, one, and those of the two batches.
  for (let count = 0; count < 2 + 1 + 3; count++) plant('suspended')
  for (let count = 0; count < 2; count++) plant('revoked')
}

function withKeyOf(publicId: string, hash: Hex): string {
  return encodePublicId({ ...decodePublicId(publicId), hash: fromHex(hash) })
}

function withIssuer(publicId: string, issuerId: number): string {
  return encodePublicId({ ...decodePublicId(publicId), issuerId })
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'audit-'))
  anvil = await startAnvilNode(dir, [], 1)
  blocks = await startBlockServer()
  world = await createAuditedIssuer(anvil, blocks)
  await plantFaults()
  await anvil.request('anvil_mine', '0x4')
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy?.close()
  await blocks?.close()
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const audit = (...args: string[]) =>
  docreg(['audit', '--issuer', '1', '--registry', world.registry, '--rpc', proxy.url, ...args])
const everything = () => [
  '--ipfs',
  blocks.url,
  '--payloads',
  '--public-ids',
  publicIds,
  '--account',
  world.addresses.manager,
  '--account',
  world.addresses.issuer,
]
const foundIn = (stdout: string): Found[] => JSON.parse(stdout).issuers[0].findings
const countsOf = (found: Found[]) => Object.fromEntries(found.map((one) => [one.code, one.count]))

test('finds every planted fault, and proves that the list is complete', async () => {
  const { code, stdout } = await audit(...everything(), '--json')
  const [issuer] = JSON.parse(stdout).issuers
  expect(issuer).toMatchObject({ status: 'complete', asOf: { isFinal: true } })
  expect(countsOf(issuer.findings)).toEqual({
    ...Object.fromEntries(planted),
    code_unchecked: 1,
  })
  expect(planted.size).toBeGreaterThanOrEqual(20)
  expect(code).toBe(1)
  expect(issuer.issuer.name).toBe('New name')
  expect(issuer.counts.documentsInBatches).toBe(6)
  expect(issuer.summary.byCategory).toContainEqual({ category: 'diploma', issued: 1 })
})

test('names by hash what a distrusted account released or revoked', async () => {
  const out = join(dir, 'stolen')
  const { stdout } = await audit(...everything(), '--out', out)
  const { issuers } = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8'))
  const examplesOf = (code: string): string[] =>
    issuers[0].findings.find((one: Found) => one.code === code).examples
  const { released, revoked, batch, lostBatch } = stolen
  expect(examplesOf('released_by_distrusted').sort()).toEqual(released.toSorted())
  expect(examplesOf('revoked_by_distrusted').sort()).toEqual(revoked.toSorted())
  expect(examplesOf('batch_released_by_distrusted')).toEqual([batch])
  expect(examplesOf('batch_revoked_by_distrusted')).toEqual([`${lostBatch}: suspended`])

  const html = readFileSync(join(out, 'report.html'), 'utf8')
  for (const one of [...released, ...revoked, batch, `${lostBatch}: suspended`]) {
    expect(stdout).toContain(one)
    expect(html).toContain(`<code>${one}</code>`)
  }
  const csv = readFileSync(join(out, 'documents.csv'), 'utf8').trimEnd().split('\r\n')
  const withFinding = (code: string) => csv.filter((line) => line.split(',').at(-1)?.includes(code))
  for (const hash of released)
    expect(withFinding('released_by_distrusted').join()).toMatch(
      new RegExp(`${hash},[^,]*,suspended,.*,removeFromCRL,`),
    )
  expect(withFinding('released_by_distrusted')).toHaveLength(released.length)
  expect(withFinding('revoked_by_distrusted')).toHaveLength(revoked.length)

  type Named = { root: Hex; status: string; reason: string; findings: string[] }
  const ofBatch = (root?: Hex) => issuers[0].batches.find((one: Named) => one.root === root)
  expect(ofBatch(batch)).toMatchObject({
    status: 'suspended',
    reason: 'removeFromCRL',
    findings: expect.arrayContaining(['batch_released_by_distrusted']),
  })
  expect(ofBatch(lostBatch)).toMatchObject({
    status: 'suspended',
    reason: 'certificateHold',
    findings: expect.arrayContaining(['batch_revoked_by_distrusted']),
  })
  // A document of the batch is suspended, and not by its own hash.
  const ofWhole = issuers[0].documents.filter(
    (one: { batchRoot: Hex | null }) => one.batchRoot === batch,
  )
  expect(ofWhole).toHaveLength(2)
  for (const one of ofWhole)
    expect(one).toMatchObject({ status: 'suspended', ownReason: null, findings: ['suspended'] })
  const { manifest, revokedBlock } = ofBatch(batch)
  const counted = await docreg([
    'recount',
    manifest,
    '--json',
    '--registry',
    world.registry,
    '--rpc',
    proxy.url,
    '--ipfs',
    blocks.url,
  ])
  expect(JSON.parse(counted.stdout)).toMatchObject({ complete: true, revokedBlock })
  expect(revokedBlock).toBeGreaterThan(0)
})

test('writes a report that loads no resources, a CSV and a checkpoint', async () => {
  const out = join(dir, 'audit')
  const first = await audit(...everything(), '--out', out)
  expect(first.stdout).toMatch(/^COMPLETE, WITH FAULTS: /)
  const csv = readFileSync(join(out, 'documents.csv'), 'utf8').trimEnd().split('\r\n')
  const { issuers } = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8'))
  expect(csv.length - 1).toBe(issuers[0].documents.length)
  // Nothing that needs quotes, and nothing that a spreadsheet would run.
  for (const cell of csv.flatMap((line) => line.split(','))) expect(cell).toMatch(/^(\w[\w :-]*)?$/)
  const lineOf = (hash: Hex | undefined) => csv.find((line) => line.includes(`${hash}`))
  expect(lineOf(hashes.revoked)).toContain(',revoked,')
  expect(lineOf(hashes.inBatch)).toContain('keyCompromise')
  expect(lineOf(hashes.wrongKey)).toMatch(/wrong_key$/)
  const html = readFileSync(join(out, 'report.html'), 'utf8')
  expect(html).toContain("default-src 'none'")
  expect(html).not.toMatch(/<script|<link|<img|src=|href=/)
  proxy.asked.length = 0
  const again = await audit(...everything(), '--out', out)
  expect(again).toEqual(first)
  expect(proxy.asked).not.toContain('eth_getLogs')
})

test('finds a document, a batch and an event that the node leaves out or changes', async () => {
  proxy.change = (method, result) => {
    if (method !== 'eth_getLogs') return result
    const logs = result as { topics: Hex[]; data: Hex }[]
    return logs
      .filter(({ topics }) => topics[1] !== hashes.revoked && topics[0] !== BATCH_ISSUED)
      .map((log) =>
        log.topics[1] === hashes.suspended
          ? { ...log, data: log.data.replace(world.addresses.issuer.slice(2), '11'.repeat(20)) }
          : log,
      )
  }
  const { code, stdout } = await audit('--json').finally(() => {
    proxy.change = (_, result) => result
  })
  expect(JSON.parse(stdout).issuers[0].status).toBe('incomplete')
  expect(countsOf(foundIn(stdout))).toMatchObject({
    documents_missing: 1,
    batches_missing: 5,
    event_contradicts: 1,
  })
  expect(code).toBe(1)
})

const BATCH_ISSUED = '0x5519b623694c63284c5b47a2235ef49988400428f635d7008b61f6b5c9fe7bb9'

test('reads a stored list, and finds missing and never issued documents', async () => {
  const { stdout } = await audit('--json')
  expect(foundIn(stdout).map(({ code }) => code)).not.toContain('never_issued')
  const out = join(dir, 'audit')
  const { issuers } = JSON.parse(readFileSync(join(out, 'audit.json'), 'utf8'))
  const kept: Hex[] = issuers[0].documents
    .filter((one: { batchRoot: Hex | null }) => one.batchRoot === null)
    .map((one: { documentHash: Hex }) => one.documentHash)
  const file = join(dir, 'list.txt')
  const lines = [...kept.slice(1), `0x${'77'.repeat(32)}`].map((hash) => `document ${hash}`)
  writeFileSync(file, `${lines.join('\n')}\n`)
  proxy.fail = (method) =>
    method === 'eth_getLogs' ? { code: 4444, message: 'pruned history unavailable' } : undefined
  const short = await audit('--list', file, '--json')
  const whole = await audit('--list', join(out, 'events-1.ndjson'), '--json')
  proxy.fail = () => undefined
  expect(countsOf(foundIn(short.stdout))).toMatchObject({
    documents_missing: 1,
    batches_missing: 5,
    never_issued: 1,
  })
  expect(JSON.parse(whole.stdout).issuers[0].status).toBe('complete')
})

test('an export verifies offline, can be extended, and omits nothing', async () => {
  const file = join(dir, 'list.ndjson')
  const ofIssuer = (...args: string[]) =>
    docreg(['export', '--issuer', '1', '--registry', world.registry, ...args])
  const made = await ofIssuer('--rpc', proxy.url, '--out', file, '--json')
  const { asOf, documents, batches } = JSON.parse(made.stdout)
  expect(batches).toEqual({ count: 5, listed: 5 })
  const check = (path: string, hash = asOf.blockHash) =>
    ofIssuer('--check', path, '--block-hash', hash, '--json')
  const checked = await check(file)
  expect(checked.code).toBe(0)
  expect(JSON.parse(checked.stdout)).toEqual({ ...JSON.parse(made.stdout), newer: null })

  proxy.fail = (method) =>
    method === 'eth_getLogs' ? { code: 4444, message: 'pruned history unavailable' } : undefined
  const again = await ofIssuer('--rpc', proxy.url, '--out', file, '--json')
  const audited = await audit('--list', file, '--json')
  proxy.fail = () => undefined
  expect(JSON.parse(again.stdout).documents).toEqual(documents)
  expect(JSON.parse(audited.stdout).issuers[0].status).toBe('complete')

  const text = readFileSync(file, 'utf8')
  const changed = join(dir, 'changed.ndjson')
  const codeOf = async (run: Promise<{ stdout: string }>) =>
    JSON.parse((await run).stdout).error.code
  // The hash may stand anywhere in the list.
  const revoked = new RegExp(`"${hashes.revoked}",|,"${hashes.revoked}"`)
  const proofs = text.slice(text.indexOf('{"proof"')).replace(revoked, '')
  writeFileSync(changed, text.slice(0, text.indexOf('{"proof"')) + proofs)
  expect(await codeOf(check(changed))).toBe('unproven')
  expect(await codeOf(check(file, `0x${'11'.repeat(32)}`))).toBe('unproven')
  writeFileSync(changed, text.slice(0, text.indexOf('{"proof"')))
  expect(await codeOf(check(changed))).toBe('unreadable')
})

test('tracks accounts, recoveries, renamed and unknown issuers', async () => {
  const head = Number(await anvil.request<Hex>('eth_blockNumber'))
  const stop = new AbortController()
  const request = createRequest(createFetchProvider(proxy.url))
  const { addresses, send } = world
  const found: string[] = []
  let looks = 0
  const alerts = follow(request, {
    registry: world.registry,
    issuers: [1],
    from: head + 1,
    signal: stop.signal,
    async sleep() {
      looks++
      proxy.refuse = () => looks === 1
      if (looks === 2) {
        await send('admin', 'reopenIssuer', 1)
        await send('admin', 'registerIssuer', addresses.thief, 'Look-alike', '')
        await world.setTexts(2, NOT_UTF8)
        await send('thief', 'setPermissions', 2, addresses.thief, 7)
        await send('manager', 'vetoProposal', 1)
      }
      if (looks === 4) stop.abort()
    },
  })
  for await (const { alert } of alerts) found.push(alert)
  expect(found).toEqual([
    'node_unreachable',
    'node_back',
    'issuer_reopened',
    'unknown_issuer',
    'issuer_renamed',
    'recovery_vetoed',
  ])

  // Started again, it goes on where it stopped; also if a reorg has removed that block.
  const { hash } = await anvil.request<{ hash: Hex }>(
    'eth_getBlockByNumber',
    toQuantity(head),
    false,
  )
  const firstFrom = async (last: Mark) => {
    const again = follow(request, {
      registry: world.registry,
      issuers: [1],
      from: 0,
      last,
      sleep: async () => {},
    })
    const { value } = await again.next()
    await again.return(undefined)
    return value?.alert
  }
  expect(await firstFrom({ block: head, hash })).toBe('issuer_reopened')
  expect(await firstFrom({ block: head, hash: `0x${'11'.repeat(32)}` })).toBe('reorg')
})

test('tracks the role of the admin', async () => {
  const head = Number(await anvil.request<Hex>('eth_blockNumber'))
  const stop = new AbortController()
  const { addresses, send, pass } = world
  const { admin, issuer } = addresses
  const alerts = follow(createRequest(createFetchProvider(proxy.url)), {
    registry: world.registry,
    issuers: [1],
    from: head + 1,
    signal: stop.signal,
    async sleep() {
      if (found.length > 0) return stop.abort()
      await send('admin', 'beginDefaultAdminTransfer', addresses.thief)
      await send('admin', 'cancelDefaultAdminTransfer')
      await send('admin', 'beginDefaultAdminTransfer', issuer)
      // Of another role: the account may now issue.
      await send('admin', 'registerIssuer', addresses.thief, 'Another', '')
      await send('thief', 'setPermissions', 3, addresses.thief, 1)
      await pass(86_401)
      await send('issuer', 'acceptDefaultAdminTransfer')
    },
  })
  const found: object[] = []
  for await (const alert of alerts) found.push(alert)
  const scheduled = { alert: 'admin_transfer_scheduled', by: null, acceptFrom: expect.any(Number) }
  expect(found).toMatchObject([
    { ...scheduled, account: addresses.thief, block: head + 1 },
    { alert: 'admin_transfer_canceled', account: null, by: null, block: head + 2 },
    { ...scheduled, account: issuer, block: head + 3 },
    { alert: 'unknown_issuer' },
    { alert: 'admin_revoked', account: admin, by: issuer },
    { alert: 'admin_granted', account: issuer, by: issuer },
  ])
  for (const alert of found) expect(alert).toMatchObject({ transactionHash: expect.any(String) })
  const accepted = found.map((alert) => (alert as { acceptFrom?: number }).acceptFrom)
  const { timestamp } = await anvil.request<{ timestamp: Hex }>(
    'eth_getBlockByNumber',
    toQuantity(head + 3),
    false,
  )
  expect(accepted[2]).toBe(Number(timestamp) + 86_400)
})

test('would report a change of the delay, which the registry refuses', () => {
  const abi = new Interface([
    'event DefaultAdminDelayChangeScheduled(uint48 newDelay, uint48 effectSchedule)',
  ])
  const { data, topics } = abi.encodeEventLog('DefaultAdminDelayChangeScheduled', [1, 2_000])
  const address: Hex = `0x${'12'.repeat(20)}`
  const transactionHash: Hex = `0x${'34'.repeat(32)}`
  const place = { transactionHash, blockHash: transactionHash, blockNumber: '0x7', logIndex: '0x0' }
  const log = { address, topics, data, ...place }
  expect(decodeFollowedLog(log, address)).toEqual({
    event: 'admin_delay_change_scheduled',
    account: null,
    by: null,
    delay: 1,
    acceptFrom: 2_000,
    block: 7,
    transactionHash,
  })
  expect(() => decodeFollowedLog({ ...log, data: '0x' }, address)).toThrow(FormatError)
})

test('refuses a changed proof, another chain, and a node that is down', async () => {
  const codeOf = async (...args: string[]) => {
    const { code, stdout } = await audit('--json', ...args)
    expect(code).toBe(2)
    return JSON.parse(stdout).error.code
  }
  proxy.change = (method, result) => {
    if (method !== 'eth_getProof') return result
    const text = JSON.stringify(result)
    const { storageProof } = result as { storageProof: { proof: Hex[] }[] }
    const leaf = storageProof[0]?.proof.at(-1) as Hex
    return JSON.parse(text.replaceAll(leaf, `${leaf.slice(0, -1)}${leaf.endsWith('0') ? 1 : 0}`))
  }
  expect(await codeOf()).toBe('proof_invalid')
  proxy.change = (method, result) => (method === 'eth_chainId' ? '0x1' : result)
  expect(await codeOf()).toBe('wrong_chain')
  proxy.change = (_, result) => result
  proxy.refuse = (method) => method === 'eth_getProof'
  expect(await codeOf()).toBe('rpc_unreachable')
  proxy.refuse = () => false
})
