import { resolve } from 'node:path'
import { defineCommand } from '#cli/command.ts'
import { UsageError } from '#cli/errors.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'

export const backupCommand = defineCommand({
  name: 'backup',
  group: 'Back up',
  summary: 'Copy DATA_DIR as of one moment, whether the gateway runs or not',
  about: [
    'With DATABASE_URL it copies nothing, but prints the commands that back up PostgreSQL and exits with 2.',
  ],
  args: [{ name: '[folder]', about: 'the folder of the backup; must not exist' }],
  options: { 'without-secrets': { about: 'leave out the issuer secret and keys' } },
  examples: [['Also while the gateway runs', 'docreg-gateway backup backups/monday']],
  exitCodes: '0 made, 2 could not be made',
  async run({ args: [folder], values }, { write }) {
    const { backUp, dumpCommands } = await import('../backup/backup.ts')
    if (process.env.DATABASE_URL) {
      const lines = await dumpCommands()
      if (values.json) write(printableJson({ made: false, instructions: lines }))
      else for (const line of lines) write(line)
      return EXIT.failed
    }
    if (!folder) throw new UsageError('<folder> is required, the folder of the backup')
    const made = await backUp(resolve(folder), !values['without-secrets'])
    const { files, bytes, wasRunning, secrets } = made
    if (values.json) write(printableJson({ made: true, ...made }))
    else {
      const from = `of a ${wasRunning ? 'running' : 'stopped'} service`
      write(`${made.folder}: ${files} files, ${bytes} bytes, ${from}`)
      write(ABOUT_SECRETS[secrets])
    }
    return EXIT.ok
  },
})

const ABOUT_SECRETS = {
  left_out:
    'It contains no secrets. Keep DATA_DIR/secrets and ISSUER_SECRET elsewhere: a restore needs them.',
  none: 'It contains no secrets, because DATA_DIR has none. Keep all secrets of ISSUER_SECRET elsewhere: a restore needs them.',
  all: 'It contains the issuer secret and keys (secrets/): keep it as safe as the service, or use --without-secrets.',
  some: 'It contains keys (secrets/), but not every issuer secret. Keep all secrets of ISSUER_SECRET elsewhere: a restore needs them.',
} as const
