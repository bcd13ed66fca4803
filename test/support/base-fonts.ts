import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { findPack, packCache } from '#certificates/packs.ts'

/** @returns A folder that has the engine, and no fonts for Chinese, Japanese or Korean. */
export async function baseFonts(): Promise<string> {
  const pack = dirname(await findPack('base', packCache({}), () => {}))
  const folder = mkdtempSync(join(tmpdir(), 'fonts-'))
  symlinkSync(pack, join(folder, basename(pack)))
  return folder
}
