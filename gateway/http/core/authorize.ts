import type { Context, MiddlewareHandler } from 'hono'
import { type ObjectEntries, object } from 'valibot'
import { type FindKey, type Grant, hasScope, type Scope } from '#keys/grant.ts'
import type { Authenticate, Env } from './env.ts'
import { ApiError } from './errors.ts'
import { chargeAddress, chargeKey } from './rate-limits.ts'
import { readQuery } from './request.ts'

const CHALLENGE = 'Bearer realm="document-registry"'

/** How a request shows who sends it. */
export type Authenticating = {
  findKey: FindKey
  /** Other ways than a key, in their order. */
  authenticators: readonly Authenticate[]
}

/**
 * Lets a request through with `Authorization: Bearer <API_KEY>` (RFC 6750) of a key with these
 * scopes, or with the cookie of a session whose person has them. It must have no other query
 * parameters than these, each at most once, because a client that believes in `?dry_run=1` must not
 * issue a document.
 *
 * @param parameters The parameters that the route knows. Handlers find their values as `query` in
 * the context.
 */
export function authorize(
  { findKey, authenticators }: Authenticating,
  scopes: readonly Scope[],
  parameters: ObjectEntries,
): MiddlewareHandler<Env> {
  const known = object(parameters)
  return async (c, next) => {
    const grant = await findGrant(c, { findKey, authenticators })
    await chargeKey(c, grant)
    assertScopes(grant, scopes)
    c.set('grant', grant)
    c.set('assertKey', async () =>
      assertScopes(await findGrant(c, { findKey, authenticators }), scopes),
    )
    c.set('query', readQuery(c, known))
    return next()
  }
}

/** @throws {ApiError} `forbidden` when a key has neither these scopes nor `admin`. */
function assertScopes(grant: Grant, required: readonly Scope[]): void {
  const scope = required.find((one) => !hasScope(grant, one))
  if (scope === undefined) return
  throw new ApiError('forbidden', `the scope ${scope} is required`, {
    headers: {
      'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
    },
  })
}

/** Lets a request of a person through who does without a key, with these query parameters. */
export function requireSession(
  authenticators: readonly Authenticate[],
  parameters: ObjectEntries,
): MiddlewareHandler<Env> {
  const known = object(parameters)
  return async (c, next) => {
    // Whoever sends a key acts as its holder, who has no session.
    const isKey = sendsKey(c.req.header('authorization'))
    const grant = isKey ? undefined : await authenticate(c, authenticators)
    if (!grant?.isPerson) {
      await chargeAddress(c)
      throw new ApiError('unauthorized', 'nobody is signed in')
    }
    await chargeKey(c, grant)
    c.set('query', readQuery(c, known))
    return next()
  }
}

async function authenticate(
  c: Context,
  authenticators: readonly Authenticate[],
): Promise<Grant | undefined> {
  for (const one of authenticators) {
    const grant = await one(c)
    if (grant) return grant
  }
  return undefined
}

/** A password that a proxy asked for (`Basic`) is not meant for the service. */
const sendsKey = (header: string | undefined) => header !== undefined && !/^Basic /i.test(header)

/**
 * A request without a valid key counts toward the limit of its address, so that keys are not cheap
 * to guess.
 */
async function findGrant(c: Context, { findKey, authenticators }: Authenticating): Promise<Grant> {
  const header = c.req.header('authorization')
  if (!sendsKey(header)) {
    const grant = await authenticate(c, authenticators)
    if (grant) return grant
  }
  const key = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1]
  const grant = key === undefined ? undefined : await findKey(key)
  if (grant !== undefined) return grant
  await chargeAddress(c)
  if (header === undefined)
    throw new ApiError('unauthorized', 'an API key or a session is required', {
      headers: { 'WWW-Authenticate': CHALLENGE },
    })
  throw new ApiError('unauthorized', 'the API key is invalid', {
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}
