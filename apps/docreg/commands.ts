import { auditCommand } from './commands/audit.ts'
import { bundleCommand } from './commands/bundle.ts'
import { certificateCommand } from './commands/certificate.ts'
import { demoCommand } from './commands/demo.ts'
import { documentsCommand } from './commands/documents.ts'
import { eraseCommand } from './commands/erase.ts'
import { exportCommand } from './commands/export.ts'
import { findCommand } from './commands/find.ts'
import { identityCommand } from './commands/identity.ts'
import { issueCommand } from './commands/issue.ts'
import { listCommand } from './commands/list.ts'
import { presentCommand } from './commands/present.ts'
import { recountCommand } from './commands/recount.ts'
import { registryCheckCommand } from './commands/registry/check.ts'
import { registryCostsCommand } from './commands/registry/costs.ts'
import { registryDeployCommand } from './commands/registry/deploy.ts'
import { registryRolesCommand } from './commands/registry/roles.ts'
import { releaseCommand } from './commands/release.ts'
import { revokeCommand } from './commands/revoke.ts'
import { showCommand } from './commands/show.ts'
import { supersedeCommand } from './commands/supersede.ts'
import { suspendCommand } from './commands/suspend.ts'
import { templateCommand } from './commands/template.ts'
import { verifyCommand } from './commands/verify.ts'
import { walletOfferCommand } from './commands/wallet-offer.ts'
import { tellMendable } from './mendable.ts'
import type { Program } from './program.ts'

export const DOCREG: Program = {
  name: 'docreg',
  about: 'Issues, verifies and audits documents of a document-registry.',
  overview: [
    'Try it, in a checkout whose `npm start` runs in another terminal:',
    '  $ docreg verify document.txt',
  ],
  /** The commands in the order of `docreg --help`. */
  commands: [
    templateCommand,
    issueCommand,
    certificateCommand,
    documentsCommand,
    findCommand,
    showCommand,
    revokeCommand,
    suspendCommand,
    releaseCommand,
    supersedeCommand,
    eraseCommand,
    walletOfferCommand,
    verifyCommand,
    bundleCommand,
    presentCommand,
    auditCommand,
    listCommand,
    exportCommand,
    recountCommand,
    identityCommand,
    registryDeployCommand,
    registryCheckCommand,
    registryRolesCommand,
    registryCostsCommand,
    demoCommand,
  ],
  parents: { registry: 'Deploy and check the registry, change its roles, count costs' },
  tell: (error, command) =>
    command?.startsWith('registry ') ? tellMendable(error, { HardhatError: 'hardhat' }) : undefined,
}
