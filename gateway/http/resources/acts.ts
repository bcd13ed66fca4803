import type { Hono } from 'hono'
import * as v from 'valibot'
import type { NewDeadline } from '#base/deadline.ts'
import { type FindKey, type Grant, tenantOf } from '#keys/grant.ts'
import { ACT_KINDS, type Act, type ActLog } from '#promise/acts.ts'
import type { Env } from '../core/env.ts'
import { succeed } from '../core/envelope.ts'
import { operation, serve } from '../core/operation.ts'
import { findNamed, nameIn, type PathDeps } from './document-path.ts'
import { instant } from './present.ts'
import * as schemas from './schemas.ts'

export type ActDeps = PathDeps & { findKey: FindKey; acts: ActLog; newDeadline: NewDeadline }

const LIST = operation({
  operationId: 'listActs',
  method: 'get',
  path: '/v1/documents/:publicId/acts',
  tag: 'Documents',
  summary: 'List who did what with a document',
  description:
    'The newest 100 acts on the document and its batch, as they were promised; `status` of the document says what became of them. None of it is on the chain.',
  scope: 'documents:read',
  parameters: { publicId: schemas.documentName },
  query: {},
  responses: {
    200: {
      description: 'The acts, the oldest first.',
      data: v.object({
        documentHash: schemas.hash,
        acts: v.array(
          v.object({
            act: v.picklist(ACT_KINDS),
            at: v.nullable(schemas.instant),
            actor: schemas.actor,
            isOfBatch: v.pipe(v.boolean(), v.description('Whether it was on the whole batch.')),
          }),
        ),
      }),
      example: {
        documentHash: schemas.EXAMPLE_HASH,
        acts: [
          {
            act: 'issue',
            at: '2026-11-21T08:20:00Z',
            actor: { kind: 'key', id: 'abcdef012345', label: 'Example' },
            isOfBatch: false,
          },
        ],
      },
    },
  },
  errors: ['not_found', 'other_issuer', 'unverifiable', 'store_unavailable'],
})
export const actOperations = [LIST]

/** Serves who did what with the document that the path names. */
export function actRoutes(app: Hono<Env>, deps: ActDeps): void {
  serve(app, LIST, deps.findKey, async (c) => {
    const grant = c.get('grant')
    const name = nameIn(c.req.param('publicId'))
    const { documentHash } = await findNamed(deps, grant, name, deps.newDeadline())
    const acts = await deps.acts.of(documentHash)
    return succeed(c, { documentHash, acts: acts.map((act) => present(act, grant)) })
  })
}

/** Whoever acts for another tenant is not named. */
function present({ kind, time, actor, tenant, isOfBatch }: Act, grant: Grant): object {
  const reader = tenantOf(grant)
  const isOwn = reader === null || tenant === null || reader === tenant
  return { act: kind, at: instant(time), actor: isOwn ? actor : null, isOfBatch }
}
