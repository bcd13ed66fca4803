import type { Log } from '#base/log.ts'
import { deskUrlOf, returnUrlOf } from '#people/desk.ts'
import { createPasskeys, type Passkeys } from '#people/passkeys.ts'
import { createPeople, type People } from '#people/people.ts'
import type { PeopleStore } from '#people/ports.ts'
import { createProvider, type Provider } from '#people/provider.ts'
import { createSessions, type Sessions } from '#people/sessions.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'

/** Assembles the parts with which people sign in to the desk. */
export function openPeople(
  { baseUrl, oidc }: Config,
  { issuerSecrets }: Identity,
  store: PeopleStore,
  log: Log,
): { people: People; sessions: Sessions; passkeys: Passkeys; provider?: Provider } {
  const sessions = createSessions(store, (error) =>
    log.warn('session_use_not_written', { error: String(error) }),
  )
  const deskUrl = deskUrlOf(baseUrl)
  const passkeys = createPasskeys(store, sessions, { deskUrl, issuerSecrets })
  const provider = oidc && createProvider(oidc, returnUrlOf(baseUrl), sessions)
  return { people: createPeople(store), sessions, passkeys, ...(provider && { provider }) }
}
