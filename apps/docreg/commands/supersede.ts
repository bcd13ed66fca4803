import { createHash } from 'node:crypto'
import { toCanonical } from '#document/canonical.ts'
import type { DocumentFields } from '#document/document.ts'
import { readNewDocument } from '#document/new-document.ts'
import { tableText } from '#table/format.ts'
import { cellProblems, cellsOf, DATES, documentOf, doubtfulIn, isField } from '#table/rows.ts'
import { changeAll } from '../change.ts'
import type { Changed } from '../change-many.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { CONFIRM_OPTIONS, confirmChange } from '../confirm.ts'
import { badTable } from '../csv.ts'
import { InputError, UsageError } from '../errors.ts'
import { connect, GATEWAY_OPTIONS, type Gateway } from '../gateway.ts'
import { pairsOf } from '../issue/rows.ts'
import { writePrivately } from '../private-file.ts'
import { readTargets, TARGET_ARGUMENT, TARGET_OPTIONS, type Target } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  set: {
    value: '<field=value>',
    multiple: true,
    about:
      'a field to correct, such as subjectName="Augusta Ada King"; an empty value removes the field',
  },
  ...TARGET_OPTIONS,
  out: {
    value: '<file>',
    about: 'a CSV file for the successors, with their publicIds and links; required',
  },
  ...CONFIRM_OPTIONS,
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const supersedeCommand = defineCommand({
  name: 'supersede',
  group: 'Issue',
  summary: 'Issue corrected documents to replace others, which are revoked',
  about: [
    'Fields that you do not name stay as they are. A file is a table such as issued.csv with the corrected rows: an empty cell removes its field.',
    'Repeating the command gives the same successor.',
  ],
  args: [TARGET_ARGUMENT],
  options: OPTIONS,
  examples: [
    [
      'A name; it asks first',
      'docreg supersede letter.png --set subjectName="Augusta Ada King" --out corrected.csv',
    ],
    ['Many', 'docreg supersede --from corrections.csv --out corrected.csv'],
  ],
  exitCodes:
    '0 superseded or promised, 1 some were refused, 2 not finished: run it again, 65 wrong input',
  run: supersede,
})

async function supersede(input: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const { values } = input
  const { out } = values
  if (out === undefined)
    throw new UsageError('--out is required: the file in which the successors are written')
  const set = pairsOf('set', values.set)
  const targets = await readTargets(input)
  for (const target of targets) assertCertain(target)
  const gateway = connect(values)
  await confirmChange('Supersede', targets, gateway, values.yes)
  const successors: Record<string, string>[] = []
  const call = async (_: Gateway, target: Target): Promise<Changed> => {
    const fields = await corrected(gateway, target, set)
    const key = createHash('sha256')
      .update(toCanonical({ id: target.id, fields }))
      .digest('hex')
    const answer = await gateway.client.supersedeDocument({
      path: { publicId: target.id },
      body: fields,
      idempotencyKey: `docreg:supersede:${key}`,
    })
    const { publicId, documentHash, verifyUrl, status } = answer
    successors.push({ ...cellsOf(fields), publicId, documentHash, status, verifyUrl })
    return { ...answer.superseded, successor: documentHash }
  }
  try {
    return await changeAll(
      targets,
      { done: 'Superseded', call },
      { gateway, json: values.json, terminal },
    )
  } finally {
    const columns = [...new Set(successors.flatMap((row) => Object.keys(row)))]
    if (successors.length > 0) {
      await writePrivately(out, tableText(columns, successors))
      if (!values.json) terminal.write(`The successors, with publicIds and links, are in ${out}`)
    }
  }
}

/** @throws {InputError} `bad_table` for a field whose cell says no one thing. */
function assertCertain({ line = 0, cells, notes = {} }: Target): void {
  const fields = new Map(
    Object.keys(cells).flatMap((name) => (isField(name) ? [[name, name]] : [])),
  )
  const row = { line, cells, notes }
  for (const { field, message } of cellProblems(row, fields))
    throw badTable(`line ${line}: ${field} ${message}`)
  for (const column of doubtfulIn([row], fields, (field) => DATES.includes(field)).keys())
    throw badTable(
      `line ${line}: ${column} shows other text than its cell holds: save the table as CSV`,
    )
}

/** @throws {InputError} `bad_table` for invalid fields. */
async function corrected(
  { client }: Gateway,
  { id, cells }: Target,
  set: ReadonlyMap<string, string>,
): Promise<DocumentFields> {
  const { subjectName, subjectId, category, issuedAt, expiresAt, metadata } =
    await client.retrieveDocument({ path: { publicId: id } })
  const now = cellsOf({
    subjectName,
    subjectId,
    category,
    issuedAt,
    ...(expiresAt && { expiresAt }),
    ...(metadata && { metadata }),
  })
  const named = Object.entries(cells).filter(([name]) => isField(name))
  const all = { ...now, ...Object.fromEntries(named), ...Object.fromEntries(set) }
  const sent = documentOf(all, new Map(Object.keys(all).map((name) => [name, name])), new Map())
  const read = readNewDocument(sent, Date.now())
  if ('fields' in read) return read.fields
  const problems = read.problems.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new InputError('bad_table', problems)
}
