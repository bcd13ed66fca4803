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

/**
 * How many runs may be under way, of all and of one tenant, and how many runs of one owner may be
 * kept.
 */
export type MostRuns = { all: number; tenant: number; each: number }

/** The runs on disk. */
export type RunStore = {
  /**
   * Adds a run without rows. If the owner has too many, the oldest that is done makes room.
   *
   * @returns The run, or the one with this id that was there before; `undefined` when there are
   * too many.
   */
  begin(run: Run, most: MostRuns): Promise<Run | undefined>
  /** Lets a stopped run go on. @returns `false` when too many are under way. */
  resume(run: Run, most: MostRuns): Promise<boolean>
  /** Adds rows to a run that is loading. Rows that are there stay as they are. */
  addRows(id: string, rows: readonly Omit<StoredRow, 'result'>[]): Promise<void>
  find(id: string): Promise<CountedRun | undefined>
  /** @returns The runs of an owner, or all, the newest first. */
  list(owner?: string): Promise<CountedRun[]>
  running(): Promise<Run[]>
  /** @returns Rows after a line, in order. */
  rows(id: string, after: number, limit: number): Promise<StoredRow[]>
  /** @returns The next row without a result, if the run is running. */
  next(id: string, after: number): Promise<StoredRow | undefined>
  settle(id: string, results: readonly { line: number; result: Uint8Array }[]): Promise<void>
  /** @returns Whether the run was in the state `from`. */
  change(
    id: string,
    from: RunState,
    to: Pick<Run, 'state' | 'reason' | 'endedAt'>,
  ): Promise<boolean>
  /** Deletes a run with its rows. @returns Whether it was there. */
  remove(id: string): Promise<boolean>
  owners(): Promise<string[]>
  removeOf(owner: string): Promise<void>
  /** Deletes runs that ended before this time, and those that were not loaded since. */
  removeBefore(time: number): Promise<number>
}
