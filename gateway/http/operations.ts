import type { Operation } from './core/operation.ts'
import { actOperations } from './resources/acts.ts'
import { batchOperations } from './resources/batches.ts'
import { bulkRevisionOperations } from './resources/bulk-revisions.ts'
import { bundleOperations } from './resources/bundle.ts'
import { certificateOperations } from './resources/certificates.ts'
import { deskPageOperations } from './resources/desk-page.ts'
import { didOperations } from './resources/did.ts'
import { documentOperations } from './resources/documents.ts'
import { eraseOperations } from './resources/erase.ts'
import { eventOperations } from './resources/events.ts'
import { healthOperations } from './resources/health.ts'
import { homeOperations } from './resources/home.ts'
import { ipfsOperations } from './resources/ipfs.ts'
import { keyOperations } from './resources/keys.ts'
import { kindOperations } from './resources/kinds.ts'
import { listOperations } from './resources/list.ts'
import { offerOperations } from './resources/offers.ts'
import { openapiOperations } from './resources/openapi.ts'
import { overviewOperations } from './resources/overview.ts'
import { passkeyOperations } from './resources/passkeys.ts'
import { peopleOperations } from './resources/people.ts'
import { providerOperations } from './resources/provider.ts'
import { qrOperations } from './resources/qr.ts'
import { rpcOperations } from './resources/rpc.ts'
import { runOperations } from './resources/runs.ts'
import { sessionOperations } from './resources/session.ts'
import { statusListOperations } from './resources/status-lists.ts'
import { supersedeOperations } from './resources/supersede.ts'
import { verifyOperations } from './resources/verify.ts'
import { verifyPageOperations } from './resources/verify-page.ts'
import { walletOperations } from './resources/wallets.ts'
import { webhookOperations } from './resources/webhooks.ts'

/** Every operation of the REST API, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  ...documentOperations,
  ...supersedeOperations,
  ...actOperations,
  ...listOperations,
  ...bulkRevisionOperations,
  ...batchOperations,
  ...runOperations,
  ...bundleOperations,
  ...eraseOperations,
  ...certificateOperations,
  ...verifyOperations,
  ...eventOperations,
  ...webhookOperations,
  ...kindOperations,
  ...keyOperations,
  ...sessionOperations,
  ...providerOperations,
  ...passkeyOperations,
  ...peopleOperations,
  ...offerOperations,
  ...walletOperations,
  ...qrOperations,
  ...verifyPageOperations,
  ...deskPageOperations,
  ...ipfsOperations,
  ...rpcOperations,
  ...didOperations,
  ...statusListOperations,
  ...homeOperations,
  ...overviewOperations,
  ...healthOperations,
  ...openapiOperations,
]
