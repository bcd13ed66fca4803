import { bind } from '#http/core/operation.ts'
import { grantOfOwner } from '#parts/keys.ts'
import type { Core, Module } from '#parts/module.ts'
import type { DeskDeps } from './deps.ts'
import { openServiceState } from './overview.ts'
import { overviewRoutes } from './overview-routes.ts'
import { readDeskPage } from './page.ts'
import { deskPageRoutes } from './page-routes.ts'
import { deskUrlOf, returnUrlOf } from './people/desk.ts'
import { createPasskeys } from './people/passkeys.ts'
import { passkeyRoutes } from './people/passkeys-routes.ts'
import { createPeople } from './people/people.ts'
import { peopleRoutes } from './people/people-routes.ts'
import type { PeopleStore } from './people/ports.ts'
import { createProvider } from './people/provider.ts'
import { providerRoutes } from './people/provider-routes.ts'
import { sessionRoutes } from './people/session-routes.ts'
import { createSessions, grantOf } from './people/sessions.ts'
import { bySession } from './people/signed-in.ts'
import { createPeopleStore } from './people/store.ts'
import { startCleaning } from './runs/clean.ts'
import { openRuns } from './runs/open.ts'
import { runRoutes } from './runs/routes.ts'
import { createRunStore } from './runs/store.ts'

const RESOURCES = [
  runRoutes,
  sessionRoutes,
  providerRoutes,
  passkeyRoutes,
  peopleRoutes,
  deskPageRoutes,
  overviewRoutes,
]

/** The page for people who issue, how they sign in, and runs, which go on without them. */
export const deskModule: Module = {
  name: 'desk',
  tables: [
    'person',
    'session',
    'passkey',
    'invitation',
    'login',
    'spent_challenge',
    'run',
    'run_row',
  ],
  resources: RESOURCES,
  open(core: Needs) {
    const { config, identity, stores, log } = core
    const { baseUrl, oidc } = config
    const { issuerSecrets } = identity
    const { people: store, runs: kept } = openTables(core)
    const sessions = createSessions(store, (error) =>
      log.warn('session_use_not_written', { error: String(error) }),
    )
    return {
      provides: { people: { page: 'desk', grantOf: grantIn(store) } },
      authenticate: bySession(baseUrl, sessions.find),
      serve(deps) {
        const { runs, worker } = openRuns(core, kept, deps)
        const own = {
          ...deps,
          sessions,
          passkeys: createPasskeys(store, sessions, {
            deskUrl: deskUrlOf(baseUrl),
            issuerSecrets,
          }),
          people: createPeople(store),
          ...(oidc && { provider: createProvider(oidc, returnUrlOf(baseUrl), sessions) }),
          runs,
          tallies: stores.tallies,
          serviceState: openServiceState(core),
          deskPage: readDeskPage(),
        }
        return {
          resources: bind<DeskDeps>(RESOURCES, own),
          chores: [worker.start, () => startCleaning(kept, log)],
        }
      },
    }
  },
  whenOff: (core) => [() => startCleaning(openTables(core).runs, core.log)],
}

type Needs = Pick<
  Core,
  | 'config'
  | 'identity'
  | 'stores'
  | 'apiKeys'
  | 'ports'
  | 'pipeline'
  | 'quotes'
  | 'quietFor'
  | 'log'
>

function openTables({ stores, apiKeys }: Pick<Core, 'stores' | 'apiKeys'>) {
  const people = createPeopleStore(stores.besideKeys)
  const ports = { people: { grantOf: grantIn(people) } }
  return {
    people,
    runs: {
      store: createRunStore(stores.database),
      grantOf: (owner: string) => grantOfOwner(owner, { apiKeys, ports }),
    },
  }
}

const grantIn = (people: PeopleStore) => async (id: string) => {
  const person = await people.get(id)
  return person && grantOf(person)
}
