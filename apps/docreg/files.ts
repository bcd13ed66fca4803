import { mkdir, open, readFile, stat } from 'node:fs/promises'
import type { CompletenessProof } from '#verifier/proof/completeness.ts'
import { InputError } from './errors.ts'

/** The maximum size of a file with hashes or a proof. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/** @throws {InputError} `unreadable` */
export async function readAll(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size > MAX_FILE_BYTES) throw new RangeError(`more than ${MAX_FILE_BYTES} bytes`)
    return await readFile(file)
  } catch (cause) {
    throw new InputError('unreadable', `${file} cannot be read`, cause)
  }
}

/** @param file A path, or `-` for standard input. @throws {InputError} `unreadable` */
export async function readInputFile(file: string): Promise<Uint8Array> {
  return file === '-' ? readStdin(MAX_FILE_BYTES) : readAll(file)
}

/** @throws {InputError} `unreadable` if there are more bytes. */
export async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    length += chunk.length
    if (length > maxBytes)
      throw new InputError('unreadable', `standard input has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** @throws {InputError} `unwritable` */
export async function writeProof(file: string, proof: CompletenessProof): Promise<void> {
  await writePieces(file, piecesOf(proof))
}

function* piecesOf({ nodes, ...head }: CompletenessProof): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`
  for (const [i, node] of nodes.entries()) yield `${i ? ',' : ''}"${node}"`
  yield ']}\n'
}

/** The approximate number of characters in one write. */
const WRITE_LENGTH = 1 << 20

/** @throws {InputError} `unwritable` */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (cause) {
    throw new InputError('unwritable', `${folder} cannot be created`, cause)
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
      if (text.length < WRITE_LENGTH) continue
      await opened.appendFile(text)
      text = ''
    }
    await opened.appendFile(text)
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}
