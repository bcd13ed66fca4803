/**
 * `npm run issue-batch -- <file> --out <file> [--idempotency-key <text>]`: issues all documents of
 * a file by one Merkle root, with the settings of `npm start`. No gateway runs with the data folder;
 * gateways on PostgreSQL may, beside an account that they do not use.
 */
import { existsSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { hkdfWithNode, hmacWithNode } from '#base/node-hkdf.ts'
import { sealWithNode } from '#base/node-seal.ts'
import { type Block, type BulkDeps, type BulkIssued, sealBatch } from '#batches/bulk.ts'
import { type BadLine, BulkFileError, checkFile, documentsOf } from '#batches/lines.ts'
import { anchorBatch, isAnchored, transactionOf } from '#chain/batch-anchor.ts'
import { UsageError } from '#cli/errors.ts'
import type { Batch } from '#document/batch/batch.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { Identity } from '#parts/chain.ts'
import { assertOpenIssuer } from '#promise/errors.ts'
import { type Config, readConfig } from '#settings/config.ts'
import { fingerprintsOf, subkeysOf } from '#settings/secrets.ts'
import type { CommandDatabase } from '#store/command-database.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { claimAccount } from './claim-account.ts'
import { runCommand } from './command.ts'
import { openForCommand, openPayloadStore } from './command-database.ts'
import { localIdentity, remoteIdentity } from './identity.ts'

const USAGE = 'npm run issue-batch -- <file> --out <file> [--idempotency-key <text>]'
/** How long a block may take; milliseconds. */
const PATIENCE = 300_000

type Arguments = { file: string; out: string; idempotencyKey?: string }

const say = (line: string) => console.error(line)

async function main(): Promise<void> {
  process.umask(0o077)
  const { file, out, idempotencyKey } = readArguments()
  const config = readConfig(process.env)
  const now = Date.now()
  const bulk = await checkFile(file, now, tellBad)
  if (process.exitCode !== undefined)
    throw new BulkFileError(`nothing was issued: ${file} has bad lines`)
  if (bulk.size === 0) throw new BulkFileError(`${file} has no documents`)

  const stops: (() => Promise<void>)[] = []
  try {
    // First: with SQLite, this lock and a running gateway exclude each other.
    const database = await openForCommand(config, stops, { create: true })
    const identity =
      config.rpcUrls.length > 0
        ? await remoteIdentity(config, say)
        : await localIdentity(config, stops, say)
    stops.unshift(identity.rpc.close)
    const { rpc, registry, issuerId } = identity
    const fingerprints = fingerprintsOf(identity.issuerSecrets)
    await database.bindTo({ registry, issuerId, fingerprints })
    const { account, signer } = await claimAccount(config, identity, database, { stops, say })
    assertOpenIssuer(await account.assertReady())

    const seal = (subkeys: IssuerSubkeys, keep: BulkDeps['keep']) =>
      sealBatch(
        {
          registry,
          issuerId,
          subkeys,
          seal: sealWithNode,
          hkdf: hkdfWithNode,
          hmac: hmacWithNode,
          keep,
        },
        documentsOf(bulk, now),
        idempotencyKey ?? bulk.sha256.toString('hex'),
      )
    const sealed = await seal(
      await secretOf(identity, async (subkeys) => {
        const { batch } = await seal(subkeys, async () => {})
        return isAnchored(rpc, batch)
      }),
      await openKeep(config, database),
    )
    const { root, size, manifest } = sealed.batch
    say(`root      ${root}`)
    say(`size      ${size}`)
    say(`manifest  ${manifest}`)
    await writeIssued(`${out}.part`, sealed.keepBlocks())
    say('kept      all payloads, batch blocks and the manifest')

    const { block, transactionHash, revoked } = await anchorBatch(rpc, sealed.batch, {
      signer,
      patience: PATIENCE,
      ...(config.feeCap !== undefined && { feeCap: config.feeCap }),
    })
    renameSync(`${out}.part`, out)
    say(
      `anchored  in block ${block}${transactionHash ? ` by ${transactionHash}` : ', by an earlier run'}`,
    )
    const transaction = transactionHash ?? (await transactionBefore(rpc, sealed.batch, block))
    if (transaction)
      await database.anchored.addBatch({
        ...{ hash: root, blockNumber: block, transactionHash: transaction },
      })
    if (revoked) say('Warning: the whole batch is revoked or suspended')
    say(`written   ${out}, with the keys of all documents: keep it secret`)
  } finally {
    for (const stop of stops) await stop()
  }
}

/**
 * @returns The transaction that anchored a batch before this run; `null` when the node has no event
 * or refuses.
 */
async function transactionBefore(rpc: Eip1193Provider, batch: Batch, block: number) {
  try {
    return await transactionOf(rpc, batch, block)
  } catch {
    return null
  }
}

/**
 * @returns The secret to seal with: an older one if it sealed this batch earlier, else the newest.
 */
async function secretOf(
  { issuerSecrets }: Identity,
  hasIssued: (subkeys: IssuerSubkeys) => Promise<boolean>,
): Promise<IssuerSubkeys> {
  const [newest, ...older] = subkeysOf(issuerSecrets)
  for (const subkeys of older) if (await hasIssued(subkeys)) return subkeys
  return newest
}

function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      'idempotency-key': { type: 'string' },
    },
  })
  const [file, ...more] = positionals
  const { out, 'idempotency-key': idempotencyKey } = values
  if (!file || more.length > 0 || !out) throw new UsageError(USAGE)
  if (existsSync(out))
    throw new UsageError(`${out} exists already: remove it, or name another file`)
  return { file, out, ...(idempotencyKey && { idempotencyKey }) }
}

function tellBad({ line, problems }: BadLine): void {
  process.exitCode = 1
  for (const { field, message } of problems)
    say(`line ${line}: ${field ? `${field} ` : ''}${message}`)
}

async function openKeep(
  config: Config,
  database: CommandDatabase,
): Promise<(blocks: readonly Block[]) => Promise<void>> {
  if (config.ipfsApiUrl === undefined) return database.putBlocks
  const store = await openPayloadStore(config, database)
  return async (blocks) => {
    await Promise.all(blocks.map(({ hash, bytes }) => store.put(hash, bytes)))
  }
}

/** Writes and flushes a file; the caller renames it once the batch is anchored. */
async function writeIssued(path: string, documents: AsyncIterable<BulkIssued>): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    let text = ''
    for await (const document of documents) {
      text += `${JSON.stringify(document)}\n`
      if (text.length < 65_536) continue
      await file.write(text)
      text = ''
    }
    await file.write(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

await runCommand('issue the batch', main)
