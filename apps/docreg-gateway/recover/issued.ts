import { type Collection, openCollection } from '#cli/audit/collect.ts'
import type { DocumentTable } from '#cli/audit/documents.ts'
import { unknownIssuer } from '#cli/audit/known-issuer.ts'
import type { LedgerBatch } from '#cli/audit/ledger.ts'
import { pinBlock } from '#cli/audit/run.ts'
import { openScratch } from '#cli/audit/scratch.ts'
import { type IssuerState, proveRecords, proveSome, readIssuerState } from '#cli/audit/state.ts'
import type { Hex } from '#document/hex.ts'
import type { Identity } from '#parts/chain.ts'
import { ChainError } from '#verifier/errors.ts'
import type { RegistryRecord } from '#verifier/ports.ts'
import { slotsOfIssuer } from '#verifier/proof/slots.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { patientRequest } from '#verifier/readers/patience.ts'
import { unlessOvertaken } from '#verifier/readers/proof.ts'
import { createRequest, type Request, readStrictly } from '#verifier/readers/request.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { createSlotProver } from '#verifier/readers/slot-prover.ts'

const NO_PHASES = { begin() {}, advance() {}, end() {} }

/** The documents and batches of the issuer, as they are in the registry at one block. */
export type Issued = {
  /** Whether these are all, according to the registry's counts. */
  isComplete: boolean
  blockTime: number
  accounts: IssuerState['accounts']
  documents: Pick<DocumentTable, 'length' | 'at'>
  batches: (LedgerBatch & { record: RegistryRecord })[]
  /** Reads the records that documents in a batch have of their own. */
  recordsOf(hashes: readonly Hex[]): Promise<RegistryRecord[]>
}

/** @throws {InputError} `unknown_issuer` @throws {ChainError} when the chain cannot be read. */
export async function readIssued(
  { rpc, registry, issuerId }: Pick<Identity, 'rpc' | 'registry' | 'issuerId'>,
  options: { checkpoint?: string; from: number; say: (line: string) => void },
): Promise<Issued> {
  const { checkpoint, from, say } = options
  const request = patientRequest(createRequest(rpc))
  const { address } = parseRegistry(registry)
  if ((await request('eth_getCode', [address, 'latest'])) === '0x')
    throw new ChainError('no_registry', `there is no contract at ${registry}`)
  const collection = await openCollection({
    request,
    registry,
    issuerId,
    from,
    checkpoint,
    phases: NO_PHASES,
    // The scratch file lasts as long as the process, because documents are read from it when they
    // are restored.
    scratch: openScratch(),
  })
  try {
    const issued = await unlessOvertaken({}, () => readAll(request, collection, registry, issuerId))
    const { length } = issued.documents
    say(`registry  ${length} documents issued alone, ${issued.batches.length} batches`)
    return issued
  } finally {
    await collection.close()
  }
}

async function readAll(
  request: Request,
  { ledger, advance }: Collection,
  registry: Identity['registry'],
  issuerId: number,
): Promise<Issued> {
  const { address } = parseRegistry(registry)
  const block = await newestBlock(request)
  const header = await pinBlock(request, registry, block)
  await advance(block)
  const prover = createSlotProver({ request, address, header })
  const { issuer, accounts } = await readIssuerState(prover, issuerId)
  if (accounts.size === 0) throw await unknownIssuer({ registry, issuerId, block })
  const slots = slotsOfIssuer(issuerId)
  const documents = ledger.documents()
  const about = { scratch: ledger.scratch, phases: NO_PHASES }
  await proveRecords(prover, {
    ...about,
    count: documents.length,
    take: documents.setOwn,
    slotOf: (i) => slots.record(documents.hashAt(i)),
  })
  const batches = [...ledger.batches.values()]
  const ofRoots = batches.map(({ root }) => slots.batch(root))
  const anchors = await proveSome(prover, ofRoots, about)
  let found = 0
  for (const { own } of documents.entries()) if (own.anchoredBlock !== 0) found++
  const issuedBatches = batches
    .map((one, i) => ({ ...one, record: anchors[i] as RegistryRecord }))
    .filter(({ record }) => record.anchoredBlock !== 0)
  return {
    isComplete: found === issuer.documentCount && issuedBatches.length === issuer.batchCount,
    blockTime: header.blockTime,
    accounts,
    documents,
    batches: issuedBatches,
    async recordsOf(hashes) {
      // This is read after the others and at the newest block, because the node may have dropped
      // the earlier state.
      const newest = await pinBlock(request, registry, await newestBlock(request))
      const fresh = createSlotProver({ request, address, header: newest })
      return proveSome(fresh, hashes.map(slots.record), about)
    },
  }
}

async function newestBlock(request: Request): Promise<number> {
  const answer = await request('eth_blockNumber', [])
  return readStrictly('eth_blockNumber', () => readQuantity(answer))
}
