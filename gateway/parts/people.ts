import type { Log } from '#base/log.ts'
import { deskUrlOf } from '#people/desk.ts'
import { createPasskeys, type Passkeys } from '#people/passkeys.ts'
import { createPeople, type People } from '#people/people.ts'
import type { PeopleStore } from '#people/ports.ts'
import { createSessions, type Sessions } from '#people/sessions.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'

/** Assembles the parts with which people sign in to the desk. */
export function openPeople(
  { baseUrl }: Config,
  { issuerSecrets }: Identity,
  store: PeopleStore,
  log: Log,
): { people: People; sessions: Sessions; passkeys: Passkeys } {
  const sessions = createSessions(store, (error) =>
    log.warn('session_use_not_written', { error: String(error) }),
  )
  const passkeys = createPasskeys(store, sessions, { deskUrl: deskUrlOf(baseUrl), issuerSecrets })
  return { people: createPeople(store), sessions, passkeys }
}
