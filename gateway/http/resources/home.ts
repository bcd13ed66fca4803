import * as v from 'valibot'
import { operation, resource } from '../core/operation.ts'
import { prefers } from '../core/request.ts'
import { homePage } from '../pages/home-page.ts'
import { respondWithPage } from '../pages/page.ts'
import * as schemas from './schemas.ts'

const HOME = operation({
  operationId: 'describeService',
  route: 'GET /',
  tag: 'Service',
  summary: 'Describe the service',
  description: 'Programs get the addresses of the API with `Accept: application/json`.',
  scope: 'public',
  headers: {
    accept: v.exactOptional(
      v.pipe(v.string(), v.description('`application/json` returns links; anything else a page.')),
    ),
  },
  answer: {
    description: 'Links, or a page for people.',
    content: {
      'application/json': v.object({
        success: v.literal(true),
        data: v.object({
          service: v.literal('document-registry'),
          network: schemas.network,
          registry: schemas.registry,
          links: v.record(v.string(), schemas.url),
        }),
      }),
      'text/html': null,
    },
  },
})

/** Serves a page to browsers and links to programs. */
export const homeRoutes = resource([HOME], (serve, { addresses, peoplePage }) => {
  const { baseUrl, verifyUrl, registry, network } = addresses
  const links = {
    documents: `${baseUrl}/v1/documents`,
    verify: `${baseUrl}/v1/verify`,
    verifyPage: verifyUrl,
    health: `${baseUrl}/healthz`,
    ready: `${baseUrl}/readyz`,
    metrics: `${baseUrl}/metrics`,
  }

  const data = { service: 'document-registry', network, registry, links }

  serve(HOME, (c) => {
    if (prefers(c, 'application/json', 'text/html'))
      return c.json({ success: true, data }, 200, { Vary: 'Accept' })
    return respondWithPage(c, {
      title: 'Document registry',
      main: homePage(addresses, peoplePage),
      vary: 'Accept',
    })
  })
})
