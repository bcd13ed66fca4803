import { readVerifyPage } from '#http/pages/verify-page.ts'
import type { PageConfig } from '#web/config.ts'
import { serveHttp, type TestServer } from './http.ts'

/** Hosts the verify page with any configuration, as a third party would. */
export type PageServer = TestServer & {
  /** @returns The address of a page with this configuration. */
  host(config: PageConfig): string
}

export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, ReturnType<typeof readVerifyPage>>()
  const server = await serveHttp((request, response) => {
    const page = pages.get(request.url?.split('?')[0] ?? '')
    if (page === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': page.policy,
    })
    response.end(page.html)
  })
  return {
    ...server,
    host(config) {
      const path = `/${pages.size}`
      pages.set(path, readVerifyPage(config))
      return server.url + path
    },
  }
}
