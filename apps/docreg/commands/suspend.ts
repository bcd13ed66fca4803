import { changeAll } from '../change.ts'
import { entryOf } from '../change-many.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { readTargets, TARGET_ARGUMENT, TARGET_OPTIONS } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = { ...TARGET_OPTIONS, ...GATEWAY_OPTIONS } as const satisfies Options

export const suspendCommand = defineCommand({
  name: 'suspend',
  group: 'Issue',
  summary: 'Suspend documents: not valid until they are released',
  about: ['A document can be suspended any number of times; "docreg release" ends a suspension.'],
  args: [TARGET_ARGUMENT],
  options: OPTIONS,
  examples: [
    ['One', 'docreg suspend letter.png'],
    ['Many', 'docreg suspend --from documents.csv'],
  ],
  exitCodes:
    '0 done or promised, 1 some were refused, 2 not finished: run it again, 65 wrong input',
  run: suspend,
})

async function suspend(input: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const { values } = input
  const targets = await readTargets(input)
  return changeAll(
    targets,
    {
      done: 'Suspended',
      call: ({ client }, { id }) => client.suspendDocument({ path: { publicId: id }, body: {} }),
      many: (client, some, signal) => client.suspendDocuments({ body: some.map(entryOf), signal }),
    },
    { gateway: connect(values), json: values.json, terminal },
  )
}
