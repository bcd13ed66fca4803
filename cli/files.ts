import { open, readFile, stat } from 'node:fs/promises'
import type { CompletenessProof } from '#verifier/proof/completeness.ts'
import { InputError } from './errors.ts'

/** Maximum bytes of a file of hashes or of a proof. */
const MAX_FILE = 256 * 1024 * 1024

/** @throws {InputError} `unreadable` */
export async function readAll(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file)
    if (size > MAX_FILE) throw new RangeError(`more than ${MAX_FILE} bytes`)
    return await readFile(file)
  } catch (cause) {
    throw new InputError('unreadable', `${file} cannot be read`, cause)
  }
}

/** @param file A path, or `-` for standard input. @throws {InputError} `unreadable` */
export async function readInputFile(file: string): Promise<Uint8Array> {
  return file === '-' ? readStdin(MAX_FILE) : readAll(file)
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

/**
 * Writes in pieces, so that the text of a long proof is not in memory twice.
 *
 * @throws {InputError} `unwritable`
 */
export async function writeProof(file: string, proof: CompletenessProof): Promise<void> {
  try {
    await using opened = await open(file, 'w')
    await opened.writeFile(piecesOf(proof))
  } catch (cause) {
    throw new InputError('unwritable', `${file} cannot be written`, cause)
  }
}

function* piecesOf({ nodes, ...head }: CompletenessProof): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`
  for (const [i, node] of nodes.entries()) yield `${i ? ',' : ''}"${node}"`
  yield ']}\n'
}
