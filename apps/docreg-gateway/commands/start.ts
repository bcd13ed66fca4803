import { defineCommand } from '#cli/command.ts'

export const startCommand = defineCommand({
  name: 'start',
  group: 'Run',
  summary: 'Start the gateway, and without RPC_URL a local chain for trying',
  about: ['Runs until Ctrl-C or SIGTERM. With --json it prints one object when it is ready.'],
  options: {},
  examples: [
    ['A gateway on a local chain', 'docreg-gateway start'],
    ['On another port', 'PORT=3001 CHAIN_PORT=8546 docreg-gateway start'],
  ],
  exitCodes: '0 stopped by a signal, 1 could not start or had to end',
  run: async ({ values }, terminal) =>
    (await import('../start.ts')).start(terminal, values.json === true),
})
