import type { Hono } from 'hono'
import * as v from 'valibot'
import type { StatusLists } from '#credentials/status-lists.ts'
import { allowAnyOrigin } from '../core/cors.ts'
import type { Env } from '../core/env.ts'
import { ApiError } from '../core/errors.ts'
import { operation, servePublic } from '../core/operation.ts'
import { chargeAddress } from '../core/rate-limits.ts'

export type StatusListDeps = {
  /** Absent when this service signs no credentials. */
  statusLists?: StatusLists
}

const LIST = operation({
  operationId: 'retrieveStatusList',
  method: 'get',
  path: '/v1/status-lists/:list',
  tag: 'Public',
  summary: 'Retrieve a status list',
  description:
    'The statuses of credentials as a status list token, for verifiers that do not read the chain. It holds the statuses on the chain at the time of signing, with two bits for each credential: 0 valid, 1 invalid, 2 suspended. No list is signed without a recent block.',
  scope: 'public',
  parameters: { list: v.pipe(v.string(), v.metadata({ examples: ['1'] })) },
  query: {},
  responses: {
    200: {
      description: 'A signed JWT.',
      content: { 'application/statuslist+jwt': null },
    },
  },
  errors: ['not_found', 'chain_unavailable', 'store_unavailable'],
})
export const statusListOperations = [LIST]

const NUMBER = /^[1-9][0-9]{0,8}$/

/** Serves the status lists of the issuer's credentials. */
export function statusListRoutes(app: Hono<Env>, { statusLists }: StatusListDeps): void {
  allowAnyOrigin(app, LIST.path, ['GET', 'HEAD'])
  servePublic(app, LIST, async (c) => {
    await chargeAddress(c)
    const list = c.req.param('list')
    const token = NUMBER.test(list) ? await statusLists?.token(Number(list)) : undefined
    if (token === undefined) throw new ApiError('not_found', 'no such status list')
    return c.body(token, 200, {
      'Content-Type': 'application/statuslist+jwt',
      'Cache-Control': 'public, max-age=5',
      'X-Content-Type-Options': 'nosniff',
    })
  })
}
