import * as v from 'valibot'
import type { AnswerOf } from '#http/core/answers.ts'
import { succeed } from '#http/core/envelope.ts'
import { operation, resource } from '#http/core/operation.ts'
import { parseBody, readJson, readOptionalJson } from '#http/core/request.ts'
import { membersOf } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import type { DeskDeps } from '../deps.ts'
import { invitationLinkOf } from './desk.ts'
import { EXAMPLE_PASSKEY, passkeySchema, presentPasskey } from './passkeys-routes.ts'
import { type MadeInvitation, personChanges, personSettings } from './people.ts'
import type { ListedPerson, Person } from './ports.ts'
import { EXAMPLE_PERSON, personSchema, presentPerson } from './session-routes.ts'

const shownSession = {
  id: v.string(),
  createdAt: schemas.time,
  expiresAt: schemas.time,
  lastUsedAt: schemas.time,
}
export const listedPerson = v.object({
  ...personSchema.entries,
  createdAt: schemas.time,
  sessions: v.pipe(
    v.array(v.object(shownSession)),
    v.description('The sessions that have not ended, the oldest first.'),
  ),
  passkeys: v.pipe(v.number(), v.description('The number of passkeys.')),
  invitation: v.pipe(
    v.nullable(v.object({ expiresAt: v.nullable(schemas.time) })),
    v.description('The invitation that was not used yet.'),
  ),
})
const invited = v.object({
  person: personSchema,
  invitation: v.pipe(
    v.string(),
    v.description('The link that signs the person in once. It is shown only here.'),
  ),
  expiresAt: schemas.time,
})

const EXAMPLE_TIME = '2026-11-21T08:36:39.000Z'
const EXAMPLE_INVITED = {
  person: EXAMPLE_PERSON,
  invitation:
    'https://gateway.example/desk#invitation=dri_bm90IGEgc2VjcmV0IG9mIGFueWJvZHksIGFuZCBub3RoaW5n',
  expiresAt: '2026-11-28T08:36:39.000Z',
}

const PEOPLE = { tag: 'People', scope: 'admin' } as const
const ONE = {
  ...PEOPLE,
  parameters: { id: v.pipe(v.string(), v.metadata({ examples: [EXAMPLE_PERSON.id] })) },
} as const

const LIST = operation({
  ...PEOPLE,
  operationId: 'listPeople',
  route: 'GET /v1/people',
  summary: 'List the people',
  answer: {
    description: 'The people of all tenants with their sessions, the oldest first.',
    data: v.object({ people: v.array(listedPerson) }),
    example: {
      people: [
        {
          ...EXAMPLE_PERSON,
          createdAt: EXAMPLE_TIME,
          sessions: [],
          passkeys: 0,
          invitation: { expiresAt: EXAMPLE_INVITED.expiresAt },
        },
      ],
    },
  },
  errors: ['store_unavailable'],
})

const ADD = operation({
  ...PEOPLE,
  operationId: 'addPerson',
  route: 'POST /v1/people',
  summary: 'Add a person',
  body: {
    schema: personSettings,
    example: { name: 'Front desk', role: 'clerk', categories: ['diploma'] },
  },
  answer: {
    status: 201,
    description: 'The person, and the link that signs them in once within seven days.',
    data: invited,
    example: EXAMPLE_INVITED,
  },
  errors: ['too_many_people', 'store_unavailable'],
})

const CHANGE = operation({
  ...ONE,
  operationId: 'changePerson',
  route: 'PATCH /v1/people/:id',
  summary: 'Change a person',
  description:
    'Changes only the members that are sent; `null` removes a setting. Another role, tenant or other categories, and a block, end the sessions of the person. A blocked person cannot sign in, not even with the identity provider.',
  body: { schema: personChanges, example: { role: 'registrar' }, isOptional: true },
  answer: {
    description: 'The changed person.',
    data: personSchema,
    example: { ...EXAMPLE_PERSON, role: 'registrar' },
  },
  errors: ['not_found', 'last_administrator', 'provider_decides', 'store_unavailable'],
})

const REMOVE = operation({
  ...ONE,
  operationId: 'removePerson',
  route: 'DELETE /v1/people/:id',
  summary: 'Remove a person',
  description:
    'A person from the identity provider can sign in again while one of their groups has a role, and then has the same tenant and categories. To keep them out, block them; a blocked one cannot be removed.',
  answer: {
    description: 'The person is removed, with sessions, passkeys and invitation.',
    data: schemas.removed,
    example: { id: EXAMPLE_PERSON.id, deleted: true },
  },
  errors: ['not_found', 'last_administrator', 'provider_decides', 'store_unavailable'],
})

const SIGN_OUT = operation({
  ...ONE,
  operationId: 'endPersonSessions',
  route: 'DELETE /v1/people/:id/sessions',
  summary: 'Sign a person out',
  answer: {
    description: 'All sessions of the person are over.',
    data: schemas.removed,
    example: { id: EXAMPLE_PERSON.id, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const PASSKEYS = operation({
  ...ONE,
  operationId: 'listPersonPasskeys',
  route: 'GET /v1/people/:id/passkeys',
  summary: 'List the passkeys of a person',
  answer: {
    description: 'The passkeys of the person, the oldest first.',
    data: v.object({ passkeys: v.array(passkeySchema) }),
    example: { passkeys: [EXAMPLE_PASSKEY] },
  },
  errors: ['not_found', 'store_unavailable'],
})

const REMOVE_PASSKEY = operation({
  ...PEOPLE,
  parameters: {
    ...ONE.parameters,
    passkey: v.pipe(v.string(), v.metadata({ examples: [EXAMPLE_PASSKEY.id] })),
  },
  operationId: 'removePersonPasskey',
  route: 'DELETE /v1/people/:id/passkeys/:passkey',
  summary: 'Remove a passkey of a person',
  answer: {
    description: 'Nobody can sign in with it any more, and all sessions of the person are over.',
    data: schemas.removed,
    example: { id: EXAMPLE_PASSKEY.id, deleted: true },
  },
  errors: ['not_found', 'store_unavailable'],
})

const invitationBody = v.strictObject({
  removePasskeys: v.pipe(
    v.exactOptional(v.boolean('must be true or false')),
    v.description('Whether the passkeys of the person are removed, and their sessions ended.'),
  ),
})
const INVITE = operation({
  ...ONE,
  operationId: 'invitePerson',
  route: 'POST /v1/people/:id/invitations',
  summary: 'Make another invitation',
  description:
    'For a person who has lost their passkey. Send `removePasskeys` too, because a new passkey needs the proof of one that the person has. An earlier invitation is no longer valid.',
  body: { schema: invitationBody, example: { removePasskeys: true }, isOptional: true },
  answer: {
    status: 201,
    description: 'The link that signs the person in once within seven days.',
    data: invited,
    example: EXAMPLE_INVITED,
  },
  errors: ['not_found', 'provider_decides', 'store_unavailable'],
})

const OPERATIONS = [LIST, ADD, CHANGE, REMOVE, SIGN_OUT, PASSKEYS, REMOVE_PASSKEY, INVITE]

/** Serves the administration of people of all tenants. */
export const peopleRoutes = resource<DeskDeps>(
  OPERATIONS,
  (serve, { people, addresses, log }) => {
    const presentInvited = ({
      person,
      secret,
      invitation,
    }: MadeInvitation & { person: Person }) => ({
      person: presentPerson(person),
      invitation: invitationLinkOf(addresses.baseUrl, secret),
      expiresAt: invitation.expiresAt,
    })

    serve(LIST, async (c) => succeed(c, LIST, { people: (await people.list()).map(presentListed) }))

    serve(ADD, async (c) => {
      const made = await people.add(parseBody(personSettings, await readJson(c)))
      log.info('person_added', { id: made.person.id, by: c.get('grant').id })
      return succeed(c, ADD, presentInvited(made))
    })

    serve(CHANGE, async (c) => {
      const changes = parseBody(personChanges, await readOptionalJson(c))
      const person = await people.change(c.req.param('id'), changes)
      log.info('person_changed', { id: person.id, by: c.get('grant').id })
      return succeed(c, CHANGE, presentPerson(person))
    })

    serve(REMOVE, async (c) => {
      const id = c.req.param('id')
      await people.remove(id)
      log.info('person_removed', { id, by: c.get('grant').id })
      return succeed(c, REMOVE, { id, deleted: true })
    })

    serve(SIGN_OUT, async (c) => {
      const id = c.req.param('id')
      await people.endSessions(id)
      log.info('person_signed_out', { id, by: c.get('grant').id })
      return succeed(c, SIGN_OUT, { id, deleted: true })
    })

    serve(PASSKEYS, async (c) => {
      const passkeys = await people.passkeys(c.req.param('id'))
      return succeed(c, PASSKEYS, { passkeys: passkeys.map(presentPasskey) })
    })

    serve(REMOVE_PASSKEY, async (c) => {
      const { id, passkey } = c.req.param()
      await people.removePasskey(id, passkey)
      log.info('passkey_removed', { id: passkey, person: id, by: c.get('grant').id })
      return succeed(c, REMOVE_PASSKEY, { id: passkey, deleted: true })
    })

    serve(INVITE, async (c) => {
      const { removePasskeys = false } = parseBody(invitationBody, await readOptionalJson(c))
      const made = await people.invite(c.req.param('id'), removePasskeys)
      log.info('person_invited', { id: made.person.id, by: c.get('grant').id, removePasskeys })
      return succeed(c, INVITE, presentInvited(made))
    })
  },
  { ListedPerson: listedPerson },
)

function presentListed(person: ListedPerson): AnswerOf<typeof listedPerson> {
  const { createdAt, sessions, passkeys, invitation } = person
  return {
    ...presentPerson(person),
    createdAt,
    sessions: sessions.map((one) => membersOf(shownSession, one)),
    passkeys,
    invitation: invitation ? { expiresAt: invitation.expiresAt ?? null } : null,
  }
}
