import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { DocumentFields } from '../../document/document.ts'
import { type FieldProblem, FormatError } from '../../document/errors.ts'
import { decodeJsonText, parseStrictJson } from '../../document/json.ts'
import { ApiError } from '../http/errors.ts'
import { parseIssueBody } from '../http/issue-body.ts'
import { MAX_BODY } from '../http/request.ts'

/**
 * The fields of a document on each line: JSON Lines, read once to check it and once to issue it.
 */
export type BulkFile = {
  path: string
  /** Of all its bytes, hexadecimal. */
  sha256: string
  /** Lines; each is a document. */
  size: number
}

/** The problem of a line; never its content. */
export type BadLine = { line: number; problems: readonly FieldProblem[] }

/** Thrown when a file has changed since it was checked. */
export class BulkFileError extends Error {
  override name = 'BulkFileError'
}

/**
 * Reads the whole file, even after bad lines. It is as strict as the REST API about each document.
 *
 * @param now Milliseconds of the Unix epoch.
 * @param bad Called for every bad line, in order.
 */
export async function checkLines(
  path: string,
  now: number,
  bad: (line: BadLine) => void,
): Promise<BulkFile> {
  const digest = createHash('sha256')
  let size = 0
  for await (const bytes of readLines(path, (chunk) => digest.update(chunk))) {
    size++
    const parsed = parseLine(bytes, now)
    if ('problems' in parsed) bad({ line: size, problems: parsed.problems })
  }
  return { path, size, sha256: digest.digest('hex') }
}

/**
 * @param now As for `checkLines`.
 * @throws {BulkFileError} at its end, or at a bad line, when the file has changed.
 */
export async function* documentsOf(
  { path, sha256, size }: BulkFile,
  now: number,
): AsyncGenerator<DocumentFields> {
  const digest = createHash('sha256')
  let count = 0
  for await (const bytes of readLines(path, (chunk) => digest.update(chunk))) {
    const parsed = parseLine(bytes, now)
    if ('problems' in parsed || count === size) break
    count++
    yield parsed.fields
  }
  if (digest.digest('hex') !== sha256)
    throw new BulkFileError(`${path} was changed while it was read`)
}

function parseLine(
  bytes: Uint8Array | undefined,
  now: number,
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  if (bytes === undefined) return problem(`must have at most ${MAX_BODY} bytes`)
  try {
    const value = parseStrictJson(decodeJsonText(bytes))
    return { fields: parseIssueBody(value, now, undefined) }
  } catch (error) {
    if (error instanceof FormatError) return problem(error.message)
    if (error instanceof ApiError && error.code === 'bad_fields')
      return { problems: (error.details ?? []) as FieldProblem[] }
    throw error
  }
}

const problem = (message: string) => ({ problems: [{ field: '', message }] })

const LINE_FEED = 0x0a

/**
 * @param seen Receives all bytes of the file.
 * @returns The lines; `undefined` for one that is too long, whose rest is skipped. The last may end
 * without a line feed.
 */
async function* readLines(
  path: string,
  seen: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array | undefined> {
  let rest = Buffer.alloc(0)
  let tooLong = false
  for await (const chunk of createReadStream(path)) {
    seen(chunk)
    const bytes = Buffer.concat([rest, chunk as Buffer])
    let start = 0
    let end = bytes.indexOf(LINE_FEED)
    while (end !== -1) {
      const fits = !tooLong && end - start <= MAX_BODY
      yield fits ? bytes.subarray(start, end) : undefined
      tooLong = false
      start = end + 1
      end = bytes.indexOf(LINE_FEED, start)
    }
    rest = bytes.subarray(start)
    tooLong ||= rest.length > MAX_BODY
    if (tooLong) rest = Buffer.alloc(0)
  }
  if (tooLong) yield undefined
  else if (rest.length > 0) yield rest
}
