import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { findPack, type Pack, packCache } from '#certificates/packs.ts'

/** @returns A folder that has the engine, and no fonts for Chinese, Japanese or Korean. */
export async function baseFonts(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fonts-'))
  await addFonts('base', folder)
  return folder
}

/** Does what `docreg-gateway certificates` does for one pack. */
export async function addFonts(pack: Pack, folder: string): Promise<void> {
  const found = dirname(await findPack(pack, packCache({}), () => {}))
  symlinkSync(found, join(folder, basename(found)))
}
