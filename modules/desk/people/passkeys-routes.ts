import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import * as v from 'valibot'
import type { AnswerOf } from '#http/core/answers.ts'
import { succeed } from '#http/core/envelope.ts'
import { operation, resource } from '#http/core/operation.ts'
import { parseBody, readJson } from '#http/core/request.ts'
import { membersOf } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import { label } from '#keys/settings.ts'
import type { DeskDeps } from '../deps.ts'
import type { Passkey } from './ports.ts'
import { assertion, attestation, EXAMPLE_ATTESTATION, requestOptions } from './session-routes.ts'
import { signedInOf } from './signed-in.ts'

export const passkeySchema = v.object({
  id: v.string(),
  label: v.string(),
  createdAt: schemas.time,
  lastUsedAt: v.pipe(v.nullable(schemas.time), v.description('When it was last used.')),
})

export const EXAMPLE_PASSKEY = {
  id: '012345abcdef',
  label: "The office's laptop",
  createdAt: '2026-11-21T08:36:39.000Z',
  lastUsedAt: null,
}

const credential = v.object({
  id: v.string(),
  type: v.string(),
  transports: v.exactOptional(v.array(v.string())),
})

const PASSKEY = { tag: 'People', scope: 'session' } as const

const LIST = operation({
  ...PASSKEY,
  operationId: 'listPasskeys',
  route: 'GET /v1/passkeys',
  summary: 'List your passkeys',
  answer: {
    description: 'The passkeys of the person who is signed in, the oldest first.',
    data: v.object({ passkeys: v.array(passkeySchema) }),
    example: { passkeys: [EXAMPLE_PASSKEY] },
  },
  errors: ['store_unavailable'],
})

/** As the library gives them, whose types leave some members open. */
const optionsSchema = v.object({
  proof: v.pipe(
    v.nullable(v.object({ ...requestOptions, allowCredentials: v.array(credential) })),
    v.description(
      'For `navigator.credentials.get`, with a passkey that the person has; `null` for the first.',
    ),
  ),
  challenge: v.string(),
  rp: v.object({ id: v.string(), name: v.string() }),
  user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
  pubKeyCredParams: v.array(v.object({ type: v.string(), alg: v.number() })),
  timeout: v.number(),
  attestation: v.string(),
  excludeCredentials: v.array(credential),
  authenticatorSelection: v.record(v.string(), v.unknown()),
  extensions: v.record(v.string(), v.unknown()),
  hints: v.array(v.string()),
})

const OPTIONS = operation({
  ...PASSKEY,
  operationId: 'passkeyOptions',
  route: 'POST /v1/passkeys/options',
  summary: 'Ask for a challenge to register a passkey',
  description:
    'Without a passkey, only the session of an invitation may register one, and only the first.',
  answer: {
    description: 'For `navigator.credentials.create`. The challenges are valid for five minutes.',
    data: optionsSchema,
  },
  errors: ['too_many_passkeys', 'passkey_required', 'provider_decides', 'store_unavailable'],
})

const body = v.strictObject({
  response: attestation,
  label,
  proof: v.pipe(
    v.exactOptional(assertion),
    v.description('The answer to the `proof` of the options.'),
  ),
})
const REGISTER = operation({
  ...PASSKEY,
  operationId: 'registerPasskey',
  route: 'POST /v1/passkeys',
  summary: 'Register a passkey',
  description: 'Needs a passkey that the person has, unless it is the first after an invitation.',
  body: { schema: body, example: { response: EXAMPLE_ATTESTATION, label: EXAMPLE_PASSKEY.label } },
  answer: {
    status: 201,
    description: 'The passkey, with which the person can sign in from now on.',
    data: passkeySchema,
    example: EXAMPLE_PASSKEY,
  },
  errors: [
    'passkey_invalid',
    'passkey_required',
    'too_many_passkeys',
    'provider_decides',
    'store_unavailable',
  ],
})

const REMOVE = operation({
  ...PASSKEY,
  operationId: 'removePasskey',
  route: 'DELETE /v1/passkeys/:id',
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [EXAMPLE_PASSKEY.id] })) },
  summary: 'Remove one of your passkeys',
  answer: {
    description: 'Nobody can sign in with it any more. The other sessions of the person are over.',
    data: schemas.removed,
    example: { id: EXAMPLE_PASSKEY.id, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const OPERATIONS = [LIST, OPTIONS, REGISTER, REMOVE]

/** Serves the passkeys of the person who is signed in. */
export const passkeyRoutes = resource<DeskDeps>(
  OPERATIONS,
  (serve, { passkeys, log }) => {
    serve(LIST, async (c) => {
      const own = await passkeys.list(signedInOf(c).person)
      return succeed(c, LIST, { passkeys: own.map(presentPasskey) })
    })

    serve(OPTIONS, async (c) => {
      const options: object = await passkeys.registrationOptions(signedInOf(c))
      return succeed(c, OPTIONS, options as AnswerOf<typeof optionsSchema>)
    })

    serve(REGISTER, async (c) => {
      const signedIn = signedInOf(c)
      const { response, label, proof } = parseBody(body, await readJson(c))
      const passkey = await passkeys.register(
        signedIn,
        response as RegistrationResponseJSON,
        label,
        proof as AuthenticationResponseJSON | undefined,
      )
      log.info('passkey_registered', { id: passkey.id, person: passkey.person })
      return succeed(c, REGISTER, presentPasskey(passkey))
    })

    serve(REMOVE, async (c) => {
      const { session } = signedInOf(c)
      const id = c.req.param('id')
      await passkeys.remove(session, id)
      log.info('passkey_removed', { id, person: session.person })
      return succeed(c, REMOVE, { id, deleted: true })
    })
  },
  { Passkey: passkeySchema },
)

export const presentPasskey = (passkey: Passkey) => membersOf(passkeySchema.entries, passkey)
