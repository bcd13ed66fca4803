// All documents and batches of an issuer, and a proof that none is missing. It needs ethers and the
// registry's ABI alone:
//
//   node tools/examples/list-documents.mjs <RPC address> <registry> <issuerId> <block of deployment, or a file> [<code hash>]
//
// Nodes drop old events. The file is a list that was kept: lines of "document 0x…" or "batch 0x…",
// as this prints them. The events say which hashes there are, and the state says whether they are
// all: at one block, as many distinct hashes with an anchoring part as the issuer's count are all
// of its documents. So a node that leaves out events is caught.
import { readFileSync } from 'node:fs'
import { Contract, JsonRpcProvider, keccak256 } from 'ethers'

const RANGE = 10_000
const CHUNK = 500
const STATUSES = 'NotIssued Valid Expired Suspended Revoked Superseded Distrusted'.split(' ')

const [url, address, issuerId, origin, codeHash] = process.argv.slice(2)
// Digits are a block; a kept list is a file.
const kept = /^\d+$/.test(origin) ? undefined : readFileSync(origin, 'utf8')
const abi = new URL('../../deployments/DocumentRegistry.abi.json', import.meta.url)
const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true })
const registry = new Contract(address, JSON.parse(readFileSync(abi, 'utf8')), provider)

try {
  const blockTag = (await provider.getBlock('finalized'))?.number ?? 0
  const code = await provider.getCode(address, blockTag)
  if (code === '0x')
    refuse('no contract at the address', (await provider.getCode(address)) !== '0x' && 'it is')
  if (codeHash !== undefined && keccak256(code) !== codeHash)
    throw new Error(`other code: ${keccak256(code)}`)
  const issuer = await registry.issuerOf(issuerId, { blockTag })
  const newest = await registry.issuerOf(issuerId)
  // Only an issuer that the registry does not know has no account.
  if (issuer.accountCount === 0n)
    refuse(`no issuer ${issuerId}`, newest.accountCount > 0n && 'it is')
  const newer = newest.documentCount - issuer.documentCount
  const newerBatches = newest.batchCount - issuer.batchCount
  const isEmpty = issuer.documentCount + issuer.batchCount === 0n
  if (newer + newerBatches > 0n) {
    console.error(
      `newer than ${blockTag}, so not listed: ${newer} documents, ${newerBatches} batches`,
    )
    if (isEmpty) refuse('nothing issued', 'all is')
  }
  console.log(`issuer ${issuerId} ${JSON.stringify(issuer.name)} at ${blockTag}`)

  const hashes = await distinct('DocumentIssued', /^document (0x[0-9a-f]{64})\b/gm)
  let documents = 0n
  for (let at = 0; at < hashes.length; at += CHUNK) {
    const keys = hashes.slice(at, at + CHUNK).map((documentHash) => ({ issuerId, documentHash }))
    const read = await registry.verificationsOf(keys, { blockTag })
    for (const [index, { status, record }] of read.entries()) {
      if (record.anchoredBlock === 0n) continue
      documents += 1n
      console.log(
        `document ${keys[index].documentHash} ${STATUSES[status]} block ${record.anchoredBlock}`,
      )
    }
  }
  let batches = 0n
  for (const root of await distinct('BatchIssued', /^batch (0x[0-9a-f]{64})\b/gm)) {
    const batch = await registry.batchOf(issuerId, root, { blockTag })
    if (batch.anchoredBlock === 0n) continue
    batches += 1n
    console.log(`batch ${root} of ${batch.size} block ${batch.anchoredBlock}`)
  }
  const complete = documents === issuer.documentCount && batches === issuer.batchCount
  const word = isEmpty ? 'nothing issued' : 'complete'
  console.log(
    `${complete ? word : 'INCOMPLETE'}: ${documents} of ${issuer.documentCount} documents, ${batches} of ${issuer.batchCount} batches`,
  )
  process.exitCode = complete ? 0 : 1

  /** Ends, since an empty list would look complete. */
  function refuse(what, isNewer) {
    const advice = isNewer ? `: ${isNewer} newer. Try again when it is final` : ''
    console.error(`${what} at block ${blockTag}${advice}`)
    process.exit(2)
  }

  /**
   * The first topic of all events of a name, in ranges that nodes answer; or what the kept list
   * has.
   */
  async function distinct(event, line) {
    const keys = new Set()
    for (const [, key] of kept?.matchAll(line) ?? []) keys.add(key)
    if (kept !== undefined) return [...keys]
    const filter = registry.filters[event](null, issuerId)
    for (let from = Number(origin); from <= blockTag; from += RANGE) {
      const to = Math.min(from + RANGE - 1, blockTag)
      const logs = await registry.queryFilter(filter, from, to)
      for (const { topics } of logs) keys.add(topics[1])
    }
    return [...keys]
  }
} catch (error) {
  console.error(error.shortMessage ?? error.message)
  console.error('Where the node has dropped old events, ask another, or give a list that was kept.')
  process.exitCode = 2
} finally {
  provider.destroy()
}
