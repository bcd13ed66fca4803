// Fills in what the index can know of documents, from the chain and the payloads.
import { hash as digestOf } from 'node:crypto'
import { createLog } from '#base/log.ts'
import { hkdfWithNode, openWithNode } from '#base/node-crypto.ts'
import { createRegistry } from '#chain/registry.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { createOpenIndexed, type OpenIndexed } from '#documents/opening.ts'
import type { Identity } from '#parts/chain.ts'
import { openKubo } from '#parts/stores.ts'
import { createIndexEntryOf } from '#promise/blind-index.ts'
import type { IndexEntry, KeptStatus } from '#promise/document-index.ts'
import type { PayloadStore, RegistryReader } from '#promise/ports.ts'
import { revocationOf, type TrustedRecord } from '#promise/record.ts'
import { type Config, readConfig } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { CommandDatabase } from '#store/commands.ts'
import type { IndexRebuild, KnownDocument, Rebuilt } from '#store/index-rebuild.ts'
import { createTombstones } from '#store/tombstones.ts'
import { collectIssued } from '#verifier/readers/issued-logs.ts'
import { isSuperseded } from '#verifier/status.ts'
import { openWithIdentity } from './command-database.ts'
import { patiently } from './identity.ts'
import { readManifest } from './sources.ts'

/** The number of documents whose records are read together. */
const CHUNK = 500

type Say = (line: string) => void

/**
 * @param tenant The tenant for documents and batches whose tenant is unknown.
 * @returns The numbers of documents, and of batches that were assigned to the tenant.
 */
export async function reindex(tenant: string | undefined, say: Say) {
  const config = readConfig(process.env)
  const stops: (() => Promise<void>)[] = []
  try {
    const opened = await openWithIdentity(config, stops, say)
    return await rebuild({ ...opened, config, tenant, say })
  } finally {
    for (const stop of stops) await stop()
  }
}

type Rebuild = {
  config: Config
  identity: Identity
  database: CommandDatabase
  tenant: string | undefined
  say: Say
}

async function rebuild({ config, identity, database, tenant, say }: Rebuild) {
  const { rpc, registry: id, issuerId, signer, issuerSecrets } = identity
  const [newest] = subkeysOf(issuerSecrets)
  const { registry } = await patiently(
    () => createRegistry(rpc, { registry: id, issuerId, signer }),
    say,
  )
  const index = await database.rebuildIndex(tenant ?? null)
  const kubo = await openKubo(config, createLog(config.logLevel))
  const store = createTombstones(database.isErased).guardStore(database.embedded, kubo)
  const subkeys = subkeysOf(issuerSecrets)
  const opening = { issuerId, store, subkeys, opener: openWithNode, hkdf: hkdfWithNode }
  const entryOf = createEntryOf(createOpenIndexed(opening), newest)
  const counts = { anchored: 0, pending: 0 }

  async function replace(some: readonly Some[]): Promise<void> {
    const records = await registry.records(some.map(({ documentHash }) => ({ documentHash })))
    const rebuilt = await Promise.all(
      some.map(async (one, i) => rebuiltOf(one, records[i], await entryOf(one.documentHash))),
    )
    const present = rebuilt.filter((one) => one !== undefined)
    await index.replace(present)
    for (const { blockNumber } of present) counts[blockNumber === null ? 'pending' : 'anchored']++
  }

  for (let some = await index.alone(0); some.length > 0; ) {
    await replace(some)
    some = await index.alone(some.at(-1)?.id ?? 0)
  }
  const foreign = await readForeign(identity, say)
  for (let at = 0; at < foreign.length; at += CHUNK) {
    const missing = await index.missing(foreign.slice(at, at + CHUNK))
    await replace(missing.map((documentHash) => ({ documentHash })))
  }
  const owned = tenant === undefined ? 0 : await index.ownBatches(tenant)
  // The tenant of a restored batch is unknown.
  const inBatches = await addBatches(index, store, (hash, of) =>
    entryOf(hash, of || (tenant ?? null)),
  )
  await dateBatches(index, registry)
  return { owned, ...counts, inBatches }
}

/** A document of the database, or one that only the chain has. */
type Some = Pick<KnownDocument, 'documentHash'> & Partial<Pick<KnownDocument, 'status'>>

/** @returns The issuer's documents in the registry's events, in the order of their blocks. */
async function readForeign(
  { rpc, registry: id, issuerId }: Identity,
  say: Say,
): Promise<readonly Hex[]> {
  try {
    return (await collectIssued(rpc, id, issuerId)).documentHashes
  } catch (error) {
    say(
      `Warning: the events of the registry cannot be read (${error instanceof Error ? error.message : error}): documents of other gateways are omitted`,
    )
    return []
  }
}

function createEntryOf(open: OpenIndexed, subkeys: ReturnType<typeof subkeysOf>[0]) {
  const indexEntryOf = createIndexEntryOf(hkdfWithNode)
  return async (documentHash: Hex, tenant: string | null = null) => {
    const opening = await open({ documentHash, batchBlock: null })
    if (opening.status !== 'opened') return undefined
    return indexEntryOf(subkeys, opening.document, tenant)
  }
}

/** Adds documents of batches from their manifests, unless their payload cannot be opened. */
async function addBatches(
  index: IndexRebuild,
  store: PayloadStore,
  entryOf: (documentHash: Hex, tenant: string) => Promise<IndexEntry | undefined>,
): Promise<number> {
  let count = 0
  for (const { id, manifest, tenant } of await index.incompleteBatches()) {
    const batch = await readManifest(manifest, [store])
    let some: { documentHash: Hex; entry: IndexEntry }[] = []
    for (const block of batch?.blocks() ?? []) {
      const { documentHash } = block
      const entry = await entryOf(documentHash, tenant)
      const batchBlock = toHex(digestOf('sha256', encodeBatchBlock(block), 'buffer'))
      if (entry) some.push({ documentHash, entry: { ...entry, batchBlock } })
      if (some.length < CHUNK) continue
      await index.addToBatch(id, some)
      count += some.length
      some = []
    }
    await index.addToBatch(id, some)
    count += some.length
  }
  return count
}

/**
 * Sets the time of batches that were promised before times were recorded to that of their blocks.
 */
async function dateBatches(index: IndexRebuild, registry: RegistryReader): Promise<void> {
  const roots = await index.undatedBatches()
  for (let at = 0; at < roots.length; at += CHUNK) {
    const some = roots.slice(at, at + CHUNK)
    const records = await registry.records(some.map((root) => ({ documentHash: root, root })))
    for (const [i, root] of some.entries()) {
      const { anchoredBlock, anchoredAt } = records[i] ?? { anchoredBlock: 0, anchoredAt: 0 }
      if (anchoredBlock > 0) await index.dateBatch(root, anchoredAt)
    }
  }
}

/** @returns `undefined` for a document that only events have. */
function rebuiltOf(
  { documentHash, status: seen }: Some,
  record: TrustedRecord | undefined,
  entry: IndexEntry | undefined,
): Rebuilt | undefined {
  const isKnown = seen !== undefined
  if (!record || record.anchoredBlock === 0) {
    if (!isKnown || !entry) return undefined
    const { validUntil } = entry
    return { documentHash, validUntil, blockNumber: null, status: null, entry }
  }
  const { anchoredBlock, anchoredAt: blockTime, validUntil } = record
  return {
    documentHash,
    validUntil,
    blockNumber: anchoredBlock,
    blockTime,
    status: statusOf(record),
    ...(isKnown && { seen }),
    ...(entry && { entry }),
  }
}

function statusOf(record: TrustedRecord): KeptStatus | null {
  if (record.distrusted) return 'distrusted'
  if (isSuperseded(record)) return 'superseded'
  const revocation = revocationOf(record)
  if (revocation === 'final') return 'revoked'
  return revocation === 'suspended' ? 'suspended' : null
}
