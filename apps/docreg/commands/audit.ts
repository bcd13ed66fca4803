import { join } from 'node:path'
import type { Hex } from '#document/hex.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import { csvOf } from '../audit/csv.ts'
import { followIssuers } from '../audit/follow.ts'
import { htmlOf } from '../audit/html.ts'
import { aboutOf, jsonOf, type ReportHead } from '../audit/json.ts'
import { phasesOn } from '../audit/phases.ts'
import { type Audit, type RunOptions, runAudit } from '../audit/run.ts'
import { openScratch } from '../audit/scratch.ts'
import { type Tone, textOf, verdictOf } from '../audit/words.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { makeFolder, writePieces } from '../files.ts'
import { printableJson } from '../printable.ts'
import {
  type CommandSources,
  firstAnswering,
  readIssuers,
  readSources,
  SOURCE_OPTIONS,
  wholeNumber,
} from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const DAY_SECONDS = 86_400

const OPTIONS = {
  issuer: {
    value: '<id>',
    about: 'the number of the issuer; separate several with commas',
    isSetting: true,
  },
  ...SOURCE_OPTIONS,
  ipfs: {
    ...SOURCE_OPTIONS.ipfs,
    about: 'recount each batch from its manifest, from this trustless IPFS gateway',
  },
  'as-of': {
    ...SOURCE_OPTIONS['as-of'],
    about: 'as of this block; default the newest final block',
  },
  out: {
    value: '<folder>',
    about: 'write report.html, documents.csv and audit.json there, and resume an interrupted run',
  },
  from: {
    value: '<block>',
    about: 'the first block to search for events; default that of a known deployment, or 0',
  },
  list: {
    value: '<file>',
    about: 'a kept list to use instead of old events, from docreg export, docreg list or an audit',
  },
  payloads: { about: 'fetch every sealed document and batch block, and check its hash' },
  'public-ids': {
    value: '<file>',
    about: 'publicIds, one per line or in a CSV file; opens the documents for totals by category',
  },
  account: {
    value: '<address>',
    multiple: true,
    about: 'an account that you know of; any other is reported',
  },
  'young-days': {
    value: '<days>',
    about: 'report documents issued so soon after their account was added; default 7, 0 for none',
  },
  follow: {
    about:
      'then print events of issuers, accounts and the admin as JSON lines, starting where an earlier run with the same --out stopped',
  },
} as const satisfies Options

export const auditCommand = defineCommand({
  name: 'audit',
  group: 'Audit',
  summary: 'Audit an issuer from the chain: every document, proven complete, with a report',
  about: [
    'Hashes come from the events of the registry, everything else by storage proof (eth_getProof): the report says whether the list is complete, or how many are missing.',
    'Without --ipfs, documents in batches are counted and not listed.',
  ],
  options: OPTIONS,
  examples: [
    ['A report about issuer 1', 'docreg audit --issuer 1 --out audit/'],
    [
      'With the batches recounted and every payload checked',
      'docreg audit --issuer 1 --ipfs https://ipfs.example --payloads --out audit/',
    ],
    ['At a node that has dropped old events', 'docreg audit --issuer 1 --list list.ndjson'],
    ['Alerts about accounts and issuers', 'docreg audit --issuer 1 --follow'],
  ],
  exitCodes:
    '0 complete and without a fault, 1 incomplete or with faults, 2 could not check, or not all of it, no such issuer, or all newer than the block',
  run: audit,
})

async function audit(
  { values }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const sources = readSources(values)
  const provider = firstAnswering(sources.nodes)
  const issuers = readIssuers(values.issuer)
  const isWithoutSource = sources.blocks.length === 0
  if (isWithoutSource && (values.payloads || values['public-ids'] !== undefined))
    throw new UsageError('--payloads and --public-ids require --ipfs')
  const opened = issuers.map((issuerId) => ({ issuerId, scratch: openScratch() }))
  const { out } = values
  if (out !== undefined) await makeFolder(out)
  using scratches = new DisposableStack()
  for (const { scratch } of opened) scratches.use(scratch)
  const audits: Audit[] = []
  for (const { issuerId, scratch } of opened) {
    const order = { ...orderOf(values, sources, terminal), provider, issuerId, scratch }
    audits.push(await runAudit(order))
  }
  const { registry, network } = sources
  const head: ReportHead = {
    registry,
    network,
    madeAt: new Date().toISOString(),
  }
  if (out !== undefined) {
    await writePieces(join(out, 'documents.csv'), csvOf(audits))
    await writePieces(join(out, 'audit.json'), jsonOf(head, audits))
    await writePieces(join(out, 'report.html'), htmlOf(head, audits))
  }
  // When a command follows events, standard output has only the alerts.
  const say = values.follow ? terminal.note : terminal.write
  if (values.json) say(printableJson({ ...head, issuers: audits.map(aboutOf) }))
  else for (const one of audits) for (const line of textOf(one, terminal)) say(line)
  if (head.network === 'test') terminal.warn(TEST_NETWORK)
  if (values.follow) {
    const from = Math.min(...audits.map(({ asOf }) => asOf.blockNumber)) + 1
    const file = out === undefined ? undefined : join(out, 'followed.json')
    await followIssuers({ provider, registry, issuers, from, file }, terminal)
  }
  return exitCodeOf(audits)
}

function exitCodeOf(audits: readonly Audit[]): number {
  const has = (tone: Tone) => audits.some((one) => verdictOf(one).tone === tone)
  if (has('bad')) return EXIT.wrong
  if (has('open')) return EXIT.failed
  // There are documents, but all are newer than the block.
  const isTooEarly = ({ newer }: Audit) => newer.documents + newer.batches > 0
  const empty = audits.filter((one) => verdictOf(one).tone === 'empty')
  return empty.some(isTooEarly) ? EXIT.failed : EXIT.ok
}

function orderOf(
  values: CommandInput<typeof OPTIONS>['values'],
  { registry, codeHash, patientBlocks, asOf, deployedIn }: CommandSources,
  terminal: Terminal,
): Omit<RunOptions, 'provider' | 'issuerId' | 'scratch'> {
  const { out, list, from } = values
  const accounts = values.account ?? []
  if (!accounts.every((one) => /^0x[0-9a-fA-F]{40}$/.test(one)))
    throw new UsageError('--account must be 0x followed by 40 hexadecimal digits')
  return {
    registry,
    codeHash,
    asOf,
    list,
    sources: patientBlocks,
    from: from === undefined ? (deployedIn ?? 0) : wholeNumber('from', from),
    ...(out !== undefined && { checkpoint: (id) => join(out, `events-${id}.ndjson`) }),
    payloads: values.payloads ?? false,
    publicIds: values['public-ids'],
    expectedAccounts: accounts.map((one) => one.toLowerCase() as Hex),
    youngSeconds: DAY_SECONDS * wholeNumber('young-days', values['young-days'] ?? '7'),
    phases: phasesOn(terminal),
  }
}
