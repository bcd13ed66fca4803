import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeyStore, type SqliteKeyStore } from '#store/sqlite/key-store.ts'

/** A new file of API keys, which several may have open. */
export type KeyFolder = {
  path: string
  /** Opens it once more, as another process does. */
  open(): SqliteKeyStore
  remove(): void
}

export function makeKeyFolder(): KeyFolder {
  const dir = mkdtempSync(join(tmpdir(), 'keys-'))
  const path = join(dir, 'keys.db')
  const opened: SqliteKeyStore[] = []
  return {
    path,
    open() {
      const store = openKeyStore(path)
      opened.push(store)
      return store
    },
    remove() {
      for (const store of opened) store.close()
      rmSync(dir, { recursive: true })
    },
  }
}
