import * as v from 'valibot'
import { ApiError } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeAddress } from '#http/core/rate-limits.ts'
import type { WalletDeps } from './deps.ts'

const LIST = operation({
  operationId: 'retrieveStatusList',
  route: 'GET /v1/status-lists/:list',
  tag: 'Public',
  summary: 'Retrieve a status list',
  description:
    'The statuses of credentials as a status list token, for verifiers that do not read the chain. It holds the statuses on the chain at the time of signing, with two bits for each credential: 0 valid, 1 invalid, 2 suspended. No list is signed without a recent block.',
  scope: 'public',
  anyOrigin: true,
  parameters: { list: v.pipe(v.string(), v.metadata({ examples: ['1-did'] })) },
  answer: {
    description: 'A signed JWT.',
    content: { 'application/statuslist+jwt': null },
  },
  errors: ['not_found', 'chain_unavailable', 'store_unavailable'],
})

/** Serves the status lists of the issuer's credentials. */
export const statusListRoutes = resource<WalletDeps>([LIST], (serve, { statusLists }) => {
  serve(LIST, async (c) => {
    await chargeAddress(c)
    const token = await statusLists?.token(c.req.param('list'))
    if (token === undefined) throw new ApiError('not_found', 'no such status list')
    return c.body(token, 200, {
      'Content-Type': 'application/statuslist+jwt',
      'Cache-Control': 'public, max-age=5',
      'X-Content-Type-Options': 'nosniff',
    })
  })
})
