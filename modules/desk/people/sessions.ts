import { createHmac } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import type { Grant } from '#keys/grant.ts'
import { SCOPES_OF } from '#keys/roles.ts'
import { digestOf, newId, newSecret } from '#keys/secret.ts'
import { MAX_PEOPLE, newPerson, tooManyPeople } from './person.ts'
import type { BegunSession, Login, PeopleStore, Person, Session, UsedPasskey } from './ports.ts'

const SESSION_TTL_MS = 12 * 3_600_000
const IDLE_TTL_MS = 3_600_000
/** How often the use of one session is written at most. */
const USE_INTERVAL_MS = 60_000

/** A person who is signed in. */
export type SignedIn = { session: Session; person: Person }

/** A session that has just begun. The secret is for the cookie, and only its digest is stored. */
export type NewSession = SignedIn & { secret: string }

export type Sessions = {
  /** @returns `undefined` when the session is unknown or over. */
  find(secret: string): Promise<SignedIn | undefined>
  /** @throws {Refusal} `invitation_invalid`, `person_blocked` */
  useInvitation(invitation: string): Promise<NewSession>
  /** @throws {Refusal} `passkey_invalid` when its challenge was used before, `person_blocked` */
  usePasskey(used: UsedPasskey): Promise<NewSession>
  /** @throws {Refusal} `too_many_people`, `person_blocked` */
  useLogin(login: Login): Promise<NewSession>
  /** Ends the sessions of somebody who has no role any more. */
  endLogin(digest: string): Promise<void>
  end(session: Session): Promise<void>
}

/**
 * Sessions are read from the store for each request, so that every gateway notices at once when one
 * has ended.
 *
 * @param unwritten Called when the use of a session could not be written.
 */
export function createSessions(store: PeopleStore, unwritten: (error: unknown) => void): Sessions {
  /** @throws {Refusal} the refusal, or `person_blocked` */
  async function begin(
    signIn: (session: BegunSession) => Promise<Person | undefined>,
    refusal: () => Refusal,
  ): Promise<NewSession> {
    const { secret, session } = newSession()
    const person = await signIn(session)
    if (!person) throw refusal()
    if (person.isBlocked)
      throw new Refusal('person_blocked', 'an administrator has blocked the person')
    return { secret, person, session: { ...session, person: person.id } }
  }

  return {
    async find(secret) {
      const found = await store.findSession(digestOf(secret))
      const now = clock.wall()
      if (!found || found.person.isBlocked || isOver(found.session, now)) return undefined
      const { id, lastUsedAt } = found.session
      if (now - Date.parse(lastUsedAt) > USE_INTERVAL_MS)
        store.markUsed(id, new Date(now).toISOString()).catch(unwritten)
      return found
    },
    useInvitation: (invitation) =>
      begin(
        (session) => store.useInvitation(digestOf(invitation), session),
        () => new Refusal('invitation_invalid', 'the invitation was used, or is no longer valid'),
      ),
    usePasskey: (used) =>
      begin(
        (session) => store.usePasskey(used, session),
        () =>
          new Refusal(
            'passkey_invalid',
            'the challenge was used before, or a copy of the passkey was',
          ),
      ),
    useLogin: (login) =>
      begin(
        (session) => store.useLogin(login, newPerson(login), session, MAX_PEOPLE),
        tooManyPeople,
      ),
    endLogin: (digest) => store.endLogin(digest),
    end: ({ id }) => store.endSession(id),
  }
}

/** @param now Milliseconds of the Unix epoch. */
export function isOver({ expiresAt, lastUsedAt }: Session, now: number): boolean {
  return Date.parse(expiresAt) <= now || Date.parse(lastUsedAt) + IDLE_TTL_MS <= now
}

function newSession() {
  const secret = newSecret('session')
  const now = clock.wall()
  const createdAt = new Date(now).toISOString()
  const expiresAt = new Date(now + SESSION_TTL_MS).toISOString()
  const session = { id: newId(), digest: digestOf(secret), createdAt, expiresAt }
  return { secret, session: { ...session, lastUsedAt: createdAt } }
}

/** @returns The permissions of a person. The sessions of a person share one rate limit. */
export function grantOf({ id, name, role, tenant, categories, isBlocked }: Person): Grant {
  const scopes = isBlocked ? [] : SCOPES_OF[role]
  return { id, tenant, scopes, ...(categories && { categories }), label: name, isPerson: true }
}

/**
 * @param secret The secret of the session, which pages cannot read.
 * @returns The token that a request must have beside the cookie, in base64url. Only pages of the
 * service itself can read it.
 */
export function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url')
}
