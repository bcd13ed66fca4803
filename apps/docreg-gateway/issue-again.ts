// After the theft of an issuing key, issues again what this gateway had issued with that account.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import { type RegistryCall, readView, sendCall } from '#chain/registry-call.ts'
import { InputError } from '#cli/errors.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { counted, printableJson } from '#cli/printable.ts'
import type { Terminal } from '#cli/terminal.ts'
import type { Hex } from '#document/hex.ts'
import type { Identity } from '#parts/chain.ts'
import { assertOpenIssuer } from '#promise/errors.ts'
import type { RegistryReader } from '#promise/ports.ts'
import { type RecordKey, revocationOf, type TrustedRecord } from '#promise/record.ts'
import { ConfigError, readConfig } from '#settings/config.ts'
import type { AnchoredLog } from '#store/commands.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { claimAccount } from './claim-account.ts'
import { openWithIdentity } from './command-database.ts'
import { patiently } from './identity.ts'

/** The number of documents whose records are read together and that one transaction issues. */
const CHUNK = 200
/** How long to wait for a block, in milliseconds. */
const PATIENCE = 300_000
/** How long to wait between two checks whether a block is final, in milliseconds. */
const FINALITY_INTERVAL = 4_000
const MAX_LIST_BYTES = 64 * 1024 * 1024

/** A document, or a batch with its root. */
type Own = { hash: Hex; record: TrustedRecord }

/**
 * The documents and batches that this gateway has issued since the theft, as they are in the
 * registry.
 */
type Remaining = {
  documents: Own[]
  batches: Own[]
  /** The newest block that anchored anything else of this gateway; 0 = none. */
  anchoredUpTo: number
}

const say = (line: string) => console.error(line)

/** @returns The exit code. */
export async function issueAgain(
  values: { only?: string; send?: boolean; 'no-wait'?: boolean; json?: boolean },
  { write }: Terminal,
): Promise<number> {
  const only = values.only === undefined ? undefined : readList(values.only)
  const config = readConfig(process.env)
  const stops: (() => Promise<void>)[] = []
  try {
    const { database, identity } = await openWithIdentity(config, stops, say)
    const { rpc, registry: id } = identity
    const claimed = await claimAccount(config, identity, database, { stops, say })
    const { account, registry, blocks, signer } = claimed
    const { anchored } = database
    const since = await anchored.since(await patiently(() => firstDistrustedBlock(identity), say))
    const look = () => readStanding(registry, since, only)
    let remaining = await look()
    const list = [
      ...remaining.documents.map((own) => entryOf('document', own)),
      ...remaining.batches.map((own) => entryOf('batch', own)),
    ]
    if (!values.json) for (const entry of list) write(lineOf(entry))
    const end = (state: 'listed' | 'final' | 'not_final'): number => {
      if (values.json) write(printableJson({ state, distrusted: list }))
      return state === 'not_final' ? EXIT.wrong : EXIT.ok
    }
    say(`distrusted  ${countOf(remaining)}`)
    if (!values.send) {
      say(
        'Nothing was sent. Check the list, then add --send, and --only <file> to issue some of them.',
      )
      return end('listed')
    }
    assertOpenIssuer(await account.assertReady())
    const send = (call: RegistryCall) =>
      sendCall(rpc, id, call, {
        signer,
        patience: PATIENCE,
        ...(config.feeCap !== undefined && { feeCap: config.feeCap }),
      })
    // Nobody else makes blocks on the local chain, so its blocks are final.
    const finalBlock = () =>
      config.rpcUrls.length > 0 ? patiently(blocks.finalizedBlock, say) : Infinity
    for (;;) {
      const last = Math.max(
        remaining.anchoredUpTo,
        await issueDocuments(identity, anchored, remaining.documents, send),
        await issueBatches(identity, anchored, remaining.batches, send),
      )
      if ((await finalBlock()) < last) {
        if (values['no-wait']) {
          tellNotFinal(last)
          return end('not_final')
        }
        say(`waiting     until block ${last} is final; after Ctrl-C, run this command again`)
        while ((await finalBlock()) < last) await sleep(FINALITY_INTERVAL)
      }
      remaining = await look()
      const isDone = remaining.documents.length + remaining.batches.length === 0
      if (isDone && remaining.anchoredUpTo <= (await finalBlock())) break
      if (!isDone) say(`removed     ${countOf(remaining)} by a reorg: sending again`)
    }
    say('All of it is in final blocks. Run `docreg-gateway reindex` before you start the gateway.')
    return end('final')
  } finally {
    for (const stop of stops) await stop()
  }
}

const countOf = ({ documents, batches }: Remaining) =>
  `${counted(documents.length, 'document')}, ${counted(batches.length, 'batch', 'batches')}`

function tellNotFinal(block: number): void {
  say(
    'Not final: a reorg could still undo it. Run `docreg-gateway reindex`, start the gateway, and run',
  )
  say(`this command again, with the same options, once block ${block} is final.`)
}

async function readStanding(
  registry: RegistryReader,
  since: Awaited<ReturnType<AnchoredLog['since']>>,
  only: ReadonlySet<string> | undefined,
): Promise<Remaining> {
  const isWanted = ({ hash }: Own) => only === undefined || only.has(hash)
  const ofDocuments = since.documentHashes.map((documentHash) => ({ documentHash }))
  const ofBatches = since.roots.map((root) => ({ documentHash: root, root }))
  const documents = (await readRecords(registry, ofDocuments)).filter(isWanted)
  const batches = (await readRecords(registry, ofBatches)).filter(isWanted)
  const isDistrusted = ({ record }: Own) => record.distrusted
  let anchoredUpTo = 0
  for (const { record } of [...documents, ...batches])
    if (!record.distrusted) anchoredUpTo = Math.max(anchoredUpTo, record.anchoredBlock)
  return {
    documents: documents.filter(isDistrusted),
    batches: batches.filter(isDistrusted),
    anchoredUpTo,
  }
}

/** @returns The hashes, one from each line. Text after the first space is a remark. */
function readList(file: string): Set<string> {
  const text = readFileSync(file, 'utf8')
  if (text.length > MAX_LIST_BYTES)
    throw new InputError('bad_table', `${file} is larger than 64 MiB`)
  const lines = text.split('\n').map((line) => line.trim())
  const bad: string[] = []
  const hashes = new Set<string>()
  lines.forEach((line, i) => {
    if (line === '') return
    const hash = /0x[0-9a-f]{64}/.exec(line)?.[0]
    if (hash) hashes.add(hash)
    else bad.push(`${file}, line ${i + 1} has no documentHash or root`)
  })
  if (bad.length > 0) throw new InputError('bad_table', bad.join('\n'))
  return hashes
}

/**
 * @returns The first block from which an account of the issuer is distrusted; otherwise no block.
 */
async function firstDistrustedBlock({ rpc, registry, issuerId }: Identity): Promise<number> {
  const { accountCount } = await readView(rpc, registry, 'issuerOf', [issuerId])
  let first = Number.MAX_SAFE_INTEGER
  for (let index = 0; index < accountCount; index++) {
    const { distrustedFrom } = await readView(rpc, registry, 'accountAt', [issuerId, index])
    if (distrustedFrom > 0n) first = Math.min(first, Number(distrustedFrom))
  }
  return first
}

async function readRecords(registry: RegistryReader, keys: readonly RecordKey[]): Promise<Own[]> {
  const found: Own[] = []
  for (let at = 0; at < keys.length; at += CHUNK) {
    const chunk = keys.slice(at, at + CHUNK)
    const records = await patiently(() => registry.records(chunk), say)
    chunk.forEach(({ documentHash: hash }, i) => {
      const record = records[i]
      if (record) found.push({ hash, record })
    })
  }
  return found
}

/** A line of the list as data. */
type Entry = { kind: 'document' | 'batch'; hash: Hex; block: number; stays: string | null }

function entryOf(kind: Entry['kind'], { hash, record }: Own): Entry {
  const revocation = revocationOf(record)
  const isValid = revocation === 'none' || revocation === 'released'
  const stays = isValid ? null : revocation.replace('final', 'revoked')
  return { kind, hash, block: record.anchoredBlock, stays }
}

const lineOf = ({ kind, hash, block, stays }: Entry) =>
  `${hash} ${kind}, block ${block}${stays === null ? '' : `, stays ${stays}`}`

type Send = (call: RegistryCall) => Promise<{ blockNumber: number; transactionHash: Hex }>

/** @returns The number of the newest block that contains one of them; 0 if there are none. */
async function issueDocuments(
  { issuerId }: Identity,
  anchored: AnchoredLog,
  documents: readonly Own[],
  send: Send,
): Promise<number> {
  let last = 0
  for (let at = 0; at < documents.length; at += CHUNK) {
    const chunk = documents.slice(at, at + CHUNK)
    const hashes = chunk.map(({ hash }) => hash)
    const expiries = chunk.map(({ record }) => record.validUntil)
    const args = [issuerId, hashes, expiries]
    const { blockNumber, transactionHash } = await send({ method: 'issueMany', args })
    await anchored.moveDocuments(hashes, { blockNumber, transactionHash })
    const what = counted(hashes.length, 'document')
    say(`issued      ${what} in block ${blockNumber} by ${transactionHash}`)
    last = blockNumber
  }
  return last
}

/** @returns The number of the newest block that contains one of them; 0 if there are none. */
async function issueBatches(
  identity: Identity,
  anchored: AnchoredLog,
  batches: readonly Own[],
  send: Send,
): Promise<number> {
  let last = 0
  for (const { hash, record } of batches) {
    const { anchoredBlock } = record
    const content = await contentOf(identity, hash, anchoredBlock)
    if (!content)
      throw new ConfigError([
        `the node has no event of the batch ${hash} in block ${anchoredBlock}`,
      ])
    const { size, manifest } = content
    const args = [identity.issuerId, hash, size, manifest]
    const { blockNumber, transactionHash } = await send({ method: 'issueBatch', args })
    await anchored.moveBatch(hash, { blockNumber, transactionHash })
    say(`issued      a batch of ${size} in block ${blockNumber} by ${transactionHash}`)
    last = blockNumber
  }
  return last
}

/**
 * @param block The block in which the batch was anchored.
 * @returns Its size and manifest; `null` when the node does not have its event, which is the only
 * place on the chain with the manifest.
 * @throws {RpcResponseError} when the node refuses the request; also the errors of the provider.
 */
async function contentOf(
  { rpc, registry, issuerId }: Identity,
  root: Hex,
  block: number,
): Promise<{ size: bigint; manifest: Hex } | null> {
  const { address } = parseRegistry(registry)
  const [fromBlock, toBlock] = [toQuantity(block), toQuantity(block)]
  const topics = registryAbi.encodeFilterTopics('BatchIssued', [root, issuerId])
  const params = [{ address, fromBlock, toBlock, topics }]
  const logs = await rpc.request({ method: 'eth_getLogs', params })
  const [log] = logs as { topics: string[]; data: string }[]
  const event = log && registryAbi.parseLog(log)
  return event ? { size: event.args.size, manifest: event.args.manifest } : null
}
