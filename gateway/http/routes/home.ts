import type { Hono } from 'hono'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { homePage } from '../pages/home-page.ts'
import { respondWithPage } from '../pages/page.ts'
import { type Addresses, networkOfRegistry } from '../present.ts'
import { prefers } from '../request.ts'

export type HomeDeps = { addresses: Addresses }

/**
 * GET /: what this service is and where to go next, as a page or as links for a program.
 */
export function homeRoutes(app: Hono<Env>, { addresses }: HomeDeps): void {
  const { baseUrl, verifyUrl, registry } = addresses
  const network = networkOfRegistry(registry)
  const links = {
    documents: `${baseUrl}/v1/documents`,
    verify: `${baseUrl}/v1/verify`,
    verifyPage: verifyUrl,
    health: `${baseUrl}/healthz`,
    ready: `${baseUrl}/readyz`,
    metrics: `${baseUrl}/metrics`,
  }

  app.get('/', (c) => {
    if (prefers(c, 'application/json', 'text/html'))
      return succeed(c, { service: 'document-registry', network, registry, links }, 200, {
        Vary: 'Accept',
      })
    return respondWithPage(c, {
      title: 'Document registry',
      main: homePage(addresses, network),
      vary: 'Accept',
    })
  })
}
