import type { Hex } from '#document/hex.ts'
import type { Kind } from '#document/kind.ts'
import type { Check } from '#verifier/index.ts'
import { keptChoice, type PageConfig, type Sources } from './config.ts'
import type { Findings } from './findings.ts'
import type { InputProblem, Subject } from './input.ts'

/** The current view. */
export type Phase =
  | { at: 'ask' }
  | {
      at: 'checking'
      subject: Subject
      checks: Check[]
      /** Whether the check takes so long that the page says what it is waiting for. */
      slow: boolean
    }
  | Done
  | { at: 'failed'; subject: Subject }

export type Done = Findings & {
  at: 'done'
  subject: Subject
  /** Milliseconds of the Unix epoch. */
  checkedAt: number
  /** Whether the service behind the page says that it has erased the content. */
  saidErased: boolean
  /** The data behind the verdict: the sealed document and its batch block. */
  blocks: Uint8Array[]
  /** The domain whose answer is pending. */
  asking?: string
  /** The document that replaces this one, if the reader has opened it. */
  newer?: Subject
}

/** The state of the page, which lasts as long as the page. */
export type State = {
  phase: Phase
  /** The page's configuration, from its server. */
  readonly config: PageConfig | null
  /** The sources: the page's own, or the reader's choice. */
  sources: Sources
  /** Valid documents that the reader has opened, by the document that each replaces. */
  readonly newer: Map<string, Subject>
  problem?: Problem
  /** What the issuer says about the kind of the shown document. */
  kind?: Kind
}

export type Problem = InputProblem | 'sources' | 'internal'

/** A file that the reader can save. */
export type TextFile = { name: string; text: string }

/** The reader's actions. */
export type Actions = {
  checkText(text: string): void
  checkFile(file: File): void
  /** Asks the reader's wallets; `undefined` if they cannot be asked. */
  askWallets: (() => void) | undefined
  retry(): void
  /** Checks a document that the reader has opened before. */
  open(subject: Subject): void
  /** Checks a proof file with the hash of a block that the reader trusts. */
  trustBlock(hash: Hex): void
  /** @returns Whether it was saved. */
  saveProof(): Promise<boolean>
  saveFile(file: TextFile): void
  useSources(sources: Sources | null): void
  useCamera(video: HTMLVideoElement): Promise<() => void>
  tellProblem(problem: InputProblem): void
}

export function createState(config: PageConfig | null): State {
  return {
    phase: { at: 'ask' },
    config,
    sources: { ...usualSources(config), ...keptChoice() },
    newer: new Map(),
  }
}

/** @returns The page's own sources; none if it is not configured. */
export function usualSources(config: PageConfig | null): Sources {
  return { registry: '', rpc: [], ipfs: [], ...config }
}
