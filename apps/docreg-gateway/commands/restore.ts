import { resolve } from 'node:path'
import { defineCommand } from '#cli/command.ts'
import { UsageError } from '#cli/errors.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'
import { wholeNumber } from '#cli/sources.ts'

export const restoreCommand = defineCommand({
  name: 'restore',
  group: 'Back up',
  summary: 'Make DATA_DIR from a backup, checked and compared with the chain',
  about: [
    'Takes the settings of the gateway. With DATABASE_URL, and without a folder, it checks and repairs the database that pg_restore has filled.',
  ],
  args: [{ name: '[backup]', about: 'the folder of the backup' }],
  options: {
    block: {
      value: '<number>',
      about: 'with DATABASE_URL, the newest block when pg_dump was started',
    },
  },
  examples: [['Into another folder', 'DATA_DIR=restored docreg-gateway restore backups/monday']],
  exitCodes: '0 restored, 2 could not be restored',
  async run({ args: [folder], values }, { write, note }) {
    const block = values.block === undefined ? null : wholeNumber('block', values.block)
    const { readConfig } = await import('#settings/config.ts')
    const { checkRestoredPostgres, restoreFolder } = await import('../backup/restore.ts')
    const config = readConfig(process.env)
    const { dataDir, databaseUrl } = config
    const say = values.json ? note : write
    if (databaseUrl === undefined) {
      if (!folder) throw new UsageError('<backup> is required, the folder of the backup')
      if (block !== null) throw new UsageError('--block requires DATABASE_URL')
      const compared = await restoreFolder(config, resolve(folder), say)
      if (values.json) write(printableJson({ restored: dataDir, ...compared }))
      return EXIT.ok
    }
    if (folder)
      throw new UsageError(
        'with DATABASE_URL, restore the database first and run this command without a folder',
      )
    const compared = await checkRestoredPostgres(config, databaseUrl, { block, say })
    if (values.json) write(printableJson({ restored: 'DATABASE_URL', ...compared }))
    return EXIT.ok
  },
})
