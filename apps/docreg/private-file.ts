import { open } from 'node:fs/promises'
import { InputError } from './errors.ts'

/** Only its owner may read the file. */
const PRIVATE = 0o600

/** @throws {InputError} `unwritable` */
export async function writePrivately(file: string, text: string): Promise<void> {
  try {
    await using opened = await open(file, 'w', PRIVATE)
    // An existing file keeps its mode; a pipe or a terminal has its own.
    if ((await opened.stat()).isFile()) await opened.chmod(PRIVATE)
    await opened.writeFile(text)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}
