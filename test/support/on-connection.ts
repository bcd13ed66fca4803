import { all, statement, type Work } from '#store/sql.ts'

const NOTHING = statement('')

/** Work that does something on SQLite's own connection, within a write. */
export function onConnection(work: () => unknown): () => Work<void> {
  return function* () {
    work()
    yield* all(NOTHING)
  }
}
