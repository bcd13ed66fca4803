import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentFields } from '../../document/document.ts'
import type { BatchRequest } from './batch.ts'
import { BatchError } from './errors.ts'
import { type Checked, checkLines, type Line, type Rules, readLines } from './lines.ts'
import type { Spool } from './spool.ts'

/** Maximum documents in one batch, and bytes of an upload. */
const MAX_DOCUMENTS = 100_000
const MAX_UPLOAD = 1024 ** 3
/** Documents to seal, or to answer for, in one turn of the event loop: about 1 ms. */
const DOCUMENTS_A_TURN = 16

/** An upload that was read to its end, and the rules for its lines. */
export type Upload = Checked & Rules & { spool: Spool }

/** @throws {BatchError} */
export async function readUpload(
  spool: Spool,
  { body, categories }: BatchRequest,
  now: number,
): Promise<Upload> {
  const rules = { now, ...(categories && { categories }) }
  const checked = await checkLines(spool.write(atMost(body, MAX_UPLOAD)), rules, ({ line }) => {
    if (line > MAX_DOCUMENTS)
      throw new BatchError('too_large', `at most ${MAX_DOCUMENTS} documents`)
  })
  if (checked.size > 0) return { ...checked, ...rules, spool }
  throw new BatchError('empty', 'must have at least one document')
}

/** Checks it as of another time; milliseconds of the Unix epoch. */
export async function readAgain(upload: Upload, now: number): Promise<Upload> {
  const rules = { ...upload, now }
  return { ...rules, ...(await checkLines(upload.spool.read(), rules, () => {})) }
}

async function* atMost(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > limit) throw new BatchError('too_large', `at most ${limit} bytes`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof BatchError) throw cause
    throw new BatchError('truncated', 'request body truncated', cause)
  }
}

/** Reads its lines once more. */
export async function* linesIn(upload: Upload): AsyncGenerator<Line> {
  for await (const line of readLines(upload.spool.read(), upload)) {
    await turnAfter(line.line)
    yield line
  }
}

export async function* documentsIn(upload: Upload): AsyncGenerator<DocumentFields> {
  for await (const line of linesIn(upload)) if ('fields' in line) yield line.fields
}

/** Lets everything else have its turn, now and then. @param count What was done by now. */
export async function turnAfter(count: number): Promise<void> {
  if (count % DOCUMENTS_A_TURN === 0) await nextTurn()
}
