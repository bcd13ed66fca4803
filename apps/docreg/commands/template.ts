import { csvLine } from '#table/format.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  metadata: { value: '<key>', multiple: true, about: 'a column for an entry of the metadata' },
} as const satisfies Options

export const templateCommand = defineCommand({
  name: 'template',
  group: 'Issue',
  summary: 'Print a table to fill in for "docreg issue"',
  about: [
    'subjectName: at most 200 characters. subjectId: digits. category: lower-case letters, digits and _. issuedAt, expiresAt: YYYY-MM-DD; expiresAt may be empty. Columns metadata.<key>: any text, may be empty.',
  ],
  options: OPTIONS,
  examples: [
    ['A table', 'docreg template > people.csv'],
    ['With columns of your own', 'docreg template --metadata degree --metadata grade > people.csv'],
  ],
  exitCodes: '0 printed',
  run: template,
})

/** An example row, which the user replaces. */
const EXAMPLE = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-07-01',
  expiresAt: '',
}

async function template(
  { values }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const metadata = (values.metadata ?? []).map((key) => [`metadata.${key}`, ''] as const)
  const row = { ...EXAMPLE, ...Object.fromEntries(metadata) }
  if (values.json) terminal.write(printableJson({ columns: Object.keys(row), example: row }))
  else terminal.write(`${csvLine(Object.keys(row))}${csvLine(Object.values(row)).trimEnd()}`)
  return EXIT.ok
}
