import type { Hono } from 'hono'
import * as v from 'valibot'
import { decodePublicId } from '../../../document/public-id.ts'
import type { DocumentKey } from '../../../verifier/ports.ts'
import type { FindKey, Grant } from '../../grant.ts'
import { ERASED_FROM, type Erasing } from '../../issue/erase.ts'
import { IssueError } from '../../issue/errors.ts'
import type { PayloadStore } from '../../issue/ports.ts'
import { findFor, isHash, type PathDeps } from '../document-path.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { keyIn } from '../key-in.ts'
import { operation, serve } from '../operation.ts'
import { instant, networkOfRegistry } from '../present.ts'
import * as schemas from '../schemas.ts'

export type EraseDeps = PathDeps & {
  findKey: FindKey
  erasing: Erasing
  store: PayloadStore
  /** How long a request waits until all bytes are gone; milliseconds. */
  wait: number
}

export const receipt = v.object({
  documentHash: schemas.hash,
  status: v.picklist(['erased', 'pending']),
  erasedAt: v.pipe(v.nullable(schemas.instant), v.description('null while it is pending.')),
  removed: v.pipe(
    v.array(v.picklist(ERASED_FROM)),
    v.description('The places that had the bytes; none when they were lost before.'),
  ),
  network: schemas.network,
})

const ERASE = operation({
  operationId: 'eraseDocument',
  method: 'delete',
  path: '/v1/documents/:publicId/payload',
  tag: 'Documents',
  summary: 'Erase the content of a document, permanently',
  description: 'Its record stays on the chain, and is not revoked by this.',
  scope: 'documents:erase',
  parameters: { publicId: schemas.documentName },
  query: {},
  responses: {
    200: {
      description: 'The receipt: the bytes are gone. The same again is the same answer.',
      data: receipt,
      example: {
        documentHash: schemas.EXAMPLE_HASH,
        status: 'erased',
        erasedAt: '2026-11-22T13:16:03Z',
        removed: ['database'],
        network: 'test',
      },
    },
    202: {
      description: 'Nobody gets the document any more; the gateway goes on removing its bytes.',
      data: receipt,
    },
  },
  errors: ['not_issued', 'other_issuer', 'chain_unavailable', 'store_unavailable'],
})
export const eraseOperations = [ERASE]

/** Erases the sealed document of a publicId, or of a documentHash of the tenant. */
export function eraseRoutes(app: Hono<Env>, deps: EraseDeps): void {
  const { findKey, erasing, addresses, wait } = deps
  serve(app, ERASE, findKey, async (c) => {
    const grant = c.get('grant')
    const key = await keyToErase(deps, grant, c.req.param('publicId'))
    const { tenant } = grant
    const { documentHash, erasedAt, removed } = await erasing.erase(key, { tenant, wait })
    return succeed(
      c,
      {
        documentHash,
        status: erasedAt === null ? 'pending' : 'erased',
        erasedAt: instant(erasedAt && Math.floor(erasedAt / 1000)),
        removed,
        network: networkOfRegistry(addresses.registry),
      },
      erasedAt === null ? 202 : 200,
    )
  })
}

async function keyToErase(deps: EraseDeps, grant: Grant, text: string): Promise<DocumentKey> {
  const { store, addresses } = deps
  const { issuerId, registry } = addresses
  if (isHash(text)) {
    const found = await findFor(deps, grant, text)
    if (!found) throw new IssueError('not_issued', 'no such document of this tenant')
    const { key } = await found.open()
    return key ?? { issuerId, documentHash: found.documentHash }
  }
  const decoded = decodePublicId(text)
  if (decoded.issuerId !== issuerId)
    throw new IssueError('other_issuer', `a document of issuer ${decoded.issuerId}`)
  const { key, isOutage } = await keyIn(decoded, registry, store)
  if (key) return key
  if (isOutage) throw new ApiError('store_unavailable', 'the batch block cannot be read now')
  throw new IssueError('not_issued', 'no such batch block')
}
