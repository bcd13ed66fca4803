import type { Context } from 'hono'
import { generateCookie, getCookie } from 'hono/cookie'
import * as v from 'valibot'
import { Refusal } from '#base/refusal.ts'
import { succeed } from '#http/core/envelope.ts'
import { ApiError } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeAddress, chargeSignIn } from '#http/core/rate-limits.ts'
import { readQuery } from '#http/core/request.ts'
import * as schemas from '#http/resources/schemas.ts'
import type { DeskDeps } from '../deps.ts'
import { assertSameOrigin, cookieNameOf, isSecure, setCookieOf } from './cookies.ts'
import { deskUrlOf } from './desk.ts'
import type { Provider } from './provider.ts'
import type { NewSession } from './sessions.ts'

/** How long a person may take at the provider, in seconds. */
const ATTEMPT_SECONDS = 600

const WAYS = operation({
  operationId: 'retrieveSignInWays',
  route: 'GET /v1/session/ways',
  tag: 'People',
  summary: 'Retrieve the ways to sign in',
  scope: 'public',
  answer: {
    description: 'The ways besides passkeys and invitations.',
    data: v.object({
      provider: v.pipe(
        v.nullable(v.string()),
        v.description("The host of the organisation's identity provider; `null` if none."),
      ),
    }),
    example: { provider: null },
  },
  errors: ['bad_query'],
})

const BEGIN = operation({
  operationId: 'beginProviderSignIn',
  route: 'POST /v1/session/provider',
  tag: 'People',
  summary: 'Begin to sign in with the identity provider',
  description: 'The browser then goes to `url`. The attempt is valid for ten minutes.',
  scope: 'public',
  answer: {
    description: 'Where the person signs in; the cookie has the secret of the attempt.',
    data: v.object({ url: schemas.url }),
    headers: { 'Set-Cookie': v.string() },
  },
  errors: ['bad_query', 'not_found', 'csrf_token_required', 'provider_unavailable'],
})

const RETURN = operation({
  operationId: 'returnFromProvider',
  route: 'GET /v1/session/provider/return',
  tag: 'People',
  summary: 'Return from the identity provider',
  description:
    'The redirect URI, as it is registered at the provider. A refusal leads to the desk too, with its code in the fragment.',
  scope: 'public',
  responses: {
    303: {
      description: 'Leads to the desk. If the person is signed in, a cookie names the session.',
      headers: { Location: schemas.url, 'Set-Cookie': v.string() },
    },
  },
  errors: ['not_found'],
})

/** Serves signing in with the organisation's identity provider. */
export const providerRoutes = resource<DeskDeps>([WAYS, BEGIN, RETURN], (serve, deps) => {
  const { provider, addresses, log } = deps
  const { baseUrl } = addresses
  const deskUrl = deskUrlOf(baseUrl)
  const name = cookieNameOf(baseUrl, 'docreg_sign_in')
  // The person comes back from another site, which a strict cookie would not survive.
  const cookieOf = (attempt: string, maxAge: number) =>
    generateCookie(name, attempt, {
      path: '/',
      httpOnly: true,
      secure: isSecure(baseUrl),
      sameSite: 'Lax',
      maxAge,
    })

  serve(WAYS, async (c) => {
    await chargeAddress(c)
    readQuery(c, v.object({}))
    return succeed(c, WAYS, { provider: provider?.name ?? null })
  })

  serve(BEGIN, async (c) => {
    await chargeSignIn(c)
    assertSameOrigin(c)
    readQuery(c, v.object({}))
    const { url, attempt } = await known(provider).begin()
    return succeed(c, BEGIN, { url }, 200, { 'Set-Cookie': cookieOf(attempt, ATTEMPT_SECONDS) })
  })

  /** @returns The session, or the code of the refusal. */
  async function finish(c: Context): Promise<NewSession | string> {
    const attempt = getCookie(c, name)
    if (!attempt) return 'provider_refused'
    try {
      return await known(provider).finish(attempt, new URL(c.req.url).searchParams)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      log.warn('sign_in_refused', { reason: error.code, cause: describe(error.cause) })
      return error.code
    }
  }

  serve(RETURN, async (c) => {
    known(provider)
    await chargeSignIn(c)
    const begun = await finish(c)
    const isRefused = typeof begun === 'string'
    if (!isRefused) log.info('signed_in', { person: begun.person.id, session: begun.session.id })
    c.header('Set-Cookie', cookieOf('', 0))
    if (!isRefused)
      c.header('Set-Cookie', setCookieOf(baseUrl, begun.secret)['Set-Cookie'], { append: true })
    return c.redirect(isRefused ? `${deskUrl}#refused=${begun}` : deskUrl, 303)
  })
})

function known(provider: Provider | undefined): Provider {
  if (provider) return provider
  throw new ApiError('not_found', 'no identity provider is set up')
}

/** Only the kind of an error of the provider: its text may have names. */
function describe(cause: unknown): string | undefined {
  const { code, error, name } = (cause ?? {}) as { code?: string; error?: string; name?: string }
  return [name, code, error].filter((text) => typeof text === 'string').join(' ') || undefined
}
