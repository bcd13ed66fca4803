import type { Kind } from '#document/kind.ts'
import type { KindOf } from '#document/new-document.ts'

/** What documents must be beyond their form. A module may say it. */
export type CheckDocument = {
  /** @returns What holds now for a category. Rejects only when it has never been read. */
  current(): Promise<KindOf>
  /** @returns What held at this time, in milliseconds of the Unix epoch. */
  at(time: number): Promise<readonly Kind[]>
}

/** Where no module says more, the form of a document is enough. */
export const FORM_ALONE: CheckDocument = {
  current: async () => () => undefined,
  at: async () => [],
}
