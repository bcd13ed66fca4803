import type { Batch } from '../../document/batch/batch.ts'
import { hashOfCid } from '../../document/cid.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError } from '../../verifier/errors.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { createRequest, readStrictly } from '../../verifier/readers/request.ts'
import { readBytes, readQuantity, toQuantity } from '../../verifier/readers/rpc-codec.ts'
import { RELEASED } from '../../verifier/reasons.ts'
import { type CommandInput, defineCommand } from '../command.ts'
import { UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { type Finding, recountManifest } from '../manifest.ts'
import { printableJson } from '../printable.ts'
import { onlyNode, readSources, SOURCE_OPTIONS } from '../sources.ts'
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
  exitCodes: '0 complete, 1 not, 2 could not be checked',
  run: recount,
})

/** The registry's entry for a batch; blocks are 0 if there is none. */
type BatchRecord = {
  anchoredBlock: number
  size: number
  revokedBlock: number
  reason: number
}

const FINDINGS: Partial<Record<Finding, string>> = {
  other_registry: 'the manifest is of another registry than the one you trust',
  not_issued: 'the registry has no such batch',
  other_size: 'the registry has this batch with another size',
}

async function recount(
  { values, flags, args: [given = ''] }: CommandInput<typeof SOURCE_OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { registry, nodes, blocks, asOf } = readSources(values)
  const provider = onlyNode(nodes, flags)
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
    revokedBlock: record.reason === RELEASED ? 0 : record.revokedBlock,
  }
  const complete = code === undefined
  const shown = { manifest: toHex(hash), ...about, ...standing }
  if (values.json) terminal.write(printableJson({ complete, code: code ?? null, ...shown }))
  else {
    terminal.write(
      complete
        ? terminal.paint('green', `COMPLETE: all ${about?.size} of the batch`)
        : terminal.paint('red', `NOT COMPLETE: ${FINDINGS[code] ?? code}`),
    )
    for (const [name, value] of Object.entries(shown))
      terminal.write(`  ${name.padEnd(14)} ${value}`)
  }
  return complete ? EXIT.ok : EXIT.notValid
}

/** @throws {UsageError} */
function hashOf(given: string): Uint8Array {
  try {
    return /^0x[0-9a-fA-F]{64}$/.test(given)
      ? fromHex(given.toLowerCase() as Hex)
      : hashOfCid(given)
  } catch {
    throw new UsageError('a manifest is 0x and 64 hexadecimal digits, or a CID')
  }
}

/** `batchOf(uint32,bytes32)` */
const BATCH_OF = '0x6acead9c'
const WORD = 32
const WORDS = 9

/** Reads from the trusted registry, whatever the manifest names. */
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
    throw new ChainError('wrong_chain', `the node is not of chain ${chainId}`)
  const issuer = issuerId.toString(16).padStart(2 * WORD, '0')
  const answer = await request('eth_call', [
    { to: address, data: `${BATCH_OF}${issuer}${root.slice(2)}` },
    asOf === undefined ? 'latest' : toQuantity(asOf),
  ])
  const bytes = readStrictly('eth_call', () => readBytes(answer))
  if (bytes.length !== WORDS * WORD)
    throw new ChainError('no_registry', `no registry at ${registry}`)
  const words = new DataView(bytes.buffer, bytes.byteOffset)
  // No member has more than 40 bits, so the last six bytes of its word are enough.
  const at = (index: number) => {
    const end = (index + 1) * WORD
    return words.getUint16(end - 6) * 2 ** 32 + words.getUint32(end - 4)
  }
  return {
    anchoredBlock: at(1),
    size: at(3),
    revokedBlock: at(5),
    reason: at(7),
  }
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
