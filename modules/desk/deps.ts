import type { AppDeps } from '#http/deps.ts'
import type { Tallies } from '#promise/tallies.ts'
import type { ServiceState } from './overview.ts'
import type { DeskPage } from './page.ts'
import type { Passkeys } from './people/passkeys.ts'
import type { People } from './people/people.ts'
import type { Provider } from './people/provider.ts'
import type { Sessions } from './people/sessions.ts'
import type { Runs } from './runs/runs.ts'

/** What the routes of this module need. */
export type DeskDeps = Pick<AppDeps, 'addresses' | 'checkDocument' | 'log'> & {
  sessions: Sessions
  passkeys: Passkeys
  people: People
  /** Absent = people sign in with passkeys and links only. */
  provider?: Provider
  runs: Runs
  tallies: Tallies
  serviceState: () => Promise<ServiceState>
  deskPage: DeskPage
}
