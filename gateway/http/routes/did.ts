import type { Hono } from 'hono'
import { allowAnyOrigin } from '../cors.ts'
import type { Env } from '../env.ts'
import { ApiError } from '../errors.ts'

export type DidDeps = {
  /** The issuer's DID document; absent when its domain is elsewhere. */
  didDocument?: object
}

/**
 * GET /.well-known/did.json: the issuer's own statement, if this service is the issuer's domain
 * (docs/formats.md §11).
 */
export function didRoutes(app: Hono<Env>, { didDocument }: DidDeps): void {
  const path = '/.well-known/did.json'
  allowAnyOrigin(app, path, ['GET', 'HEAD'])
  app.get(path, (c) => {
    if (!didDocument) throw new ApiError('not_found', "the issuer's domain is elsewhere")
    return c.body(JSON.stringify(didDocument), 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    })
  })
}
