import { changeAll } from '../change.ts'
import { entryOf } from '../change-many.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { readTargets, TARGET_ARGUMENT, TARGET_OPTIONS } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = { ...TARGET_OPTIONS, ...GATEWAY_OPTIONS } as const satisfies Options

export const releaseCommand = defineCommand({
  name: 'release',
  group: 'Issue',
  summary: 'Release suspended documents',
  about: ['A revoked document stays revoked.'],
  args: [TARGET_ARGUMENT],
  options: OPTIONS,
  examples: [
    ['One', 'docreg release letter.png'],
    ['Many', 'docreg release --from documents.csv'],
  ],
  exitCodes:
    '0 done or promised, 1 some were refused, 2 not finished: run it again, 65 wrong input',
  run: release,
})

async function release(input: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const { values } = input
  const targets = await readTargets(input)
  return changeAll(
    targets,
    {
      done: 'Released',
      call: ({ client }, { id }) => client.releaseDocument({ path: { publicId: id }, body: {} }),
      many: (client, some, signal) => client.releaseDocuments({ body: some.map(entryOf), signal }),
    },
    { gateway: connect(values), json: values.json, terminal },
  )
}
