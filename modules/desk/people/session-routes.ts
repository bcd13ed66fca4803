import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Context } from 'hono'
import * as v from 'valibot'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'
import { Refusal } from '#base/refusal.ts'
import type { AnswerOf } from '#http/core/answers.ts'
import { succeed } from '#http/core/envelope.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeSignIn } from '#http/core/rate-limits.ts'
import { parseBody, readJson, readQuery } from '#http/core/request.ts'
import * as schemas from '#http/resources/schemas.ts'
import { ROLES, SCOPES_OF } from '#keys/roles.ts'
import type { DeskDeps } from '../deps.ts'
import { assertSameOrigin, cookieNameOf, setCookieOf } from './cookies.ts'
import type { Person } from './ports.ts'
import { csrfTokenOf, type NewSession, type SignedIn } from './sessions.ts'
import { signedInOf } from './signed-in.ts'

const presented = {
  id: v.pipe(v.string(), v.description('The id of the person, which is not secret.')),
  name: v.string(),
  role: v.picklist(ROLES),
  tenant: v.string(),
  categories: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('The only categories that the person may issue and change; `null` = all.'),
  ),
  isFromProvider: v.pipe(
    v.boolean(),
    v.description('Whether the identity provider signs the person in, and decides name and role.'),
  ),
  isBlocked: v.pipe(
    v.boolean(),
    v.description('Whether the person may not sign in, in any way, nor do anything.'),
  ),
}
export const personSchema = v.object(presented)
export const sessionSchema = v.object({
  person: personSchema,
  scopes: v.array(schemas.scope),
  csrfToken: v.pipe(
    v.string(),
    v.description('For `X-CSRF-Token` of every request with the cookie, except GET and HEAD.'),
  ),
  expiresAt: v.pipe(
    schemas.time,
    v.description('When the session ends at the latest. It also ends after an hour without use.'),
  ),
  passkeys: v.pipe(v.number(), v.description('The number of passkeys of the person.')),
  network: schemas.network,
})

const EXAMPLE_TIME = '2026-11-21T20:36:39.000Z'
export const EXAMPLE_PERSON = {
  id: 'abcdef012345',
  name: 'Front desk',
  role: 'clerk',
  tenant: 'default',
  categories: ['diploma'],
  isFromProvider: false,
  isBlocked: false,
} as const
const EXAMPLE = {
  person: EXAMPLE_PERSON,
  scopes: ['documents:read', 'verify', 'documents:issue'],
  csrfToken: 'DLNr8pD2bYHlhvlUyiBKPWVY0DvrtRp2IkwA4zUKGHk',
  expiresAt: EXAMPLE_TIME,
  passkeys: 1,
  network: 'test',
}

const SESSION = { tag: 'People' } as const
const SIGN_IN = { tag: 'People', scope: 'public' } as const
const SIGNED_IN = {
  status: 201,
  description: 'The person is signed in; the cookie names the session.',
  data: sessionSchema,
  headers: { 'Set-Cookie': v.string() },
  example: EXAMPLE,
}

const RETRIEVE = operation({
  ...SESSION,
  operationId: 'retrieveSession',
  route: 'GET /v1/session',
  scope: 'session',
  summary: 'Retrieve who is signed in',
  answer: { description: 'The session of the cookie.', data: sessionSchema, example: EXAMPLE },
  errors: ['store_unavailable'],
})

const SIGN_OUT = operation({
  ...SESSION,
  operationId: 'signOut',
  route: 'DELETE /v1/session',
  scope: 'session',
  summary: 'Sign out',
  answer: {
    description: 'The session is over.',
    data: v.object({ deleted: v.literal(true) }),
    headers: { 'Set-Cookie': v.string() },
    example: { deleted: true },
  },
  errors: ['store_unavailable'],
})

const invitationBody = v.strictObject({
  invitation: v.pipe(v.string('must be a string'), v.maxLength(200, 'is too long')),
})
const WITH_INVITATION = operation({
  ...SIGN_IN,
  operationId: 'useInvitation',
  route: 'POST /v1/session/invitation',
  summary: 'Sign in with an invitation',
  description:
    'An invitation works once. Register a passkey to sign in later: the session of the newest one may do so, if the person has none.',
  body: {
    schema: invitationBody,
    example: { invitation: 'dri_bm90IGEgc2VjcmV0IG9mIGFueWJvZHksIGFuZCBub3RoaW5n' },
  },
  answer: SIGNED_IN,
  errors: [
    'bad_query',
    'invitation_invalid',
    'person_blocked',
    'csrf_token_required',
    'store_unavailable',
  ],
})

/** Members that the library always gives, although its types leave them open. */
export const requestOptions = {
  challenge: v.string(),
  rpId: v.string(),
  timeout: v.number(),
  userVerification: v.string(),
}
const signInOptions = v.object(requestOptions)
const OPTIONS = operation({
  ...SIGN_IN,
  operationId: 'passkeySignInOptions',
  route: 'POST /v1/session/passkey/options',
  summary: 'Ask for a challenge to sign in with a passkey',
  answer: {
    description: 'For `navigator.credentials.get`. The challenge is valid for five minutes.',
    data: signInOptions,
  },
  errors: ['bad_query', 'csrf_token_required'],
})

const text = v.string('must be a string')
const transport = v.pipe(text, v.maxLength(32, 'is too long'))
const credential = {
  id: text,
  rawId: text,
  type: v.literal('public-key', 'must be public-key'),
  authenticatorAttachment: v.exactOptional(v.nullable(text)),
  clientExtensionResults: v.optional(v.record(v.string(), v.unknown()), {}),
}
/** What `PublicKeyCredential.toJSON` gives after `navigator.credentials.get`. */
export const assertion = v.looseObject({
  ...credential,
  response: v.looseObject({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: v.exactOptional(v.nullable(text)),
  }),
})
/** What it gives after `navigator.credentials.create`. */
export const attestation = v.looseObject({
  ...credential,
  response: v.looseObject({
    clientDataJSON: text,
    attestationObject: text,
    transports: v.exactOptional(v.pipe(v.array(transport), v.maxLength(10, 'is too long'))),
  }),
})
/** An answer with which no authenticator would agree. */
const EXAMPLE_CREDENTIAL = { id: 'AQID', rawId: 'AQID', type: 'public-key' } as const
export const EXAMPLE_ATTESTATION = {
  ...EXAMPLE_CREDENTIAL,
  response: { clientDataJSON: 'e30', attestationObject: 'oA' },
}

const passkeyBody = v.strictObject({ response: assertion })
const WITH_PASSKEY = operation({
  ...SIGN_IN,
  operationId: 'signInWithPasskey',
  route: 'POST /v1/session/passkey',
  summary: 'Sign in with a passkey',
  body: {
    schema: passkeyBody,
    example: {
      response: {
        ...EXAMPLE_CREDENTIAL,
        response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
      },
    },
  },
  answer: SIGNED_IN,
  errors: [
    'bad_query',
    'passkey_invalid',
    'person_blocked',
    'csrf_token_required',
    'store_unavailable',
  ],
})

const OPERATIONS = [RETRIEVE, SIGN_OUT, WITH_INVITATION, OPTIONS, WITH_PASSKEY]

/** Serves signing in and out. */
export const sessionRoutes = resource<DeskDeps>(
  OPERATIONS,
  (serve, deps) => {
    const { sessions, passkeys, addresses, log } = deps
    // Whoever guesses must not fill the disk.
    const refusals = createMemoryRateLimiter(1)

    async function present({ person, secret, session }: SignedIn & { secret: string }) {
      return {
        person: presentPerson(person),
        scopes: SCOPES_OF[person.role],
        csrfToken: csrfTokenOf(secret),
        expiresAt: session.expiresAt,
        passkeys: (await passkeys.list(person)).length,
        network: addresses.network,
      }
    }

    async function admit(c: Context): Promise<void> {
      await chargeSignIn(c)
      assertSameOrigin(c)
      readQuery(c, v.object({}))
    }

    async function begin(
      c: Context,
      one: typeof WITH_INVITATION | typeof WITH_PASSKEY,
      signIn: () => Promise<NewSession>,
    ): Promise<Response> {
      const begun = await signIn().catch(async (error) => {
        if (error instanceof Refusal && (await refusals.take('', 1)).isAllowed)
          log.warn('sign_in_refused', { reason: error.code })
        throw error
      })
      log.info('signed_in', { person: begun.person.id, session: begun.session.id })
      const { baseUrl } = addresses
      return succeed(c, one, await present(begun), 201, setCookieOf(baseUrl, begun.secret))
    }

    serve(RETRIEVE, async (c) => succeed(c, RETRIEVE, await present(signedInOf(c))))

    serve(SIGN_OUT, async (c) => {
      const { session } = signedInOf(c)
      await sessions.end(session)
      log.info('signed_out', { person: session.person, session: session.id })
      return succeed(c, SIGN_OUT, { deleted: true }, 200, setCookieOf(addresses.baseUrl, undefined))
    })

    serve(WITH_INVITATION, async (c) => {
      await admit(c)
      const { invitation } = parseBody(invitationBody, await readJson(c))
      return begin(c, WITH_INVITATION, () => sessions.useInvitation(invitation))
    })

    serve(OPTIONS, async (c) => {
      await admit(c)
      return succeed(c, OPTIONS, (await passkeys.signInOptions()) as AnswerOf<typeof signInOptions>)
    })

    serve(WITH_PASSKEY, async (c) => {
      await admit(c)
      const { response } = parseBody(passkeyBody, await readJson(c))
      return begin(c, WITH_PASSKEY, () => passkeys.signIn(response as AuthenticationResponseJSON))
    })
  },
  { Person: personSchema, Session: sessionSchema },
  (baseUrl) => ({ session: { type: 'apiKey', in: 'cookie', name: cookieNameOf(baseUrl) } }),
)

export function presentPerson(person: Person): AnswerOf<typeof personSchema> {
  const { id, name, role, tenant, categories = null } = person
  const { isFromProvider = false, isBlocked = false } = person
  return { id, name, role, tenant, categories, isFromProvider, isBlocked }
}
