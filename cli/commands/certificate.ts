import { join } from 'node:path'
import type { Engine } from '../../certificates/engine.ts'
import { CertificateError } from '../../certificates/errors.ts'
import type { Settings } from '../../certificates/settings.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { formatVerifyLink } from '../../document/verify-link.ts'
import { type Bundle, createBundle, readBundle, verifyBundle } from '../../verifier/bundle.ts'
import { ChainError } from '../../verifier/errors.ts'
import { networkOf } from '../../verifier/network.ts'
import { parseRegistry } from '../../verifier/readers/chain.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { badTable, parseCsv } from '../csv.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import { TEST_NETWORK } from '../report.ts'
import { type CommandSources, onlyNode, readSources, SOURCE_OPTIONS } from '../sources.ts'
import { readBytes, readSubject } from '../subject.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  from: { value: '<file>', about: 'many: a CSV file with a column publicId, as issued.csv' },
  template: {
    value: '<name>',
    about: 'diploma, permit or letter, or the folder of your own template; default letter',
    isSetting: true,
  },
  'new-template': { value: '<folder>', about: 'copies the template there, for you to change' },
  'verify-url': {
    value: '<url>',
    about: 'the verify page that the QR code leads to; default that of the column verifyUrl',
    isSetting: true,
  },
  fonts: { value: '<folder>', multiple: true, about: 'a folder with fonts (TTF, OTF) of your own' },
  out: { value: '<folder>', about: 'where to write the PDFs; default certificates/' },
} as const satisfies Options

type Input = CommandInput<typeof OPTIONS>
/** How many certificates are in work: while one is printed, others are read. */
const CONCURRENCY = 6

export const certificateCommand = defineCommand({
  name: 'certificate',
  group: 'Issue',
  summary: 'Print documents as PDF/A-3 from a template, with the bundle attached',
  about: [
    'Each PDF holds the document and its key: it is as secret as the document. Only valid documents are printed. A run that was interrupted goes on: certificates that are there are left.',
    'The first run installs the PDF engine and its fonts with npm, in the cache of this user.',
  ],
  args: [
    {
      name: '[document]',
      about: 'a file (publicId, QR code as PNG or JPEG, bundle), an address, or -',
    },
  ],
  options: OPTIONS,
  examples: [
    [
      'One certificate',
      'docreg certificate letter.jpg --verify-url https://registry.example/verify',
    ],
    [
      'All documents of a run of docreg issue',
      'docreg certificate --from issued/issued.csv --template diploma --out diplomas',
    ],
    ['A template to change', 'docreg certificate --template diploma --new-template our-diploma'],
  ],
  exitCodes: '0 all written, 2 some could not',
  run,
})

/** A document to print. */
type Row = { line?: number; publicId: string; page: string; bundle?: Bundle }
type Print = {
  engine: Engine
  settings: Settings
  mark: string
  folder: string
  sources: CommandSources
  flags: Input['flags']
}
type Failure = { line?: number; code: string; message: string }

async function run({ args, values, flags }: Input, terminal: Terminal): Promise<number> {
  const { findTemplate, copyTemplate, markOf } = await import('../../certificates/template.ts')
  const template = inputError(() => findTemplate(values.template ?? 'letter'))
  const copy = values['new-template']
  if (copy !== undefined) {
    inputError(() => copyTemplate(template, copy))
    terminal.write(`${join(copy, 'settings.json')} has the texts, template.typ the layout`)
    return EXIT.ok
  }
  const sources = readSources(values)
  const rows = await readRows(args[0], values)
  const { createEngine } = await import('../../certificates/engine.ts')
  const { readSettings } = await import('../../certificates/settings.ts')
  const { packCache } = await import('../../certificates/packs.ts')
  const print: Print = {
    settings: inputError(() => readSettings(template)),
    engine: createEngine({
      ...{ template, fontPaths: values.fonts ?? [], cache: packCache(process.env) },
      report: (message) => terminal.note(message),
    }),
    ...{ mark: markOf(template), folder: values.out ?? 'certificates', sources, flags },
  }
  if (networkOf(parseRegistry(sources.registry).chainId) === 'test') terminal.warn(TEST_NETWORK)
  const { written, left, failures } = await printAll(rows, print, terminal)
  if (values.json) terminal.write(printableJson({ written, left, failures }))
  else {
    for (const { line, message } of failures)
      terminal.warn(line === undefined ? message : `line ${line}: ${message}`)
    terminal.write(
      `${written} written to ${print.folder}, ${left} were there, ${failures.length} failed`,
    )
  }
  return failures.length === 0 ? EXIT.ok : EXIT.noVerdict
}

async function readRows(given: string | undefined, values: Input['values']): Promise<Row[]> {
  const { from } = values
  if ((given === undefined) === (from === undefined))
    throw new UsageError('one document, or --from, is required')
  const page = values['verify-url']
  if (page !== undefined && !URL.canParse(page)) throw new UsageError('--verify-url is no address')
  if (given !== undefined) {
    if (page === undefined) throw new UsageError('--verify-url is required')
    const { publicId, bundle } = await readSubject(given)
    decodePublicId(publicId)
    return [{ publicId, page, ...(bundle && { bundle: bundle.bundle }) }]
  }
  const { rows } = parseCsv(await readBytes(from ?? ''))
  return rows.map(({ line, cells: { publicId = '', verifyUrl = '' } }) => {
    const itsPage = page ?? (verifyUrl.split('#')[0] || undefined)
    if (itsPage === undefined || !URL.canParse(itsPage))
      throw badTable(`line ${line} has no verifyUrl: use --verify-url`)
    try {
      decodePublicId(publicId)
    } catch (cause) {
      throw badTable(`line ${line} has no publicId`, cause)
    }
    return { line, publicId, page: itsPage }
  })
}

async function printAll(rows: readonly Row[], print: Print, terminal: Terminal) {
  const failures: Failure[] = []
  const done = { written: 0, left: 0 }
  const bar = terminal.progress('Certificates', rows.length)
  let next = 0
  const worker = async () => {
    for (let row = rows[next++]; row !== undefined; row = rows[next++]) {
      try {
        done[await printOne(row, print)]++
      } catch (error) {
        if (!(error instanceof CertificateError || error instanceof ChainError)) throw error
        if (error instanceof CertificateError && error.code === 'no_engine')
          throw new InputError('no_engine', error.message, error)
        const { code, message } = error
        failures.push({ ...(row.line !== undefined && { line: row.line }), code, message })
      }
      bar.update(done.written + done.left + failures.length)
    }
  }
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  } finally {
    bar.end()
  }
  failures.sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  return { ...done, failures }
}

async function printOne(row: Row, print: Print): Promise<'written' | 'left'> {
  const { engine, settings, mark, folder, sources, flags } = print
  const { fileNameOf, isCertificate, writeWhole } = await import('../../certificates/files.ts')
  const { printCertificate } = await import('../../certificates/print.ts')
  const { registry, blocks } = sources
  const { publicId } = row
  const bundle =
    row.bundle ??
    (await createBundle(publicId, { provider: onlyNode(sources.nodes, flags), registry, blocks }))
  const { status, document, blockchainProof } = await verifyBundle(bundle, {
    ...{ registry, trustedBlocks: [readBundle(bundle).block.blockHash] },
    ...(sources.codeHash !== undefined && { codeHash: sources.codeHash }),
  })
  if (status !== 'valid' || document === null || blockchainProof === null)
    throw new CertificateError('not_valid', `the document is not valid: ${status}`)
  const { documentHash } = blockchainProof
  const file = join(folder, fileNameOf(document.subjectName, documentHash))
  if (await isCertificate(file, publicId, mark)) return 'left'
  const link = formatVerifyLink(row.page, { publicId, registry })
  const certificate = { document, documentHash, link, bundle: JSON.stringify(bundle) }
  const pdf = await printCertificate(engine, settings, certificate, [mark])
  try {
    writeWhole(file, pdf)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
  return 'written'
}

function inputError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof CertificateError) throw new UsageError(error.message)
    throw error
  }
}
