import type { Kind } from '#document/kind.ts'
import { type BadRow, DATE_ORDERS } from '#table/rows.ts'
import type { Reading } from '#table/table.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import { openPrinting, type Printed, type Printing } from '../certificates/printing.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { ENCODING_OPTION } from '../csv.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { readInputFile } from '../files.ts'
import { connect, GATEWAY_OPTIONS, type Gateway, PATIENT_ATTEMPTS } from '../gateway.ts'
import { costLines, issueBatch, quoteBatch, refreshBatches, resumeBatches } from '../issue/batch.ts'
import { checkForTemplate, printIssued, tryTemplate } from '../issue/certificates.ts'
import { type Journal, openJournal, type SentRow } from '../issue/journal.ts'
import { kindsOf } from '../issue/kinds.ts'
import { issueOneByOne } from '../issue/one-by-one.ts'
import {
  drawQrCodes,
  type QrFormat,
  type RefusedRow,
  writeFailed,
  writeIssued,
} from '../issue/outputs.ts'
import { adviceOnDates, type CheckedRows, readCells, readMapping, readRows } from '../issue/rows.ts'
import { counted, printable, printableJson } from '../printable.ts'
import { wholeNumber } from '../sources.ts'
import { listenForStop } from '../stop.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  out: { value: '<folder>', about: 'where results go, and where a stopped run is resumed' },
  resume: { about: 'continue in a folder that you started with another API key' },
  'dry-run': { about: 'check every row, estimate the cost, issue nothing' },
  batch: { about: 'issue all in one transaction, which is far cheaper; see "docreg help issue"' },
  map: {
    value: '<column=field>',
    multiple: true,
    about: 'which field a column holds: "Full name=subjectName"; "Notes=" leaves it out',
  },
  set: {
    value: '<field=value>',
    multiple: true,
    about: 'a value for all rows, such as category=diploma',
  },
  encoding: ENCODING_OPTION,
  sheet: { value: '<name>', about: 'the sheet of a workbook; default the first visible one' },
  header: {
    value: '<line>',
    about: 'the line that names the columns, if titles above it are taken for it',
  },
  cells: {
    value: '<column=what>',
    multiple: true,
    about:
      'where cells of a workbook show other text than they hold: "Grade=text" issues 95%, "Grade=value" 0.95',
  },
  language: {
    value: '<tag>',
    about: 'how cells of a workbook show numbers and months, such as de or pt-BR; default en',
  },
  dates: {
    value: '<order>',
    choices: [...DATE_ORDERS],
    about: 'how the table writes dates: dmy for 31.7.2026 or 31/07/2026, mdy for 7/31/2026',
  },
  'skip-bad': { about: 'issue the valid rows even if others are not; those go to failed.csv' },
  qr: {
    value: '<formats>',
    choices: ['both', 'svg', 'png', 'none'],
    about: 'QR codes to draw; default both',
  },
  certificates: {
    value: '<template>',
    about:
      'print a PDF of each document: diploma, permit, letter, or the folder of your own template',
  },
  fonts: {
    value: '<folder>',
    multiple: true,
    about: 'with --certificates, a folder with your own fonts (TTF, OTF)',
  },
  concurrency: {
    value: '<number>',
    about: 'how many requests to send at a time, 1 to 256; default 64',
  },
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const issueCommand = defineCommand({
  name: 'issue',
  group: 'Issue',
  summary: 'Issue a document for each row of a table',
  about: [
    'The table is a workbook (.xlsx, .ods), CSV (with commas, semicolons or tabs) or NDJSON. "docreg template" prints one to fill in. All rows are checked before the first document is issued.',
    'After Ctrl-C, a crash or an outage, run the same command again: it goes on, and issues no row twice. Rows of failed.csv can be corrected and issued into the same folder.',
    'A batch issues up to 100,000 documents in one transaction. They verify like any other, and each can be revoked alone.',
    'Whoever has the folder can open every document in it. Only you can read it: keep it so.',
  ],
  args: [{ name: '<table>', about: 'a workbook, a CSV or NDJSON file, or - for standard input' }],
  options: OPTIONS,
  examples: [
    ['What will it cost, and are all rows good?', 'docreg issue people.csv --dry-run'],
    ['Issue them', 'docreg issue people.csv --out issued/'],
    [
      'A table with your own columns',
      'docreg issue graduates.csv --out issued/ --map "Full name=subjectName" --map "Student no=subjectId" --map "Degree=metadata.degree" --set category=diploma --set issuedAt=2026-07-01',
    ],
    ['With a PDF of each', 'docreg issue people.csv --out issued/ --certificates diploma'],
    ['In one transaction', 'docreg issue people.csv --out issued/ --batch'],
  ],
  exitCodes:
    '0 all issued (or would be), 1 some rows are bad or refused, 2 not finished: run it again, 65 wrong input',
  run: issue,
})

type Values = CommandInput<typeof OPTIONS>['values']

async function issue(
  { values, args: [file = ''] }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { out } = values
  if (out === undefined && !values['dry-run'])
    throw new UsageError('--out, a folder for the results, or --dry-run is required')
  const { dates } = values
  const mapping = {
    ...readMapping(values.map, values.set),
    dates,
    cells: readCells(values.cells),
    reading: await readingOf(values),
  }
  const concurrency = wholeNumber('concurrency', values.concurrency ?? '64', 1)
  if (concurrency > 256) throw new UsageError('--concurrency must be at most 256')
  const kinds = await kindsOf(values)
  const printing = await printingOf(values, kinds, terminal)
  try {
    const rows = await readRows(await readInputFile(file), mapping, Date.now(), kinds)
    const checked = printing ? checkForTemplate(rows, printing) : rows
    return await issueChecked(checked, values, { concurrency, printing, terminal })
  } finally {
    printing?.pool.close()
  }
}

async function readingOf({ encoding, sheet, header, language }: Values): Promise<Reading> {
  if (language !== undefined && !(await import('#table/shown.ts')).isLanguage(language))
    throw new UsageError('--language must be a language such as de or pt-BR')
  return {
    encoding,
    sheet,
    language,
    header: header === undefined ? undefined : wholeNumber('header', header, 1),
  }
}

async function printingOf(
  values: Values,
  kinds: readonly Kind[],
  terminal: Terminal,
): Promise<Printing | undefined> {
  const { certificates, fonts = [] } = values
  if (certificates !== undefined) return openPrinting(certificates, fonts, terminal, kinds)
  if (fonts.length > 0) throw new UsageError('--fonts requires --certificates')
  return undefined
}

async function issueChecked(
  checked: CheckedRows,
  values: Values,
  run: Pick<Task, 'concurrency' | 'printing' | 'terminal'>,
): Promise<number> {
  const { out, json } = values
  const { terminal, printing } = run
  if (!json) tellChoices(checked, terminal)
  if (checked.bad.length > 0 && !json) showBad(checked, terminal)
  const isRefused = checked.bad.length > 0 && !values['skip-bad']
  if (values['dry-run']) return dryRun(checked, values, terminal)
  if (isRefused || out === undefined) {
    if (json) terminal.write(printableJson({ issued: 0, failed: checked.bad }))
    else terminal.write('Nothing was issued. Correct the table, or use --skip-bad.')
    return EXIT.wrong
  }
  const gateway = connect(values, PATIENT_ATTEMPTS)
  if (printing) await tryTemplate(checked.good, printing)
  const journal = openJournal(out, gateway, values.resume)
  try {
    return await issueAll(checked, { ...run, gateway, journal, out, values })
  } finally {
    journal.close()
  }
}

/** Says what was left out of the file by itself. */
function tellChoices({ choices }: CheckedRows, terminal: Terminal): void {
  const { sheet, sheets = [], header = 1, lines = [] } = choices ?? {}
  const others = sheets.filter((name) => name !== sheet)
  if (others.length > 0)
    terminal.note(`Read the sheet "${sheet}"; --sheet reads another one: ${others.join(', ')}`)
  if (lines.some(({ line }) => line < header))
    terminal.note(`Line ${header} names the columns; --header names another one`)
}

const SHOWN = 20

function showBad({ good, bad }: CheckedRows, { write, paint }: Terminal): void {
  write(paint('red', `${bad.length} of ${good.length + bad.length} rows are bad:`))
  for (const { line, problems } of bad.slice(0, SHOWN))
    for (const { field, message } of problems)
      write(`  line ${line}: ${printable(`${field} ${message}`.trim())}`)
  if (bad.length > SHOWN) write(`  … and ${bad.length - SHOWN} more`)
  const advice = adviceOnDates(bad)
  if (advice !== undefined) write(advice)
}

async function dryRun(
  { good, bad }: CheckedRows,
  values: Values,
  terminal: Terminal,
): Promise<number> {
  const { quote, refused } =
    good.length === 0 ? { quote: undefined, refused: [] } : await quoteBatch(good, connect(values))
  const failed = [...bad, ...refused.map(badOf)]
  if (values.json)
    terminal.write(
      printableJson({
        rows: good.length + bad.length,
        failed,
        batch: quote?.batch ?? null,
        unbatched: quote?.unbatched ?? null,
      }),
    )
  else {
    for (const { row, problem } of refused.slice(0, SHOWN))
      terminal.write(`  line ${row.line}: ${printable(problem)}`)
    if (failed.length === 0) terminal.write(`${counted(good.length, 'row')}, all good.`)
    for (const line of quote ? costLines(quote) : []) terminal.write(line)
    terminal.write('Nothing was issued: this was a dry run.')
  }
  return failed.length === 0 ? EXIT.ok : EXIT.wrong
}

function badOf({ row, problem }: RefusedRow): BadRow {
  return { line: row.line, cells: {}, problems: [{ field: '', message: problem }] }
}

type Task = {
  gateway: Gateway
  journal: Journal
  out: string
  values: Values
  concurrency: number
  printing: Printing | undefined
  terminal: Terminal
}

async function issueAll(checked: CheckedRows, task: Task): Promise<number> {
  const { good, bad, dialect } = checked
  const { journal, out, values, concurrency, terminal } = task
  const done = good.filter(({ key }) => journal.rows.get(key)?.issued)
  const formats = formatsOf(values.qr)
  if (journal.rows.size > 0 && !values.json)
    terminal.note(`Resuming ${out}: ${done.length} of ${good.length} rows are issued`)
  const { isStopped, end } = listenForStop(() =>
    terminal.note('Stopping after the requests under way; Ctrl-C again stops at once'),
  )
  const progress = terminal.progress('Issuing', good.length - done.length)
  const refused: RefusedRow[] = []
  try {
    const part = { ...task, progress, isStopped }
    refused.push(...(await resumeBatches(part)))
    refused.push(...(await issueOneByOne(unanswered(journal), part, concurrency)))
    const tried = new Set(refused.map(({ row }) => row.key))
    const fresh = good.filter(({ key }) => !journal.rows.has(key) && !tried.has(key))
    refused.push(
      ...(await (values.batch ? issueBatch(fresh, part) : issueOneByOne(fresh, part, concurrency))),
    )
    // These rows were promised but not in a block when the answer came. Repeating the request shows
    // their status.
    await issueOneByOne(pending(journal), part, concurrency)
    await refreshBatches(part)
  } finally {
    progress.end()
    // This is also done after an outage, because the table has what is issued.
    writeIssued(out, journal, formats, dialect)
    writeFailed(out, checked, refused)
  }
  const issued = [...journal.rows.values()].filter((row) => row.issued)
  const drawing = terminal.progress('QR codes', issued.length)
  await drawQrCodes(out, issued, formats, drawing.update, isStopped)
  drawing.end()
  const { printing } = task
  const printed =
    printing &&
    (await printIssued(issued, { ...task, printing, isStopped }).finally(
      // This is also done after an outage, because the table names the existing certificates.
      () => writeIssued(out, journal, formats, dialect),
    ))
  end()
  if (isStopped())
    throw new InputError('interrupted', 'stopped: run the same command again to go on')
  const wanted = new Set(good.map(({ key }) => key))
  const others = issued.filter(({ key }) => !wanted.has(key)).length
  tell({ issued, others, failed: [...bad, ...refused.map(badOf)], formats, printed }, task)
  if (printed && printed.failures.length > 0) return EXIT.failed
  return bad.length + refused.length === 0 ? EXIT.ok : EXIT.wrong
}

/** @returns Rows that were sent alone and have no answer, even if the table has changed since. */
function unanswered({ rows, batches }: Journal): SentRow[] {
  const inBatch = new Set(batches.filter(({ isDone }) => !isDone).flatMap(({ keys }) => keys))
  return [...rows.values()].filter(({ key, issued }) => !issued && !inBatch.has(key))
}

/** Documents of batches are omitted, because their batch is requested as a whole. */
function pending({ rows }: Journal): SentRow[] {
  return [...rows.values()].filter(
    ({ issued }) => issued?.status === 'pending' && issued.batchRoot === undefined,
  )
}

function formatsOf(qr: string | undefined): QrFormat[] {
  if (qr === 'none') return []
  return qr === 'svg' || qr === 'png' ? [qr] : ['svg', 'png']
}

type Result = {
  issued: SentRow[]
  others: number
  failed: BadRow[]
  formats: QrFormat[]
  printed: Printed | undefined
}

function tell(result: Result, { out, values, terminal }: Task): void {
  const { issued, others, failed, formats, printed } = result
  const waiting = issued.filter((row) => row.issued?.status === 'pending').length
  if (issued.some((row) => row.issued?.network === 'test') && !values.json)
    terminal.warn(TEST_NETWORK)
  if (values.json) {
    const shown = failed.map(({ line, problems }) => ({ line, problems }))
    terminal.write(
      printableJson({
        issued: issued.length,
        pending: waiting,
        failed: shown,
        folder: out,
        ...(printed && { certificates: printed }),
      }),
    )
    return
  }
  terminal.write(
    terminal.paint('green', `Issued ${counted(issued.length, 'document')}, in ${out}:`),
  )
  terminal.write('  issued.csv  each row with its publicId and link; keep it private')
  if (formats.length > 0)
    terminal.write(
      `  qr/         QR codes (${formats.join(', ')}), named by subjectId and document`,
    )
  if (printed) tellPrinted(printed, terminal)
  const repeated = failed.filter(({ sameAs }) => sameAs !== undefined).length
  if (failed.length > repeated)
    terminal.write(
      `  failed.csv  ${counted(failed.length - repeated, 'row')} not issued, with the reason`,
    )
  if (repeated > 0)
    terminal.write(
      `Each row is issued once: ${counted(repeated, 'repeated row')} left out, and not in failed.csv.`,
    )
  if (waiting > 0)
    terminal.write(
      `${waiting} of them are promised but not in a block yet. Run the same command to see when they are.`,
    )
  if (others > 0)
    terminal.write(
      `${others} of them are from earlier runs into this folder. If you have changed a row since, revoke its document.`,
    )
}

function tellPrinted({ written, left, failures }: Printed, terminal: Terminal): void {
  terminal.write(
    `  certificates/  ${counted(written + left, 'PDF')}, named by subject and document; as secret as the documents`,
  )
  for (const { line, message } of failures)
    terminal.warn(`line ${line}: no certificate: ${message}`)
}
