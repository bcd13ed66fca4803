import * as v from 'valibot'
import { requesterOf } from '#keys/grant.ts'
import { ERASED_FROM, REMAINS_IN } from '#promise/erase.ts'
import { succeed } from '../core/envelope.ts'
import { NAMED_ERRORS } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { changeableOf, nameIn } from './document-path.ts'
import { instant } from './present.ts'
import * as schemas from './schemas.ts'

export const receipt = v.object({
  documentHash: schemas.hash,
  status: v.picklist(['erased', 'pending']),
  erasedAt: v.pipe(
    v.nullable(schemas.instant),
    v.description('When it was erased; null while the erasure is pending.'),
  ),
  removed: v.pipe(
    v.array(v.picklist(ERASED_FROM)),
    v.description('The places that had the bytes; empty if these had been lost before.'),
  ),
  remains: v.pipe(
    v.array(v.picklist(REMAINS_IN)),
    v.description(
      'Where copies may be left, which the service does not delete. `database_files`: until the database writes over them or its tables are rewritten (`VACUUM FULL` of PostgreSQL, `VACUUM` of SQLite). `write_ahead_log`: the log of PostgreSQL and its archive, until the segments are written over or deleted. `replicas`: files and log of each replica, as long. `backups`: of the database, of Kubo and of file systems, until you delete them.',
    ),
  ),
  network: schemas.network,
})

const ERASE = operation({
  operationId: 'eraseDocument',
  route: 'DELETE /v1/documents/:publicId/payload',
  tag: 'Documents',
  summary: 'Erase the content of a document, permanently',
  description: 'The record stays on the chain and is not revoked.',
  scope: 'documents:erase',
  parameters: { publicId: schemas.documentName },
  responses: {
    200: {
      description:
        'The receipt: the bytes are removed from the places in `removed`, and may be left in those of `remains`. Repeating the request gives the same answer.',
      data: receipt,
      example: {
        documentHash: schemas.EXAMPLE_HASH,
        status: 'erased',
        erasedAt: '2026-11-22T13:16:03Z',
        removed: ['database'],
        remains: ['backups'],
        network: 'test',
      },
    },
    202: {
      description:
        'The document can no longer be retrieved, and the gateway continues to remove its bytes.',
      data: receipt,
    },
  },
  errors: [...NAMED_ERRORS, 'not_issued', 'other_issuer', 'chain_unavailable', 'store_unavailable'],
})

/** Erases the sealed document that the path names. */
export const eraseRoutes = resource(
  [ERASE],
  (serve, deps) => {
    const { erasing, addresses, wait, newDeadline } = deps
    serve(ERASE, async (c) => {
      const grant = c.get('grant')
      const name = nameIn(c.req.param('publicId'))
      const key = await (await changeableOf(deps, grant, name, newDeadline())).documentKey()
      const erasure = await erasing.erase(key, { ...requesterOf(grant), wait })
      const { documentHash, erasedAt, removed, remains } = erasure
      return succeed(
        c,
        ERASE,
        {
          documentHash,
          status: erasedAt === null ? 'pending' : 'erased',
          erasedAt: instant(erasedAt && Math.floor(erasedAt / 1000)),
          removed,
          remains,
          network: addresses.network,
        },
        erasedAt === null ? 202 : 200,
      )
    })
  },
  { ErasureReceipt: receipt },
)
