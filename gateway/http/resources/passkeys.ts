import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import * as v from 'valibot'
import { label } from '#keys/settings.ts'
import type { Passkey } from '#people/ports.ts'
import { succeed } from '../core/envelope.ts'
import { operation, resource } from '../core/operation.ts'
import { parseBody, readJson } from '../core/request.ts'
import { membersOf } from './present.ts'
import * as schemas from './schemas.ts'
import { attestation, EXAMPLE_ATTESTATION } from './session.ts'

export const passkeySchema = v.object({
  id: v.string(),
  label: v.string(),
  createdAt: schemas.time,
  lastUsedAt: v.pipe(v.nullable(schemas.time), v.description('The last time that it signed in.')),
})

const EXAMPLE_ID = '012345abcdef'
const EXAMPLE = {
  id: EXAMPLE_ID,
  label: "The office's laptop",
  createdAt: '2026-11-21T08:36:39.000Z',
  lastUsedAt: null,
}

const PASSKEY = { tag: 'People', scope: 'session' } as const

const LIST = operation({
  ...PASSKEY,
  operationId: 'listPasskeys',
  route: 'GET /v1/passkeys',
  summary: 'List your passkeys',
  answer: {
    description: 'The passkeys of the person who is signed in, the oldest first.',
    data: v.object({ passkeys: v.array(passkeySchema) }),
    example: { passkeys: [EXAMPLE] },
  },
  errors: ['store_unavailable'],
})

const OPTIONS = operation({
  ...PASSKEY,
  operationId: 'passkeyOptions',
  route: 'POST /v1/passkeys/options',
  summary: 'Ask for a challenge to register a passkey',
  answer: {
    description: 'For `navigator.credentials.create`. The challenge is valid for five minutes.',
    data: v.object({
      challenge: v.string(),
      rp: v.object({ id: v.string(), name: v.string() }),
      user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
      pubKeyCredParams: v.array(v.object({ type: v.string(), alg: v.number() })),
      timeout: v.number(),
      attestation: v.string(),
      excludeCredentials: v.array(
        v.object({
          id: v.string(),
          type: v.string(),
          transports: v.exactOptional(v.array(v.string())),
        }),
      ),
      authenticatorSelection: v.record(v.string(), v.unknown()),
      extensions: v.record(v.string(), v.unknown()),
      hints: v.array(v.string()),
    }),
  },
  errors: ['too_many_passkeys', 'provider_decides', 'store_unavailable'],
})

const body = v.strictObject({ response: attestation, label })
const REGISTER = operation({
  ...PASSKEY,
  operationId: 'registerPasskey',
  route: 'POST /v1/passkeys',
  summary: 'Register a passkey',
  body: { schema: body, example: { response: EXAMPLE_ATTESTATION, label: EXAMPLE.label } },
  answer: {
    status: 201,
    description: 'The passkey, with which the person can sign in from now on.',
    data: passkeySchema,
    example: EXAMPLE,
  },
  errors: ['passkey_invalid', 'too_many_passkeys', 'provider_decides', 'store_unavailable'],
})

const REMOVE = operation({
  ...PASSKEY,
  operationId: 'removePasskey',
  route: 'DELETE /v1/passkeys/:id',
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [EXAMPLE_ID] })) },
  summary: 'Remove one of your passkeys',
  answer: {
    description: 'Nobody can sign in with it any more. Sessions that it began go on.',
    data: schemas.removed,
    example: { id: EXAMPLE_ID, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const OPERATIONS = [LIST, OPTIONS, REGISTER, REMOVE]

/** Serves the passkeys of the person who is signed in. */
export const passkeyRoutes = resource(OPERATIONS, (serve, { passkeys, log }) => {
  serve(LIST, async (c) => {
    const own = await passkeys.list(c.get('signedIn').person)
    return succeed(c, { passkeys: own.map(presentPasskey) })
  })

  serve(OPTIONS, async (c) =>
    succeed(c, await passkeys.registrationOptions(c.get('signedIn').person)),
  )

  serve(REGISTER, async (c) => {
    const { person } = c.get('signedIn')
    const { response, label } = parseBody(body, await readJson(c))
    const passkey = await passkeys.register(person, response as RegistrationResponseJSON, label)
    log.info('passkey_registered', { id: passkey.id, person: person.id })
    return succeed(c, presentPasskey(passkey), 201)
  })

  serve(REMOVE, async (c) => {
    const { person } = c.get('signedIn')
    const id = c.req.param('id')
    await passkeys.remove(person, id)
    log.info('passkey_removed', { id, person: person.id })
    return succeed(c, { id, deleted: true })
  })
})

const presentPasskey = (passkey: Passkey): object => membersOf(passkeySchema.entries, passkey)
