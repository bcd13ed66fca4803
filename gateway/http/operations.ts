import type { Operation } from './operation.ts'
import { batchOperations } from './routes/batch-operations.ts'
import { bulkChangeOperations } from './routes/bulk-change-operations.ts'
import { bundleOperations } from './routes/bundle.ts'
import { didOperations } from './routes/did.ts'
import { documentOperations } from './routes/document-operations.ts'
import { eraseOperations } from './routes/erase.ts'
import { eventOperations } from './routes/events.ts'
import { healthOperations } from './routes/health.ts'
import { homeOperations } from './routes/home.ts'
import { ipfsOperations } from './routes/ipfs.ts'
import { keyOperations } from './routes/key-operations.ts'
import { listOperations } from './routes/list.ts'
import { openapiOperations } from './routes/openapi.ts'
import { qrOperations } from './routes/qr.ts'
import { rpcOperations } from './routes/rpc.ts'
import { supersedeOperations } from './routes/supersede.ts'
import { verifyOperations } from './routes/verify.ts'
import { verifyPageOperations } from './routes/verify-page.ts'
import { webhookOperations } from './routes/webhook-operations.ts'

/** Every operation of the REST API, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  ...documentOperations,
  ...supersedeOperations,
  ...listOperations,
  ...bulkChangeOperations,
  ...batchOperations,
  ...bundleOperations,
  ...eraseOperations,
  ...verifyOperations,
  ...eventOperations,
  ...webhookOperations,
  ...keyOperations,
  ...qrOperations,
  ...verifyPageOperations,
  ...ipfsOperations,
  ...rpcOperations,
  ...didOperations,
  ...homeOperations,
  ...healthOperations,
  ...openapiOperations,
]
