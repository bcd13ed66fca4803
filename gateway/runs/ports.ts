/** How the rows of a run are issued: each by itself, or all with one Merkle root. */
export const RUN_MODES = ['single', 'batch'] as const
export type RunMode = (typeof RUN_MODES)[number]

/** `loading` = its rows are still being stored. */
export const RUN_STATES = ['loading', 'running', 'stopped', 'done'] as const
export type RunState = (typeof RUN_STATES)[number]

/** Many documents that the gateway issues by itself. */
export type Run = {
  id: string
  tenant: string
  /** The key or person that it belongs to; see {@link ownerOf}. */
  owner: string
  mode: RunMode
  /** The number of rows. */
  size: number
  /** A keyed digest of the rows as they were sent. */
  content: Uint8Array
  state: RunState
  /** Why it has stopped, or what it waits for: the code of an error. */
  reason: string | null
  /** Milliseconds of the Unix epoch. */
  createdAt: number
  endedAt: number | null
}

/** A run with the number of its rows that have a result. */
export type CountedRun = Run & { done: number }

/** A row with its result, both sealed. */
export type StoredRow = {
  /** From 1. */
  line: number
  sealed: Uint8Array
  result: Uint8Array | null
}

/** The runs on disk. */
export type RunStore = {
  /**
   * Adds a run without rows.
   *
   * @param most How many runs there may be, of all and of one owner.
   * @returns The run, or the one with this id that was there before; `undefined` when there are
   * too many.
   */
  begin(run: Run, most: { all: number; each: number }): Promise<Run | undefined>
  /** Adds rows to a run that is loading. Rows that are there stay as they are. */
  addRows(id: string, rows: readonly Omit<StoredRow, 'result'>[]): Promise<void>
  find(id: string): Promise<CountedRun | undefined>
  /** @returns The runs of an owner, the newest first. */
  list(owner: string): Promise<CountedRun[]>
  running(): Promise<Run[]>
  /** @returns Rows after a line, in order. @param isOpen Only those without a result. */
  rows(id: string, after: number, limit: number, isOpen?: boolean): Promise<StoredRow[]>
  settle(id: string, results: readonly { line: number; result: Uint8Array }[]): Promise<void>
  /** @returns Whether the run was in the state `from`. */
  change(
    id: string,
    from: RunState,
    to: Pick<Run, 'state' | 'reason' | 'endedAt'>,
  ): Promise<boolean>
  /** Deletes a run with its rows. */
  remove(id: string): Promise<void>
  /** Deletes runs that ended before this time, and those that were not loaded since. */
  removeBefore(time: number): Promise<number>
}
