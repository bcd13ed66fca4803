import type { Document } from '#client/index.ts'
import { tableText } from '#table/format.ts'
import { listedTable } from '#table/listed.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS, type Gateway } from '../gateway.ts'
import { counted, printable, printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

const STATUSES = [
  'pending',
  'valid',
  'expired',
  'suspended',
  'revoked',
  'superseded',
  'distrusted',
] as const

const OPTIONS = {
  status: { value: '<status>', choices: STATUSES, about: 'only those with this status now' },
  category: { value: '<category>', about: 'only this category' },
  'issued-from': { value: '<date>', about: 'only those issued on this day or later' },
  'issued-to': { value: '<date>', about: 'only those issued on this day or earlier' },
  'created-from': { value: '<date>', about: 'only those accepted on this day (UTC) or later' },
  'created-to': { value: '<date>', about: 'only those accepted on this day (UTC) or earlier' },
  'subject-id': { value: '<digits>', about: 'only those of this person or organisation' },
  csv: {
    about:
      'print a CSV table with publicIds, which other commands accept as --from; keep it private',
  },
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const documentsCommand = defineCommand({
  name: 'documents',
  group: 'Issue',
  summary: 'List the documents of your service, the newest first',
  about: [
    'In the order in which the service accepted them. "docreg list" lists all of an issuer from the chain, proven complete, without names.',
    'There is no search by name: the service stores no name in clear. Search by --subject-id, or in your own tables with "docreg find".',
  ],
  options: OPTIONS,
  examples: [
    ['The suspended ones', 'docreg documents --status suspended'],
    [
      'What was accepted in a week',
      'docreg documents --created-from 2026-07-06 --created-to 2026-07-12',
    ],
    ['To revoke all of a category', 'docreg documents --category permit --csv > permits.csv'],
  ],
  exitCodes: '0 listed, 2 could not be listed',
  run: documents,
})

type Input = CommandInput<typeof OPTIONS>
type Listed = Pick<Document, 'documentHash' | 'status'> & Partial<Document>
const PAGE = 100

async function documents({ values }: Input, terminal: Terminal): Promise<number> {
  const gateway = connect(values)
  const found: Listed[] = []
  const progress = terminal.progress('Reading', undefined)
  for await (const page of pagesOf(gateway, values)) {
    found.push(...page)
    progress.update(found.length)
  }
  progress.end()
  // Documents of a batch, or from before a reindex, may be in another place.
  found.sort((a, b) => Number(timeOf(a) < timeOf(b)) - Number(timeOf(a) > timeOf(b)))
  if (values.json) terminal.write(printableJson(found))
  else if (values.csv) writeTable(found, terminal)
  else {
    for (const document of found) terminal.write(lineOf(document))
    terminal.note(counted(found.length, 'document'))
  }
  return EXIT.ok
}

async function* pagesOf({ client }: Gateway, values: Input['values']): AsyncGenerator<Listed[]> {
  const status = STATUSES.find((one) => one === values.status)
  const filters = {
    ...(status && { status }),
    ...(values.category !== undefined && { category: values.category }),
    ...(values['issued-from'] !== undefined && { issuedFrom: values['issued-from'] }),
    ...(values['issued-to'] !== undefined && { issuedTo: values['issued-to'] }),
    ...(values['created-from'] !== undefined && { createdFrom: values['created-from'] }),
    ...(values['created-to'] !== undefined && { createdTo: values['created-to'] }),
    ...(values['subject-id'] !== undefined && { subjectId: values['subject-id'] }),
  }
  let cursor: string | null = null
  do {
    const page: { documents: Listed[]; nextCursor: string | null } = await client.searchDocuments({
      body: { ...filters, limit: PAGE, ...(cursor !== null && { cursor }) },
    })
    yield page.documents
    cursor = page.nextCursor
  } while (cursor !== null)
}

const timeOf = ({ createdAt = '' }: Listed) => createdAt

/** An erased document has no fields. */
function lineOf(document: Listed): string {
  const { status, issuedAt, category, subjectName, documentHash, createdAt } = document
  const parts = [status.padEnd(10), (issuedAt ?? '').slice(0, 10).padEnd(10), category ?? '']
  return printable(
    [...parts, subjectName ?? '', documentHash, createdAt ? `accepted ${createdAt}` : '']
      .filter((part) => part !== '')
      .join('  '),
  )
}

function writeTable(found: readonly Listed[], terminal: Terminal): void {
  const { columns, rows } = listedTable(found)
  terminal.write(tableText(columns, rows).trimEnd())
}
