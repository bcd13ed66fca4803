import { all, statement, type Work } from '#store/sql.ts'

const NOTHING = statement('')

/** Work that uses the connection of SQLite directly, within a write. */
export function onConnection(work: () => unknown): () => Work<void> {
  return function* () {
    work()
    yield* all(NOTHING)
  }
}
