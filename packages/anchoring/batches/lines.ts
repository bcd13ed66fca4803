import { createHash } from 'node:crypto'
import { splitLines } from '#base/lines.ts'
import type { DocumentFields } from '#document/document.ts'
import { type FieldProblem, FormatError } from '#document/errors.ts'
import { decodeJsonText, parseStrictJson } from '#document/json.ts'
import type { Kind } from '#document/kind.ts'
import { MAX_SENT_BYTES, mayIssue, readNewDocument } from '#document/new-document.ts'

/**
 * The upload as JSON Lines, with the fields of a document on each line. It is read once to check
 * the lines, and again to issue them.
 */
export type Checked = {
  /** The sha-256 of all bytes. */
  sha256: Buffer
  /** The number of lines. */
  size: number
  /** The number of lines that are not documents. */
  bad: number
}

/** The content of a line. */
export type Line = { line: number } & (
  | { fields: DocumentFields }
  /** The problems never contain the content of the line. */
  | { problems: readonly FieldProblem[] }
)

/** A line with problems. */
export type BadLine = Extract<Line, { problems: unknown }>

/** The rules that decide whether a line is a document. */
export type Rules = {
  /** The time by which dates are judged, in milliseconds of the Unix epoch. */
  now: number
  /** The kinds of documents. */
  kinds: readonly Kind[]
  /** The only categories that the caller may issue; absent = all. */
  categories?: readonly string[]
}

/** @returns The kinds of documents that held at this time. */
export type KindsAt = (time: number) => Promise<readonly Kind[]>

/**
 * Reads all lines, even after bad ones. Documents are checked as strictly as in the REST API.
 *
 * @param seen Called for every line, in order. If it throws, reading stops.
 */
export async function checkLines(
  chunks: AsyncIterable<Uint8Array>,
  rules: Rules,
  seen: (line: Line) => void,
): Promise<Checked> {
  const digest = createHash('sha256')
  const checked = { size: 0, bad: 0 }
  for await (const line of readLines(digesting(chunks, digest), rules)) {
    checked.size++
    if ('problems' in line) checked.bad++
    seen(line)
  }
  return { ...checked, sha256: digest.digest() }
}

/** Reads the content of each line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  rules: Rules,
): AsyncGenerator<Line> {
  let line = 0
  for await (const bytes of splitLines(chunks, MAX_SENT_BYTES))
    yield { line: ++line, ...parseLine(bytes, rules) }
}

/** @param bytes A line; `undefined` for a line that is too long. */
export function parseLine(
  bytes: Uint8Array | undefined,
  { now, kinds, categories }: Rules,
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  if (bytes === undefined) return problem(`must have at most ${MAX_SENT_BYTES} bytes`)
  try {
    const value = parseStrictJson(decodeJsonText(bytes))
    const kindOf = (category: string) => kinds.find((kind) => kind.category === category)
    const read = readNewDocument(value, now, kindOf)
    if ('problems' in read || mayIssue(read.fields, categories)) return read
    return problem('the API key may not issue this category', 'category')
  } catch (error) {
    if (error instanceof FormatError) return problem(error.message)
    throw error
  }
}

const problem = (message: string, field = '') => ({ problems: [{ field, message }] })

async function* digesting(
  chunks: AsyncIterable<Uint8Array>,
  digest: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    digest.update(chunk)
    yield chunk
  }
}
