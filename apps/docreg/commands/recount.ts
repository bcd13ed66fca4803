import type { Batch } from '#document/batch/batch.ts'
import { hashOfCid } from '#document/cid.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ChainError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { parseRegistry, refuseAnswer } from '#verifier/readers/chain.ts'
import {
  decodeBatch,
  decodeSigner,
  encodeAccountCall,
  encodeBatchCall,
} from '#verifier/readers/listing-codec.ts'
import { createRequest, readStrictly } from '#verifier/readers/request.ts'
import { readQuantity, toQuantity } from '#verifier/readers/rpc-codec.ts'
import { isReleased, isRevoked, isSuspended } from '#verifier/status.ts'
import { type CommandInput, defineCommand } from '../command.ts'
import { UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { type Finding, recountManifest } from '../manifest.ts'
import { printableJson } from '../printable.ts'
import { firstAnswering, readSources, SOURCE_OPTIONS } from '../sources.ts'
import type { Terminal } from '../terminal.ts'

export const recountCommand = defineCommand({
  name: 'recount',
  group: 'Audit',
  summary: 'Check that the manifest of a batch lists all of its documents',
  args: [
    {
      name: '<manifest>',
      about:
        'the sha-256 of its root block, 0x…, as the event BatchIssued and each batch block have it; or its CID',
    },
  ],
  options: SOURCE_OPTIONS,
  examples: [['A batch, from its manifest', 'docreg recount 0x…']],
  exitCodes: '0 complete, 1 not complete, 2 could not be checked',
  run: recount,
})

/** The entry of a batch in the registry; blocks are 0 if there is none. */
type BatchRecord = {
  anchoredBlock: number
  size: number
  revokedBlock: number
  /** Whether it is revoked or suspended; see `isSuspended` for a release that does not count. */
  isInEffect: boolean
}

const FINDINGS: Partial<Record<Finding, string>> = {
  other_registry: 'the manifest belongs to another registry than the one that you trust',
  not_issued: 'the registry has no such batch',
  other_size: 'the registry has this batch with another size',
}

async function recount(
  { values, args: [given = ''] }: CommandInput<typeof SOURCE_OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { registry, nodes, patientBlocks: blocks, asOf } = readSources(values)
  const provider = firstAnswering(nodes)
  if (blocks.length === 0) throw new UsageError('--ipfs is required')

  const hash = hashOf(given)
  const counted = await recountManifest(hash, blocks)
  const { batch } = counted
  const record = batch && (await readRecord(provider, registry, batch, asOf))
  const code = counted.code ?? findingOf(batch, record, registry)
  const about = batch && {
    registry: batch.registry,
    issuerId: batch.issuerId,
    root: batch.root,
    size: batch.size,
  }
  const standing = record && {
    anchoredBlock: record.anchoredBlock,
    revokedBlock: record.isInEffect ? record.revokedBlock : 0,
  }
  const complete = code === undefined
  const shown = { manifest: toHex(hash), ...about, ...standing }
  if (values.json) terminal.write(printableJson({ complete, code: code ?? null, ...shown }))
  else {
    terminal.write(
      complete
        ? terminal.paint('green', `COMPLETE: all ${about?.size} documents of the batch`)
        : terminal.paint('red', `NOT COMPLETE: ${FINDINGS[code] ?? code}`),
    )
    for (const [name, value] of Object.entries(shown))
      terminal.write(`  ${name.padEnd(14)} ${value}`)
  }
  return complete ? EXIT.ok : EXIT.wrong
}

/** @throws {UsageError} */
function hashOf(given: string): Uint8Array {
  try {
    return /^0x[0-9a-fA-F]{64}$/.test(given)
      ? fromHex(given.toLowerCase() as Hex)
      : hashOfCid(given)
  } catch {
    throw new UsageError('the manifest must be 0x followed by 64 hexadecimal digits, or a CID')
  }
}

/** Reads from the trusted registry, whichever one the manifest names. */
async function readRecord(
  provider: Eip1193Provider,
  registry: RegistryId,
  { issuerId, root }: Batch,
  asOf?: number,
): Promise<BatchRecord> {
  const { chainId, address } = parseRegistry(registry)
  const request = createRequest(provider)
  const actual = await request('eth_chainId', [])
  if (readStrictly('eth_chainId', () => readQuantity(actual)) !== chainId)
    throw new ChainError('wrong_chain', `the node is not on chain ${chainId}`)
  const at = asOf === undefined ? 'latest' : toQuantity(asOf)
  const view = async <T>(data: Hex, decode: (answer: unknown) => T) => {
    const answer = await request('eth_call', [{ to: address, data }, at])
    return refuseAnswer(() => decode(answer))
  }
  const record = await view(encodeBatchCall(issuerId, root), decodeBatch)
  const { anchoredBlock, validUntil: size, revokedBlock, revokerIndex } = record
  const revoker = isReleased(record)
    ? await view(encodeAccountCall(issuerId, revokerIndex), decodeSigner)
    : null
  const isInEffect = isRevoked(record) || isSuspended(record, revoker)
  return { anchoredBlock, size, revokedBlock, isInEffect }
}

function findingOf(
  batch: Batch | undefined,
  record: BatchRecord | undefined,
  registry: RegistryId,
): Finding | undefined {
  if (batch?.registry !== registry) return 'other_registry'
  if (record === undefined || record.anchoredBlock === 0) return 'not_issued'
  return record.size === batch.size ? undefined : 'other_size'
}
