import * as v from 'valibot'
import { type Grant, tenantOf } from '#keys/grant.ts'
import { ACT_KINDS, type Act } from '#promise/acts.ts'
import type { AnswerOf } from '../core/answers.ts'
import { succeed } from '../core/envelope.ts'
import { operation, resource } from '../core/operation.ts'
import { findNamed, nameIn } from './document-path.ts'
import { instant } from './present.ts'
import * as schemas from './schemas.ts'

const actSchema = v.object({
  act: v.picklist(ACT_KINDS),
  at: v.nullable(schemas.instant),
  actor: schemas.actor,
  isOfBatch: v.pipe(v.boolean(), v.description('Whether it was on the whole batch.')),
})

const LIST = operation({
  operationId: 'listActs',
  route: 'GET /v1/documents/:publicId/acts',
  tag: 'Documents',
  summary: 'List who did what with a document',
  description:
    'The newest 100 acts on the document and its batch, as they were promised; `status` of the document says what became of them. None of it is on the chain.',
  scope: 'documents:read',
  parameters: { publicId: schemas.documentName },
  answer: {
    description: 'The acts, the oldest first.',
    data: v.object({ documentHash: schemas.hash, acts: v.array(actSchema) }),
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
  errors: ['not_found', 'other_issuer', 'unverifiable', 'store_unavailable'],
})

/** Serves who did what with the document that the path names. */
export const actRoutes = resource([LIST], (serve, deps) => {
  serve(LIST, async (c) => {
    const grant = c.get('grant')
    const name = nameIn(c.req.param('publicId'))
    const { documentHash } = await findNamed(deps, grant, name, deps.newDeadline())
    const acts = await deps.acts.of(documentHash)
    return succeed(c, LIST, { documentHash, acts: acts.map((act) => present(act, grant)) })
  })
})

/** Whoever acts for another tenant is not named. */
function present(
  { kind, time, actor, tenant, isOfBatch }: Act,
  grant: Grant,
): AnswerOf<typeof actSchema> {
  const reader = tenantOf(grant)
  const isOwn = reader === null || tenant === null || reader === tenant
  return { act: kind, at: instant(time), actor: isOwn ? actor : null, isOfBatch }
}
