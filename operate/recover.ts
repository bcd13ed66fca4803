/**
 * `npm run recover [-- --tenant <name>] [--out <file>]`: rebuilds a lost gateway in an empty
 * `DATA_DIR`, or the database of lost gateways in an empty one of PostgreSQL, from the chain, IPFS
 * and the issuer secret, with the settings of `npm start`. No account is needed. A run that was cut
 * off goes on when it is started again; until it is done, no gateway starts.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { counted } from '#cli/printable.ts'
import { wholeNumber } from '#cli/sources.ts'
import { toHex } from '#document/hex.ts'
import { type Config, ConfigError, readConfig } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { runCommand } from './command.ts'
import { openForCommand } from './command-database.ts'
import { remoteIdentity } from './identity.ts'
import { readIssued } from './recover/issued.ts'
import { openPayloads } from './recover/payloads.ts'
import { restoreDocuments } from './recover/restore.ts'

const say = (line: string) => console.error(line)

async function main(): Promise<number> {
  process.umask(0o077)
  const { values } = parseArgs({
    options: { tenant: { type: 'string' }, out: { type: 'string' }, from: { type: 'string' } },
  })
  const config = readSettings()
  const { dataDir } = config
  const checkpoint = join(dataDir, 'recover.ndjson')
  const from = wholeNumber('from', values.from ?? '0')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const stops: (() => Promise<void>)[] = []
  try {
    const database = await openForCommand(config, stops, { create: true })
    const { filled } = await database.claimEmpty('recover')
    const identity = await remoteIdentity(config, say)
    stops.unshift(identity.rpc.close)
    const { registry, issuerId, issuerSecrets } = identity
    const issued = await readIssued(identity, { checkpoint, from, say })
    await database.bindTo({ registry, issuerId, fingerprints: fingerprintsOf(issuerSecrets) })
    // Before any payload: what was erased does not come back.
    await database.mergeErasures(openErasureList(config.erasureList))
    const payloads = await openPayloads(config, identity, database)
    const out = values.out ?? join(dataDir, 'recovered.csv')
    const counts = await restoreDocuments(issued, payloads, database, {
      ...{ identity, out, tenant: values.tenant, say },
    })
    await filled()
    rmSync(checkpoint, { force: true })
    const batches = counted(counts.batches, 'batch', 'batches')
    say(`recovered ${counts.opened} of ${counted(counts.documents, 'document')}, ${batches}`)
    if (counts.erased > 0) say(`erased    ${counts.erased}`)
    if (counts.missing > 0)
      say(`missing   ${counts.missing}: no source has the payload, see ${out}`)
    if (counts.unopened > 0)
      say(`unopened  ${counts.unopened}: sealed with another secret, see ${out}`)
    if (counts.unread > 0)
      say(`unread    ${counted(counts.unread, 'batch', 'batches')}: no source has the manifest`)
    if (!issued.isComplete)
      say('INCOMPLETE: the registry counts more than its events show; ask a node that has them')
    say(`publicIds ${out}: whoever has this file can open every document`)
    const isWhole = counts.missing + counts.unopened + counts.unread === 0
    return isWhole && issued.isComplete ? 0 : 1
  } finally {
    for (const stop of stops) await stop()
  }
}

/** The settings; a recovery signs nothing, so it needs no account. */
function readSettings(): Config {
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL } = process.env
  const hasAccount = [ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL].some(Boolean)
  const unused = hasAccount ? {} : { ISSUER_KEY: toHex(randomBytes(32)) }
  const config = readConfig({ ...process.env, ...unused })
  if (config.rpcUrls.length === 0)
    throw new ConfigError([
      'RPC_URL is required: the local chain is in its data folder, and lost with it',
    ])
  return config
}

await runCommand('recover', main, 2)
