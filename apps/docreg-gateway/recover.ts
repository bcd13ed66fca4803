// Rebuilds a lost gateway from the chain, IPFS and the issuer secret.
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '#document/hex.ts'
import { type Config, ConfigError, readConfig } from '#settings/config.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { bindingOf } from './binding.ts'
import { openForCommand } from './command-database.ts'
import { remoteIdentity } from './identity.ts'
import { readIssued } from './recover/issued.ts'
import { openPayloads } from './recover/payloads.ts'
import { type Counts, restoreDocuments } from './recover/restore.ts'

type Options = {
  tenant?: string
  /** The file for the publicIds; absent = `recovered.csv` in the data folder. */
  out?: string
  /** The first block to search for events. */
  from: number
  say: (line: string) => void
}

/** @returns The numbers of documents and batches, and the file of publicIds. */
export async function recover({
  tenant,
  out: given,
  from,
  say,
}: Options): Promise<Counts & { out: string; isComplete: boolean }> {
  const config = readSettings()
  const { dataDir } = config
  const checkpoint = join(dataDir, 'recover.ndjson')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const stops: (() => Promise<void>)[] = []
  try {
    const database = await openForCommand(config, stops, { create: true })
    const { filled } = await database.claimEmpty('recover')
    const identity = await remoteIdentity(config, say)
    stops.unshift(identity.rpc.close)
    const issued = await readIssued(identity, { checkpoint, from, say })
    await database.bindTo(bindingOf(identity))
    // This comes before any payload, so that erased documents do not come back.
    await database.mergeErasures(openErasureList(config.erasureList))
    const payloads = await openPayloads(config, identity, database)
    const out = given ?? join(dataDir, 'recovered.csv')
    const counts = await restoreDocuments(issued, payloads, database, {
      identity,
      out,
      tenant,
      say,
    })
    await database.loseStatusLists()
    await filled()
    rmSync(checkpoint, { force: true })
    return { out, isComplete: issued.isComplete, ...counts }
  } finally {
    for (const stop of stops) await stop()
  }
}

/** Reads the settings. A recovery signs nothing, so it needs no account. */
function readSettings(): Config {
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL } = process.env
  const hasAccount = [ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL].some(Boolean)
  const unused = hasAccount ? {} : { ISSUER_KEY: toHex(randomBytes(32)) }
  const config = readConfig({ ...process.env, ...unused })
  if (config.rpcUrls.length === 0)
    throw new ConfigError([
      'RPC_URL is required: a local chain is stored in DATA_DIR and lost with it',
    ])
  return config
}
