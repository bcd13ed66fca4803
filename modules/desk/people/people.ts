import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import { ROLES, SCOPES_OF } from '#keys/roles.ts'
import { digestOf, newSecret } from '#keys/secret.ts'
import { assertConsistent, categories, DEFAULT_TENANT, label, tenant } from '#keys/settings.ts'
import { assertOwn, MAX_PEOPLE, newPerson, tooManyPeople } from './person.ts'
import type { Invitation, ListedPerson, Passkey, PeopleStore, Person } from './ports.ts'
import { isOver } from './sessions.ts'

const INVITATION_TTL_MS = 7 * 86_400_000

const role = v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`)

/** The settings of a new person. */
export const personSettings = v.strictObject({
  name: label,
  role,
  tenant: v.optional(tenant, DEFAULT_TENANT),
  categories: v.exactOptional(categories),
})
export type PersonSettings = v.InferOutput<typeof personSettings>

/** The settings that can be changed later; `null` removes a setting. */
export const personChanges = v.strictObject({
  name: v.exactOptional(label),
  role: v.exactOptional(role),
  tenant: v.exactOptional(tenant),
  categories: v.exactOptional(v.nullable(categories)),
  isBlocked: v.exactOptional(v.boolean('must be true or false')),
})
export type PersonChanges = v.InferOutput<typeof personChanges>

/** An invitation with its secret, which is shown only once, because only its digest is stored. */
export type MadeInvitation = { secret: string; invitation: Invitation & { expiresAt: string } }

/** The administration of people. */
export type People = {
  /** @returns All people with the sessions that are not over, the oldest first. */
  list(): Promise<ListedPerson[]>
  /** @throws {Refusal} `too_many_people`, `bad_fields` */
  add(settings: PersonSettings): Promise<MadeInvitation & { person: Person }>
  /**
   * Another role, tenant or other categories, and a block, end the person's sessions.
   *
   * @throws {Refusal} `not_found`, `last_administrator`, `provider_decides`, `bad_fields`
   */
  change(id: string, changes: PersonChanges): Promise<Person>
  /**
   * Ends the person's sessions too. With the identity provider they may come back, with the same
   * categories; so a block has to be lifted first.
   *
   * @throws {Refusal} `not_found`, `last_administrator`, `provider_decides`
   */
  remove(id: string): Promise<void>
  /**
   * Makes an invitation in place of an earlier one.
   *
   * @param removesPasskeys Whether it removes the person's passkeys and ends their sessions.
   * @throws {Refusal} `not_found`, `provider_decides`
   */
  invite(id: string, removesPasskeys: boolean): Promise<MadeInvitation & { person: Person }>
  /** @throws {Refusal} `not_found` */
  endSessions(id: string): Promise<void>
  /** @returns The passkeys of a person, the oldest first. @throws {Refusal} `not_found` */
  passkeys(id: string): Promise<Passkey[]>
  /** Ends the person's sessions too. @throws {Refusal} `not_found` */
  removePasskey(id: string, passkey: string): Promise<void>
}

export function createPeople(store: PeopleStore): People {
  return {
    async list() {
      const now = clock.wall()
      return (await store.list()).map((person) => ({
        ...person,
        sessions: person.sessions.filter((session) => !isOver(session, now)),
      }))
    },
    async add(settings) {
      assertAllowed(settings)
      const made = { person: newPerson(settings), ...newShortInvitation() }
      if (await store.add(made.person, made.invitation, MAX_PEOPLE)) return made
      throw tooManyPeople()
    },
    async change(id, changes) {
      let changed: Person | undefined
      const isKnown = await store.update(id, (before, all) => {
        if (changes.name !== undefined || changes.role !== undefined) assertOwn(before)
        const after = withChanges(before, changes)
        assertAllowed(after)
        if (!isAdministrator(after)) assertNotLast(before, all)
        changed = after
        return { after, endsSessions: !mayDoTheSame(before, after) }
      })
      if (!isKnown || changed === undefined) throw unknown()
      return changed
    },
    async remove(id) {
      const isKnown = await store.update(id, (before, all) => {
        if (before.isBlocked) assertOwn(before)
        assertNotLast(before, all)
        return { after: null, endsSessions: true }
      })
      if (!isKnown) throw unknown()
    },
    async invite(id, removesPasskeys) {
      const person = await store.get(id)
      if (person) assertOwn(person)
      const made = newShortInvitation()
      if (!person || !(await store.invite(id, made.invitation, removesPasskeys))) throw unknown()
      return { person, ...made }
    },
    async endSessions(id) {
      if (!(await store.update(id, (after) => ({ after, endsSessions: true })))) throw unknown()
    },
    async passkeys(id) {
      if (!(await store.get(id))) throw unknown()
      return store.passkeysOf(id)
    },
    async removePasskey(id, passkey) {
      if (await store.removePasskey(id, passkey)) return
      throw new Refusal('not_found', 'no such passkey')
    },
  }
}

const unknown = () => new Refusal('not_found', 'no such person')

/** @throws {Refusal} `bad_fields` for an administrator with a list of categories. */
function assertAllowed({ role, categories }: Pick<Person, 'role' | 'categories'>): void {
  assertConsistent({ scopes: SCOPES_OF[role], ...(categories && { categories }) })
}

const isAdministrator = ({ role, isBlocked }: Person) => role === 'administrator' && !isBlocked

/** @throws {Refusal} `last_administrator` */
function assertNotLast(person: Person, all: readonly Person[]): void {
  const others = all.filter(({ id }) => id !== person.id)
  if (!isAdministrator(person) || others.some(isAdministrator)) return
  throw new Refusal('last_administrator', 'nobody else is an administrator')
}

/** @returns An invitation that is valid until it is used. */
export function newInvitation(): { secret: string; invitation: Invitation } {
  const secret = newSecret('invitation')
  return { secret, invitation: { digest: digestOf(secret) } }
}

function newShortInvitation(): MadeInvitation {
  const { secret, invitation } = newInvitation()
  const expiresAt = new Date(clock.wall() + INVITATION_TTL_MS).toISOString()
  return { secret, invitation: { ...invitation, expiresAt } }
}

function withChanges(person: Person, changes: PersonChanges): Person {
  const { categories, isBlocked, ...rest } = { ...person, ...changes }
  return { ...rest, ...(categories && { categories }), ...(isBlocked && { isBlocked }) }
}

function mayDoTheSame(one: Person, other: Person): boolean {
  const permissions = ({ role, tenant, categories, isBlocked }: Person) => [
    role,
    tenant,
    categories,
    isBlocked,
  ]
  return JSON.stringify(permissions(one)) === JSON.stringify(permissions(other))
}
