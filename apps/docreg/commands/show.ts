import { metadataOf } from '#document/document.ts'
import { cellsOf } from '#table/rows.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { printable, printableJson } from '../printable.ts'
import { readTargets, TARGET_ARGUMENT } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = GATEWAY_OPTIONS satisfies Options

export const showCommand = defineCommand({
  name: 'show',
  group: 'Issue',
  summary: 'Show a document of your service, with its status now',
  about: [
    'A documentHash, as listed by "docreg documents", is enough to recover a lost link. Readers use "docreg verify", which trusts no service.',
  ],
  args: [{ ...TARGET_ARGUMENT, name: '<document>' }],
  options: OPTIONS,
  examples: [['By its hash', 'docreg show 0x43b6…']],
  exitCodes: '0 shown, 2 could not be shown, 65 wrong input',
  run: show,
})

const SHOWN = [
  'subjectName',
  'subjectId',
  'category',
  'issuedAt',
  'expiresAt',
  'status',
  'supersedes',
  'supersededBy',
  'documentHash',
  'blockchainHash',
  'verifyUrl',
]

async function show(
  { args, values }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const [target] = await readTargets({ args, values })
  const document = await connect(values).client.retrieveDocument({
    path: { publicId: target?.id ?? '' },
  })
  if (values.json) {
    terminal.write(printableJson(document))
    return EXIT.ok
  }
  if (document.network === 'test') terminal.warn(TEST_NETWORK)
  const cells = cellsOf(document)
  const names = [...SHOWN, ...metadataOf(document).map(([name]) => `metadata.${name}`)]
  const width = Math.max(...names.map((name) => name.length))
  for (const name of names) {
    const value = cells[name]
    if (value !== undefined) terminal.write(`${name.padEnd(width)}  ${printable(dated(value))}`)
  }
  return EXIT.ok
}

/** The service returns a date as the first second of its day. */
function dated(value: string): string {
  return value.replace(/^(\d{4}-\d{2}-\d{2})T00:00:00Z$/, '$1')
}
