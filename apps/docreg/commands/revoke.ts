import { changeAll } from '../change.ts'
import { entryOf } from '../change-many.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { CONFIRM_OPTIONS, confirmChange } from '../confirm.ts'
import { UsageError } from '../errors.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { readTargets, TARGET_ARGUMENT, TARGET_OPTIONS } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const REASONS = [
  'unspecified',
  'keyCompromise',
  'cACompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'privilegeWithdrawn',
  'aACompromise',
] as const
type Reason = (typeof REASONS)[number]

const OPTIONS = {
  reason: {
    value: '<reason>',
    choices: REASONS,
    about: 'the reason, public on the chain; default unspecified',
  },
  ...TARGET_OPTIONS,
  ...CONFIRM_OPTIONS,
  ...GATEWAY_OPTIONS,
} as const satisfies Options

export const revokeCommand = defineCommand({
  name: 'revoke',
  group: 'Issue',
  summary: 'Revoke documents, permanently',
  about: [
    'To make a document invalid for a time only, use suspend. To correct a mistake, use supersede.',
    'In a file, the column reason gives the reason for each document.',
  ],
  args: [TARGET_ARGUMENT],
  options: OPTIONS,
  examples: [
    [
      'One, from its QR code; it asks first',
      'docreg revoke issued/qr/18151210-43b69afa.png --reason privilegeWithdrawn',
    ],
    ['Many, in a script', 'docreg revoke --from withdrawn.csv --yes'],
  ],
  exitCodes:
    '0 revoked or promised, 1 some were refused, 2 not finished: run it again, 65 wrong input',
  run: revoke,
})

async function revoke(input: CommandInput<typeof OPTIONS>, terminal: Terminal): Promise<number> {
  const { values } = input
  const targets = await readTargets(input)
  const reasons = new Map(
    targets.map(({ id, line, cells }) => [id, reasonOf(cells.reason || values.reason, line)]),
  )
  const gateway = connect(values)
  await confirmChange('Revoke', targets, gateway, values.yes)
  return changeAll(
    targets,
    {
      done: 'Revoked',
      call: ({ client }, { id }) =>
        client.revokeDocument({
          path: { publicId: id },
          body: { reason: reasons.get(id) ?? 'unspecified' },
        }),
      many: (client, some, signal) =>
        client.revokeDocuments({
          body: some.map((one) => ({
            ...entryOf(one),
            reason: reasons.get(one.id) ?? 'unspecified',
          })),
          signal,
        }),
    },
    { gateway, json: values.json, terminal },
  )
}

/** @throws {UsageError} */
function reasonOf(text: string | undefined, line: number | undefined): Reason {
  const reason = REASONS.find((one) => one === (text ?? 'unspecified'))
  if (reason === undefined)
    throw new UsageError(`line ${line}: the reason must be one of ${REASONS.join(', ')}`)
  return reason
}
