import type { DescribedResource, Resource } from './core/operation.ts'
import { actRoutes } from './resources/acts.ts'
import { batchRoutes } from './resources/batches.ts'
import { bulkRevisionRoutes } from './resources/bulk-revisions.ts'
import { bundleRoutes } from './resources/bundle.ts'
import { didRoutes } from './resources/did.ts'
import { documentRoutes } from './resources/documents.ts'
import { eraseRoutes } from './resources/erase.ts'
import { eventRoutes } from './resources/events.ts'
import { healthRoutes } from './resources/health.ts'
import { homeRoutes } from './resources/home.ts'
import { ipfsRoutes } from './resources/ipfs.ts'
import { keyRoutes } from './resources/keys.ts'
import { listRoutes } from './resources/list.ts'
import { openapiRoutes } from './resources/openapi.ts'
import { pageRoutes } from './resources/pages.ts'
import { qrRoutes } from './resources/qr.ts'
import { batchRevisionRoutes, documentRevisionRoutes } from './resources/revisions.ts'
import { rpcRoutes } from './resources/rpc.ts'
import { supersedeRoutes } from './resources/supersede.ts'
import { verifyRoutes } from './resources/verify.ts'

/** The resources of the core, in the order of the reference. */
export const CORE_RESOURCES: readonly Resource[] = [
  documentRoutes,
  documentRevisionRoutes,
  supersedeRoutes,
  actRoutes,
  listRoutes,
  bulkRevisionRoutes,
  batchRoutes,
  batchRevisionRoutes,
  bundleRoutes,
  eraseRoutes,
  verifyRoutes,
  eventRoutes,
  qrRoutes,
  pageRoutes,
  ipfsRoutes,
  rpcRoutes,
  didRoutes,
  homeRoutes,
  healthRoutes,
]

/** With those that know of all others, also of modules. */
export const CORE: readonly DescribedResource[] = [...CORE_RESOURCES, keyRoutes, openapiRoutes]
