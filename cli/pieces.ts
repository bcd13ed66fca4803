import { mkdir, open } from 'node:fs/promises'
import { InputError } from './errors.ts'

/** Characters of one write. */
const WRITE = 1 << 20

/** @throws {InputError} `unwritable` */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (cause) {
    throw new InputError('unwritable', `${folder} cannot be made`, cause)
  }
}

/**
 * Writes a file in pieces, so that the whole text is never in memory.
 *
 * @throws {InputError} `unwritable`
 */
export async function writePieces(file: string, pieces: Iterable<string>): Promise<void> {
  try {
    await using opened = await open(file, 'w')
    let text = ''
    for (const piece of pieces) {
      text += piece
      if (text.length < WRITE) continue
      await opened.appendFile(text)
      text = ''
    }
    await opened.appendFile(text)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}
