import { defineCommand } from '../../command.ts'
import { ACTIONS } from '../../registry/actions.ts'
import { inCheckout } from '../../registry/checkout.ts'
import { ROLES_OPTIONS } from '../../registry/options.ts'

export const registryRolesCommand = defineCommand({
  name: 'registry roles',
  group: 'Operate',
  summary: 'Print, try or send a call of the registry that changes who may do what',
  about: [
    ['Actions, and their arguments:']
      .concat(Object.entries(ACTIONS).map(([name, [, , usage]]) => `  ${name} ${usage}`))
      .join('\n'),
    '<permissions> are one or more of issue,revoke,manage,delegate. <documentHashes> are separated by commas, or @ and a file with one per line.',
  ],
  args: [
    { name: '<action>', about: 'one of the actions above' },
    { name: '[arguments...]', about: 'the arguments of the action' },
  ],
  options: ROLES_OPTIONS,
  examples: [
    [
      'The call that adds an account, for a wallet to send',
      'docreg registry roles add-account 1 0x… issue,revoke --as 0x… --network sepolia',
    ],
  ],
  exitCodes: '0 it would succeed or was sent, 1 it would fail, 2 could not be tried or sent',
  run: async ({ args, values }, terminal) =>
    (await inCheckout(() => import('../../registry/roles.ts'))).changeRoles(args, values, terminal),
})
