import * as v from 'valibot'
import { invitationLinkOf } from '#people/desk.ts'
import { type MadeInvitation, personChanges, personSettings } from '#people/people.ts'
import type { ListedPerson, Person } from '#people/ports.ts'
import { succeed } from '../core/envelope.ts'
import { operation, resource } from '../core/operation.ts'
import { parseBody, readJson, readOptionalJson } from '../core/request.ts'
import { membersOf } from './present.ts'
import * as schemas from './schemas.ts'
import { EXAMPLE_PERSON, personSchema, presentPerson } from './session.ts'

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
    'Changes only the members that are sent; `null` removes a setting. Another role, tenant or other categories end the sessions of the person.',
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
  answer: {
    description: 'The person is removed, with sessions, passkeys and invitation.',
    data: schemas.removed,
    example: { id: EXAMPLE_PERSON.id, deleted: true },
  },
  errors: ['not_found', 'last_administrator', 'store_unavailable'],
})

const INVITE = operation({
  ...ONE,
  operationId: 'invitePerson',
  route: 'POST /v1/people/:id/invitations',
  summary: 'Make another invitation',
  description: 'For a person who has lost their passkey. An earlier invitation is no longer valid.',
  answer: {
    status: 201,
    description: 'The link that signs the person in once within seven days.',
    data: invited,
    example: EXAMPLE_INVITED,
  },
  errors: ['not_found', 'provider_decides', 'store_unavailable'],
})

const OPERATIONS = [LIST, ADD, CHANGE, REMOVE, INVITE]

/** Serves the administration of people of all tenants. */
export const peopleRoutes = resource(OPERATIONS, (serve, { people, addresses, log }) => {
  const presentInvited = ({ person, secret, invitation }: MadeInvitation & { person: Person }) => ({
    person: presentPerson(person),
    invitation: invitationLinkOf(addresses.baseUrl, secret),
    expiresAt: invitation.expiresAt,
  })

  serve(LIST, async (c) => succeed(c, { people: (await people.list()).map(presentListed) }))

  serve(ADD, async (c) => {
    const made = await people.add(parseBody(personSettings, await readJson(c)))
    log.info('person_added', { id: made.person.id, by: c.get('grant').id })
    return succeed(c, presentInvited(made), 201)
  })

  serve(CHANGE, async (c) => {
    const changes = parseBody(personChanges, await readOptionalJson(c))
    const person = await people.change(c.req.param('id'), changes)
    log.info('person_changed', { id: person.id, by: c.get('grant').id })
    return succeed(c, presentPerson(person))
  })

  serve(REMOVE, async (c) => {
    const id = c.req.param('id')
    await people.remove(id)
    log.info('person_removed', { id, by: c.get('grant').id })
    return succeed(c, { id, deleted: true })
  })

  serve(INVITE, async (c) => {
    const made = await people.invite(c.req.param('id'))
    log.info('person_invited', { id: made.person.id, by: c.get('grant').id })
    return succeed(c, presentInvited(made), 201)
  })
})

function presentListed(person: ListedPerson): object {
  const { createdAt, sessions, passkeys, invitation } = person
  return {
    ...presentPerson(person),
    createdAt,
    sessions: sessions.map((one) => membersOf(shownSession, one)),
    passkeys,
    invitation: invitation ? { expiresAt: invitation.expiresAt ?? null } : null,
  }
}
