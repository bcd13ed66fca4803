import type { Client, IssuedDocument, Session } from '#client/index.ts'
import type { Correction, Issuing } from './issuing.ts'
import type { KindDraft } from './kind-draft.ts'
import type { NamedRow } from './named.ts'
import type { Search } from './search.ts'
import type { TableRun } from './table/run.ts'

/** What every view works with. */
export type Desk = {
  readonly client: Client
  readonly impatient: Client
  session: Session
  readonly memory: Memory
  go(route: string): void
  /** Draws the view again. @param focus The id of the element that gets the focus. */
  redraw(focus?: string): void
  /** Tells screen readers. */
  announce(text: string): void
  /** Whether the person still looks at this route. */
  isAt(route: string): boolean
  /** Whether a request with this Idempotency-Key was sent, and its answer did not come. */
  mayBeDone(idempotencyKey: string): boolean
}

/** What outlives a view, as long as the person is signed in. */
export type Memory = {
  issuing: Issuing
  correction?: Correction
  search: Search
  /** The rows of tables that were opened to find documents by name. They go nowhere else. */
  named?: NamedRow[]
  table?: TableRun
  /** A kind of documents that is being defined. */
  kind?: KindDraft
  /** The templates of certificates, once they are known, and the one that was chosen. */
  templates?: string[]
  template?: string
  /** Documents that were shown, by hash, so that a change of the language asks for none again. */
  shown: Map<string, IssuedDocument>
  /** Categories that were seen, to choose from. */
  categories: Set<string>
}

/** A screen: its heading, and what stands below. */
export type View = {
  title: string
  /** For the window's title, in place of a title with a person's name: browsers store those. */
  tab?: string
  content: (Node | false | undefined)[]
}
