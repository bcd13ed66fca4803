/**
 * `npm run issue-again [-- --only <file>] [--send]`: after the theft of an issuing key, issues
 * again what this gateway had issued with the distrusted account, with the settings of `npm start`,
 * while no gateway runs. Without `--send` it only lists the documents and batches.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Hex } from '../document/hex.ts'
import { lockAccount } from '../gateway/adapters/account-lock.ts'
import { contentOf } from '../gateway/adapters/ethereum/batch-anchor.ts'
import { createRegistry } from '../gateway/adapters/ethereum/registry.ts'
import {
  type RegistryCall,
  readView,
  sendCall,
} from '../gateway/adapters/ethereum/registry-call.ts'
import { createSqliteHistory, type SqliteHistory } from '../gateway/adapters/sqlite/history.ts'
import { ConfigError, readConfig } from '../gateway/config.ts'
import { assertOpenIssuer } from '../gateway/issue/errors.ts'
import type { RegistryReader } from '../gateway/issue/ports.ts'
import { type RecordKey, revocationOf, type TrustedRecord } from '../gateway/issue/record.ts'
import type { Identity } from '../gateway/open-chain.ts'
import { fingerprintsOf } from '../gateway/secrets.ts'
import { localIdentity, patiently, remoteIdentity, tellCause } from './identity.ts'
import { assertSqlite } from './only-sqlite.ts'
import { assertNothingInFlight, openStopped } from './stopped-gateway.ts'

/** Documents whose records are read together, and that one transaction issues. */
const CHUNK = 200
/** How long a block may take; milliseconds. */
const PATIENCE = 300_000
const MAX_LIST_BYTES = 64 * 1024 * 1024

const say = (line: string) => console.error(line)

/** A document, or a batch by its root, that reads Distrusted. */
type Distrusted = { hash: Hex; record: TrustedRecord }

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, send: { type: 'boolean', default: false } },
  })
  const only = values.only === undefined ? undefined : readList(values.only)
  assertSqlite(process.env, 'npm run issue-again')
  const config = readConfig(process.env)
  const stops: (() => Promise<void>)[] = []
  try {
    const database = openStopped(config.dataDir)
    stops.unshift(database.close)
    assertNothingInFlight(database)
    const identity =
      config.rpcUrls.length > 0
        ? await remoteIdentity(config, say)
        : await localIdentity(config, stops, say)
    stops.unshift(identity.rpc.close)
    const { rpc, registry: id, issuerId, signer, issuerSecrets } = identity
    database.bindTo({ registry: id, issuerId, fingerprints: fingerprintsOf(issuerSecrets) })
    const { account, registry, blocks } = await patiently(
      () => createRegistry(rpc, { registry: id, issuerId, signer }),
      say,
    )
    if (config.rpcUrls.length > 0) {
      const genesis = await blocks.blockHash(0)
      stops.unshift(await lockAccount({ registry: id, address: signer.address, genesis }))
    }
    const history = createSqliteHistory(database)
    const isWanted = ({ hash }: Distrusted) => only === undefined || only.has(hash)
    const since = history.since(await patiently(() => firstDistrustedBlock(identity), say))
    const keysOfBatches = since.roots.map((root) => ({ documentHash: root, root }))
    const keysOfDocuments = since.documentHashes.map((documentHash) => ({ documentHash }))
    const documents = (await readDistrusted(registry, keysOfDocuments)).filter(isWanted)
    const batches = (await readDistrusted(registry, keysOfBatches)).filter(isWanted)
    for (const one of documents) tellOne('document', one)
    for (const one of batches) tellOne('batch', one)
    say(`distrusted  ${documents.length} documents, ${batches.length} batches`)
    if (!values.send) {
      say('Nothing was sent. Look at each, then add --send, with --only <file> for some of them.')
      return
    }
    assertOpenIssuer(await account.assertReady())
    const send = (call: RegistryCall) =>
      sendCall(rpc, id, call, {
        ...{ signer, patience: PATIENCE },
        ...(config.feeCap !== undefined && { feeCap: config.feeCap }),
      })
    await issueDocuments(identity, history, documents, send)
    await issueBatches(identity, history, batches, send)
    say('Run `npm run reindex` before the gateway starts, and this command again once it is final.')
  } finally {
    for (const stop of stops) await stop()
  }
}

/** @returns Hashes, one on each line; more after the first space is a remark. */
function readList(file: string): Set<string> {
  const text = readFileSync(file, 'utf8')
  if (text.length > MAX_LIST_BYTES) throw new ConfigError([`${file} is larger than 64 MiB`])
  const lines = text.split('\n').map((line) => line.trim())
  const bad: string[] = []
  const hashes = new Set<string>()
  lines.forEach((line, i) => {
    if (line === '') return
    const hash = /0x[0-9a-f]{64}/.exec(line)?.[0]
    if (hash) hashes.add(hash)
    else bad.push(`${file}, line ${i + 1}: no documentHash or root`)
  })
  if (bad.length > 0) throw new ConfigError(bad)
  return hashes
}

/** @returns The first block from which an account of the issuer is distrusted; else no block. */
async function firstDistrustedBlock({ rpc, registry, issuerId }: Identity): Promise<number> {
  const { accountCount } = await readView(rpc, registry, 'issuerOf', [issuerId])
  let first = Number.MAX_SAFE_INTEGER
  for (let index = 0; index < accountCount; index++) {
    const { distrustedFrom } = await readView(rpc, registry, 'accountAt', [issuerId, index])
    if (distrustedFrom > 0n) first = Math.min(first, Number(distrustedFrom))
  }
  return first
}

async function readDistrusted(
  registry: RegistryReader,
  keys: readonly RecordKey[],
): Promise<Distrusted[]> {
  const found: Distrusted[] = []
  for (let at = 0; at < keys.length; at += CHUNK) {
    const chunk = keys.slice(at, at + CHUNK)
    const records = await patiently(() => registry.records(chunk), say)
    chunk.forEach(({ documentHash }, i) => {
      const record = records[i]
      if (record?.distrusted) found.push({ hash: documentHash, record })
    })
  }
  return found
}

function tellOne(what: string, { hash, record }: Distrusted): void {
  const revocation = revocationOf(record)
  const stays = revocation === 'none' || revocation === 'released' ? '' : `, stays ${revocation}`
  console.log(`${hash} ${what}, block ${record.anchoredBlock}${stays.replace('final', 'revoked')}`)
}

type Send = (call: RegistryCall) => Promise<{ blockNumber: number; transactionHash: Hex }>

async function issueDocuments(
  { issuerId }: Identity,
  history: SqliteHistory,
  documents: readonly Distrusted[],
  send: Send,
): Promise<void> {
  for (let at = 0; at < documents.length; at += CHUNK) {
    const chunk = documents.slice(at, at + CHUNK)
    const hashes = chunk.map(({ hash }) => hash)
    const expiries = chunk.map(({ record }) => record.validUntil)
    const args = [issuerId, hashes, expiries]
    const { blockNumber, transactionHash } = await send({ method: 'issueMany', args })
    await history.addDocuments(hashes, blockNumber, transactionHash)
    say(`issued      ${hashes.length} documents in block ${blockNumber} by ${transactionHash}`)
  }
}

async function issueBatches(
  { issuerId, rpc, registry }: Identity,
  history: SqliteHistory,
  batches: readonly Distrusted[],
  send: Send,
): Promise<void> {
  for (const { hash, record } of batches) {
    const { anchoredBlock } = record
    const content = await contentOf(rpc, { registry, issuerId, root: hash }, anchoredBlock)
    if (!content)
      throw new ConfigError([
        `the node has no event of the batch ${hash} in block ${anchoredBlock}`,
      ])
    const { size, manifest } = content
    const args = [issuerId, hash, size, manifest]
    const { blockNumber, transactionHash } = await send({ method: 'issueBatch', args })
    await history.addBatch(hash, blockNumber, transactionHash)
    say(`issued      a batch of ${size} in block ${blockNumber} by ${transactionHash}`)
  }
}

try {
  await main()
  process.exit()
} catch (error) {
  console.error(tellCause('issue again', error))
  process.exit(1)
}
