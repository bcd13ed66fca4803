import { changeAll } from '../change.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { CONFIRM_OPTIONS, confirmChange } from '../confirm.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { readTargets, TARGET_ARGUMENT, TARGET_OPTIONS } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...TARGET_OPTIONS,
  ...CONFIRM_OPTIONS,
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const eraseCommand = defineCommand({
  name: 'erase',
  group: 'Issue',
  summary: 'Erase the content of documents from the service, permanently',
  about: [
    'The record, with hash and dates, stays on the chain. Erasing does not revoke: revoke the document first if it must not count. Copies that others made are not erased.',
    'The API key needs the scope documents:erase.',
  ],
  args: [TARGET_ARGUMENT],
  options: OPTIONS,
  examples: [
    ['One; it asks first', 'docreg erase letter.png'],
    ['Many, in a script', 'docreg erase --from requests.csv --yes'],
  ],
  exitCodes:
    '0 erased or promised, 1 some were refused, 2 not finished: run it again, 65 wrong input',
  run: erase,
})

async function erase(input: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const { values } = input
  const targets = await readTargets(input)
  const gateway = connect(values)
  await confirmChange('Erase', targets, gateway, values.yes)
  return changeAll(
    targets,
    {
      done: 'Erased',
      call: ({ client }, { id }) => client.eraseDocument({ path: { publicId: id } }),
    },
    { gateway, json: values.json, terminal },
  )
}
