import { TEST_NETWORK } from '#verifier/network.ts'
import { checkExport, exportList } from '../audit/export.ts'
import { type Newer, newerSentence } from '../audit/known-issuer.ts'
import { phasesOn } from '../audit/phases.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import { time } from '../report.ts'
import {
  CODE_UNCHECKED,
  firstAnswering,
  readBlockHashes,
  readIssuers,
  readSources,
  SOURCE_OPTIONS,
  wholeNumber,
} from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const { ipfs: _, ...CHAIN_OPTIONS } = SOURCE_OPTIONS

const OPTIONS = {
  issuer: { value: '<id>', about: 'the number of the issuer', isSetting: true },
  ...CHAIN_OPTIONS,
  out: { value: '<file>', about: 'the file to write; an existing one is updated' },
  from: {
    value: '<block>',
    about: 'the first block to search for events; default that of a known deployment, or 0',
  },
  check: { value: '<file>', about: 'check such a file offline' },
  'block-hash': {
    value: '<hash>',
    multiple: true,
    about: 'hash of a block that you trust, for --check',
  },
} as const satisfies Options

export const exportCommand = defineCommand({
  name: 'export',
  group: 'Audit',
  summary: "Write an issuer's list with a proof that nothing is missing from it",
  about: [
    'Nodes drop old events, but the list keeps them: run this regularly with the same file, and give it to auditors. docreg audit accepts it as --list.',
  ],
  options: OPTIONS,
  examples: [
    ['The list of issuer 1', 'docreg export --issuer 1 --out list.ndjson'],
    ['Check it, offline', 'docreg export --issuer 1 --check list.ndjson --block-hash 0x…'],
  ],
  exitCodes: '0 complete, 1 incomplete, 2 could not, no such issuer, or all newer than the block',
  run,
})

async function run({ values }: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const sources = readSources(values)
  const { registry, network, codeHash, asOf, deployedIn } = sources
  const [issuerId = 0, ...more] = readIssuers(values.issuer)
  if (more.length > 0) throw new UsageError('--issuer must be one number')
  const { out, check, from } = values
  if ((out === undefined) === (check === undefined))
    throw new UsageError('give either --out or --check')
  const trustedBlocks = readBlockHashes(values['block-hash'])
  if (check !== undefined && trustedBlocks.length === 0)
    throw new UsageError('--check requires --block-hash')
  let newer: Newer | undefined
  if (out !== undefined) {
    const made = await exportList(firstAnswering(sources.nodes), out, {
      registry,
      issuerId,
      asOf,
      phases: phasesOn(terminal),
      from: from === undefined ? (deployedIn ?? 0) : wholeNumber('from', from),
    })
    trustedBlocks.push(made.header.blockHash)
    newer = made.newer
  }
  const file = out ?? check ?? ''
  const list = await checkExport(file, issuerId, {
    registry,
    trustedBlocks,
    ...(codeHash !== undefined && { codeHash }),
  })
  const { status, documents, batches, asOf: at } = list
  const isEmpty = documents.count + batches.count === 0
  if (values.json)
    terminal.write(printableJson({ issuerId, ...list, newer: newer ?? null, network }))
  else {
    const word = isEmpty
      ? terminal.paint('yellow', 'NOTHING ISSUED')
      : terminal.paint(status === 'complete' ? 'green' : 'red', status.toUpperCase())
    terminal.write(
      `${word}: ${documents.listed} of ${documents.count} documents, ${batches.listed} of ${batches.count} batches`,
    )
    terminal.write(
      `issuer ${issuerId}, as of block ${at.blockNumber}, ${time(at.blockTime)}, ${at.blockHash}`,
    )
  }
  if (network === 'test') terminal.warn(TEST_NETWORK)
  if (codeHash === undefined) terminal.note(CODE_UNCHECKED)
  const later = newer ? newerSentence(newer) : ''
  if (later !== '') terminal.note(later)
  if (isEmpty && later !== '') return EXIT.failed
  return status === 'complete' ? EXIT.ok : EXIT.wrong
}
