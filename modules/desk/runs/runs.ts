import { createHmac, randomBytes } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { turnAfter } from '#base/concurrency.ts'
import type { DocumentFields } from '#document/document.ts'
import type { FieldProblem } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { type Grant, ownerOf, tenantOf } from '#keys/grant.ts'
import { IssueError } from '#promise/errors.ts'
import type { CountedRun, MostRuns, Run, RunMode, RunStore } from './ports.ts'
import type { RowSealer } from './rows.ts'

const MAX_RUNS = { all: 200, tenant: 40, each: 5 }
/** The rows that are stored in one transaction. */
const ROWS_A_WRITE = 1_000

/** What became of a row. A problem is one of the row, and not of the service. */
export type RowResult =
  | { publicId: string; documentHash: Hex; status: 'valid' | 'pending'; batchRoot?: Hex }
  | { problem: { code: string; message: string; details?: readonly FieldProblem[] } }

/** A row of a run; `result` is `null` until it is issued. */
export type RunRow = { line: number; fields: DocumentFields; result: RowResult | null }

export type NewRun = {
  grant: Grant
  mode: RunMode
  idempotencyKey?: string
  /** The rows as they were sent. */
  content: Uint8Array
  rows: readonly DocumentFields[]
}

/**
 * Runs belong to one key or person, because rows are personal and may be of categories that others
 * may not see. Each method resolves to `undefined` for a run that the caller does not have.
 */
export type Runs = {
  /**
   * Stores the rows. From then on they are issued, whatever happens to the caller or this process.
   *
   * @returns The run; one that was there before, when the key and rows are repeated. `undefined`
   * when there are too many.
   * @throws {IssueError} `idempotency_key_reused` when the key was used with other rows.
   */
  add(run: NewRun): Promise<CountedRun | undefined>
  list(grant: Grant): Promise<CountedRun[]>
  /** @returns The runs of all owners, for administrators. */
  listAll(): Promise<CountedRun[]>
  get(grant: Grant, id: string): Promise<CountedRun | undefined>
  rows(grant: Grant, id: string, after: number, limit: number): Promise<RunRow[] | undefined>
  /** Stops it before the next rows. Those that are being issued get their results. */
  stop(grant: Grant, id: string): Promise<CountedRun | undefined>
  /** @returns `too_many` when others are under way. */
  resume(grant: Grant, id: string): Promise<CountedRun | 'too_many' | undefined>
  /**
   * Deletes its rows and results; documents that were issued stay. Administrators remove any run.
   *
   * @returns Whether it was there.
   */
  remove(grant: Grant, id: string): Promise<boolean>
}

export type RunsDeps = {
  store: RunStore
  sealer: RowSealer
  /** The newest first. */
  issuerSecrets: readonly [Hex, ...Hex[]]
  /** Called when there is a run to work on. */
  wake(): void
}

/** Administrators do not wait for other keys of their tenant. */
const mostOf = (grant: Grant): MostRuns =>
  tenantOf(grant) === null ? { ...MAX_RUNS, tenant: MAX_RUNS.all } : MAX_RUNS

export function createRuns({ store, sealer, issuerSecrets, wake }: RunsDeps): Runs {
  /** A digest without a key would let whoever has the database test guesses. */
  const digest = (...parts: (string | Uint8Array)[]) => {
    const hmac = createHmac('sha256', fromHex(issuerSecrets[0]))
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }

  async function find(grant: Grant, id: string): Promise<CountedRun | undefined> {
    const run = await store.find(id)
    return run?.owner === ownerOf(grant) ? run : undefined
  }

  function idOf({ grant, idempotencyKey }: NewRun): string {
    if (idempotencyKey === undefined) return randomBytes(16).toString('hex')
    return digest(JSON.stringify(['run', grant.tenant, ownerOf(grant), idempotencyKey]))
      .toString('hex')
      .slice(0, 32)
  }

  async function load({ id }: Run, rows: readonly DocumentFields[]): Promise<void> {
    for (let i = 0; i < rows.length; i += ROWS_A_WRITE) {
      const some = rows.slice(i, i + ROWS_A_WRITE).map((fields, j) => {
        const line = i + j + 1
        return { line, sealed: sealer.seal(id, 'row', line, fields) }
      })
      await store.addRows(id, some)
      await turnAfter(1, 1)
    }
    await store.change(id, 'loading', { state: 'running', reason: null, endedAt: null })
  }

  return {
    async add(request) {
      const { grant, mode, rows } = request
      const id = idOf(request)
      const content = digest('run content', mode, request.content)
      const { tenant } = grant
      const size = rows.length
      const begun = await store.begin(
        {
          id,
          tenant,
          owner: ownerOf(grant),
          mode,
          size,
          content,
          state: 'loading',
          reason: null,
          createdAt: clock.wall(),
          endedAt: null,
        },
        mostOf(grant),
      )
      if (begun === undefined) return undefined
      if (!content.equals(begun.content))
        throw new IssueError('idempotency_key_reused', 'the key was used for other rows')
      if (begun.state === 'loading') await load(begun, rows)
      wake()
      return store.find(id)
    },
    list: (grant) => store.list(ownerOf(grant)),
    listAll: () => store.list(),
    get: find,
    async rows(grant, id, after, limit) {
      if (!(await find(grant, id))) return undefined
      const found = await store.rows(id, after, limit)
      return found.map(({ line, sealed, result }) => ({
        line,
        fields: sealer.open(id, 'row', line, sealed) as DocumentFields,
        result: result && (sealer.open(id, 'result', line, result) as RowResult),
      }))
    },
    async stop(grant, id) {
      if (!(await find(grant, id))) return undefined
      const endedAt = clock.wall()
      await store.change(id, 'running', { state: 'stopped', reason: 'requested', endedAt })
      return find(grant, id)
    },
    async resume(grant, id) {
      const run = await find(grant, id)
      if (run?.state !== 'stopped') return run
      if (!(await store.resume(run, mostOf(grant)))) return 'too_many'
      wake()
      return find(grant, id)
    },
    async remove(grant, id) {
      if (tenantOf(grant) !== null && !(await find(grant, id))) return false
      return store.remove(id)
    },
  }
}
