import { tellMendable } from '#cli/mendable.ts'
import type { Program, Told } from '#cli/program.ts'
import { backupCommand } from './commands/backup.ts'
import { certificatesCommand } from './commands/certificates.ts'
import { deskCommands } from './commands/desk.ts'
import { doctorCommand } from './commands/doctor.ts'
import { fsckCommand } from './commands/fsck.ts'
import { issueAgainCommand } from './commands/issue-again.ts'
import { keysCommands } from './commands/keys.ts'
import { moveCommands } from './commands/move.ts'
import { recoverCommand } from './commands/recover.ts'
import { reindexCommand } from './commands/reindex.ts'
import { restoreCommand } from './commands/restore.ts'
import { startCommand } from './commands/start.ts'

/** The codes of errors that an operator can fix and that have no code of their own. */
const CODES = {
  BackupError: 'backup',
  ConfigError: 'settings',
  DatabaseUrlError: 'database',
  KeyFileError: 'key_file',
  LocalRegistryError: 'local_registry',
}

export const GATEWAY: Program = {
  name: 'docreg-gateway',
  about: 'Runs the gateway of a document-registry, backs it up and repairs it.',
  overview: ['Its settings are environment variables: docs/operate.md lists them.'],
  /** The commands in the order of `docreg-gateway --help`. */
  commands: [
    startCommand,
    ...keysCommands,
    ...deskCommands,
    certificatesCommand,
    doctorCommand,
    backupCommand,
    restoreCommand,
    ...moveCommands,
    fsckCommand,
    recoverCommand,
    reindexCommand,
    issueAgainCommand,
  ],
  parents: {
    desk: 'Let people use the desk',
    keys: 'Create, list, rotate, change and revoke API keys',
    move: 'Move the data of a gateway to PostgreSQL, or back to SQLite',
  },
  tell,
}

function tell(error: unknown, command: string | undefined): Told | undefined {
  const told = tellMendable(error, CODES)
  if (!told) return undefined
  // The messages of errors about settings need no introduction.
  const lines = told.message
    .replace(/^cannot start:\s*/, '')
    .split('\n')
    .map((line) => line.trim())
  if (told.code === 'eaddrinuse') lines.push('Another program listens on this port: set PORT')
  const isStart = command === 'start'
  const message = isStart ? ['cannot start:', ...lines.map((line) => `  ${line}`)] : lines
  return { ...told, message: message.join('\n'), ...(isStart && { exitCode: 1 }) }
}
