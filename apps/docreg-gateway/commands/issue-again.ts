import { defineCommand } from '#cli/command.ts'

export const issueAgainCommand = defineCommand({
  name: 'issue-again',
  group: 'Repair',
  summary: 'Issue again, after the theft of an issuing key, what the gateway had issued',
  about: [
    'Lists what this gateway issued with the distrusted account. With --send it issues that again with the account in the settings, waits until all of it is final, and sends again what a reorg removes.',
    'No gateway may run with the data folder. Gateways on PostgreSQL may, beside an account that they do not use.',
  ],
  options: {
    only: {
      value: '<file>',
      about: 'only the documentHashes and roots in this file, one per line',
    },
    send: { about: 'issue them; without it they are only listed' },
    'no-wait': { about: 'do not wait until all is final' },
  },
  examples: [
    ['List them', 'docreg-gateway issue-again > own-documents.txt'],
    ['Issue them again', 'docreg-gateway issue-again --only own-documents.txt --send'],
  ],
  exitCodes: '0 done or only listed, 1 sent but not final, 2 could not be issued',
  run: async ({ values }, terminal) =>
    (await import('../issue-again.ts')).issueAgain(values, terminal),
})
