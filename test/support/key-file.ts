import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeysFile, openKeysFile } from '#store/drivers/sqlite/keys-file.ts'

/** A new file of API keys, which can be opened several times. */
export type KeyFolder = {
  path: string
  /** Opens it once more, like another process. */
  open(): KeysFile
  remove(): void
}

export function makeKeyFolder(): KeyFolder {
  const dir = mkdtempSync(join(tmpdir(), 'keys-'))
  const path = join(dir, 'keys.db')
  const opened: KeysFile[] = []
  return {
    path,
    open() {
      const store = openKeysFile(path)
      opened.push(store)
      return store
    },
    remove() {
      for (const store of opened) store.close()
      rmSync(dir, { recursive: true })
    },
  }
}
