import type { Hex } from '#document/hex.ts'
import { type Binding, bind } from '#store/binding.ts'
import type { SqliteDatabase } from '#store/drivers/sqlite/driver.ts'
import { refusalsOf } from '#store/drivers/sqlite/sqlite.ts'

/** Binds a gateway's file, like a start. @throws {DataDirError} */
export function bindFile(
  database: SqliteDatabase,
  binding: Binding & { fingerprints: readonly Hex[] },
): Promise<void> {
  return bind(database, binding, { refusals: refusalsOf('the folder') })
}
