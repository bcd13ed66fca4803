import type { Hono } from 'hono'
import type { Deps } from '../app.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { homePage } from '../pages/home-page.ts'
import { respondWithPage } from '../pages/page.ts'
import { networkOfRegistry } from '../present.ts'
import { prefers } from '../request.ts'

/** GET /: what this service is, and where to go from here; a page, or the same links for a program. */
export function homeRoutes(app: Hono<Env>, { addresses }: Deps): void {
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
