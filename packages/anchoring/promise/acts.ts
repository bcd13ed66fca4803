import type { Hex } from '#document/hex.ts'

/** What somebody can ask for. Superseding is an act on the document that gets a successor. */
export const ACT_KINDS = ['issue', 'revoke', 'suspend', 'release', 'supersede', 'erase'] as const
export type ActKind = (typeof ACT_KINDS)[number]

/** Who asked for a change: a person, or the holder of an API key. */
export type Actor = {
  kind: 'person' | 'key'
  /** The id of the person or key, which is not secret. */
  id: string
  /** The name of the person or the label of the key, as it was then. */
  label: string | null
}

/** An act as it was promised. Only the chain says what became of it. */
export type Act = {
  kind: ActKind
  /** Seconds of the Unix epoch; `null` when it was not recorded. */
  time: number | null
  /** `null` when it is unknown: a command, or an act from before actors were recorded. */
  actor: Actor | null
  /** The tenant of the actor; `null` = that of the document. */
  tenant: string | null
  /** Whether it was an act on the batch of the document. */
  isOfBatch: boolean
}

/** Who did what with documents. It never goes on the chain. */
export type ActLog = {
  /** @returns The newest acts on a document and its batch, the oldest first. */
  of(documentHash: Hex): Promise<Act[]>
}

/** @returns An actor as one text, as the database stores it. */
export function formatActor({ kind, id, label }: Actor): string {
  return [kind, id, ...(label === null ? [] : [label])].join(' ')
}

/** @param text A text of {@link formatActor}. */
export function parseActor(text: string): Actor {
  const [kind, id = '', ...label] = text.split(' ')
  return {
    kind: kind === 'person' ? kind : 'key',
    id,
    label: label.length === 0 ? null : label.join(' '),
  }
}
