import type { Context } from 'hono'
import * as v from 'valibot'
import { decodeUtf8 } from '#document/bytes.ts'
import { category } from '#document/document.ts'
import { parseStrictJson } from '#document/json.ts'
import { ApiError, unverifiable } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeCost } from '#http/core/rate-limits.ts'
import { readBodyAtMost } from '#http/core/request.ts'
import type { WalletDeps } from './deps.ts'
import { WALLET_ERRORS, WalletError, type WalletErrorCode } from './errors.ts'
import { ENDPOINTS, PRE_AUTHORIZED } from './metadata.ts'
import type { Wallets } from './wallets.ts'

// The endpoints of OpenID4VCI 1.0, for wallets. They fail with the errors of that standard, and with
// the envelope where this service is at fault.

const MAX_BODY = 64 * 1024
/** The number of requests that one counts as which reads the chain or signs. */
const COST = 5

const refusal = v.object({
  error: v.picklist(WALLET_ERRORS),
  error_description: v.string(),
})
const refused = (description: string) => ({
  description,
  content: { 'application/json': refusal },
})
const BAD_REQUEST = { 400: refused('The request is refused.') }
const REFUSED = { ...BAD_REQUEST, 401: refused('The access token or its proof is refused.') }
const anything = v.record(v.string(), v.unknown())

const METADATA = {
  tag: 'Wallets',
  parameters: { category: v.string() },
  scope: 'public',
  anyOrigin: true,
  answer: { description: 'The metadata.', content: { 'application/json': anything } },
  errors: ['not_found', 'no_offers', 'store_unavailable'],
} as const
const ISSUER_METADATA = operation({
  ...METADATA,
  operationId: 'retrieveIssuerMetadata',
  route: 'GET /.well-known/openid-credential-issuer/wallets/:category',
  summary: 'Retrieve the metadata of the credential issuer of a category',
  description: 'A wallet reads from it which credentials there are, and where to fetch them.',
})
const SERVER_METADATA = operation({
  ...METADATA,
  operationId: 'retrieveServerMetadata',
  route: 'GET /.well-known/oauth-authorization-server/wallets/:category',
  summary: 'Retrieve the metadata of its authorization server',
  description: 'A wallet reads from it where to exchange the code of an offer (RFC 8414).',
})

const ENDPOINT = { tag: 'Wallets', scope: 'public' } as const
const dpopHeader = v.exactOptional(v.pipe(v.string(), v.description('A proof of RFC 9449.')))

const TOKEN = operation({
  ...ENDPOINT,
  operationId: 'exchangeOffer',
  route: `POST ${ENDPOINTS.token}`,
  summary: 'Exchange the code of an offer for an access token',
  description:
    'Wallets call it, without an API key. Errors are those of RFC 6749, without the envelope.',
  headers: { dpop: dpopHeader },
  body: {
    mediaType: 'application/x-www-form-urlencoded',
    schema: v.looseObject({
      grant_type: v.string(),
      'pre-authorized_code': v.string(),
      tx_code: v.exactOptional(v.string()),
    }),
    example: { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': 'dGhlIGNvZGU' },
  },
  responses: {
    200: {
      description: 'The access token, for ten minutes.',
      content: {
        'application/json': v.object({
          access_token: v.string(),
          token_type: v.picklist(['DPoP', 'Bearer']),
          expires_in: v.number(),
        }),
      },
    },
    ...BAD_REQUEST,
  },
  errors: ['no_offers', 'too_large', 'store_unavailable'],
})

const NONCE = operation({
  ...ENDPOINT,
  operationId: 'requestNonce',
  route: `POST ${ENDPOINTS.nonce}`,
  summary: 'Ask for a nonce for one proof',
  description: 'A wallet signs it to show that it holds its key.',
  answer: {
    description: 'The nonce, for five minutes.',
    content: { 'application/json': v.object({ c_nonce: v.string() }) },
  },
  errors: ['no_offers'],
})

const authorization = v.pipe(v.string(), v.description('`DPoP` or `Bearer`, and the access token.'))
const credentialRequest = v.looseObject({
  credential_configuration_id: v.exactOptional(v.string('must be a string')),
  proofs: v.exactOptional(
    v.strictObject({ jwt: v.array(v.string('must be a string'), 'must be a list') }),
  ),
})
const CREDENTIAL = operation({
  ...ENDPOINT,
  operationId: 'fetchCredential',
  route: `POST ${ENDPOINTS.credential}`,
  summary: 'Fetch the credential of an offer',
  description:
    'A wallet sends its access token and a proof of its key; the credential is bound to that key.',
  headers: { authorization, dpop: dpopHeader },
  body: {
    mediaType: 'application/json',
    schema: credentialRequest,
    example: { credential_configuration_id: 'plain', proofs: { jwt: ['eyJ'] } },
  },
  responses: {
    200: {
      description: 'The credential.',
      content: {
        'application/json': v.object({
          credentials: v.array(v.object({ credential: v.string() })),
          notification_id: v.string(),
        }),
      },
    },
    ...REFUSED,
  },
  errors: ['no_offers', 'too_large', 'unverifiable', 'store_unavailable'],
})

const notificationRequest = v.looseObject({
  notification_id: v.string('must be a string'),
  event: v.picklist(
    ['credential_accepted', 'credential_failure', 'credential_deleted'],
    'must be an event of OpenID4VCI',
  ),
})
const NOTIFICATION = operation({
  ...ENDPOINT,
  operationId: 'notifyIssuer',
  route: `POST ${ENDPOINTS.notification}`,
  summary: 'Say what became of a credential',
  description: 'A wallet tells whether it keeps the credential.',
  headers: { authorization, dpop: dpopHeader },
  body: {
    mediaType: 'application/json',
    schema: notificationRequest,
    example: { notification_id: 'bm90aWZpY2F0aW9u', event: 'credential_accepted' },
  },
  responses: { 204: { description: 'It was heard.' }, ...REFUSED },
  errors: ['no_offers', 'too_large'],
})

/** Serves wallets. */
export const walletRoutes = resource<WalletDeps>(
  [ISSUER_METADATA, SERVER_METADATA, TOKEN, NONCE, CREDENTIAL, NOTIFICATION],
  (serve, { wallets }) => {
    const present = (): Wallets => {
      if (wallets) return wallets
      throw new ApiError('no_offers', 'this service puts no documents into wallets')
    }

    serve(ISSUER_METADATA, async (c) =>
      c.json(await present().issuerMetadata(categoryOf(c.req.param('category')))),
    )
    serve(SERVER_METADATA, (c) =>
      c.json(present().serverMetadata(categoryOf(c.req.param('category')))),
    )

    serve(TOKEN, (c) =>
      answer(c, async () => {
        await chargeCost(c, COST)
        const own = present()
        return c.json(await own.token(await readForm(c), c.req.header('dpop')))
      }),
    )
    serve(NONCE, (c) => c.json({ c_nonce: present().nonce() }))
    serve(CREDENTIAL, (c) =>
      answer(c, async () => {
        await chargeCost(c, COST)
        const own = present()
        const request = await readObject(c, credentialRequest, 'invalid_credential_request')
        const issued = await own.credential(request, callerOf(c))
        if (!issued) throw unverifiable([])
        return c.json(issued)
      }),
    )
    serve(NOTIFICATION, (c) =>
      answer(c, async () => {
        const own = present()
        const code = 'invalid_notification_request'
        const { notification_id } = await readObject(c, notificationRequest, code)
        await own.notify(notification_id, callerOf(c))
        return c.body(null, 204)
      }),
    )
  },
)

const callerOf = (c: Context) => ({
  authorization: c.req.header('authorization'),
  dpop: c.req.header('dpop'),
})

function categoryOf(text: string): string {
  const read = v.safeParse(category, text)
  if (read.success) return read.output
  throw new ApiError('not_found', 'no such category')
}

/** Answers a refusal in the form of OAuth 2.0. */
async function answer(c: Context, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof WalletError)) throw error
    const { code, message } = error
    const status = code === 'invalid_token' ? 401 : 400
    return c.json({ error: code, error_description: message }, status, {
      ...(status === 401 && { 'WWW-Authenticate': `DPoP algs="ES256", error="${code}"` }),
    })
  }
}

/** @throws {WalletError} `invalid_request` */
async function readForm(c: Context): Promise<ReadonlyMap<string, string>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new WalletError('invalid_request', 'the body must be a form')
  const sent = new URLSearchParams(Buffer.from(await readBodyAtMost(c, MAX_BODY)).toString())
  const form = new Map(sent)
  if (form.size === sent.size) return form
  throw new WalletError('invalid_request', 'a parameter is repeated')
}

/** @throws {WalletError} of the code. */
async function readObject<T>(
  c: Context,
  schema: v.GenericSchema<unknown, T>,
  code: WalletErrorCode,
): Promise<T> {
  const bytes = await readBodyAtMost(c, MAX_BODY)
  try {
    return v.parse(schema, parseStrictJson(decodeUtf8(bytes)))
  } catch (cause) {
    throw new WalletError(code, 'the body is not JSON, or has invalid members', cause)
  }
}
