import { createHash } from 'node:crypto'
import { splitLines } from '#base/lines.ts'
import type { DocumentFields } from '#document/document.ts'
import { type FieldProblem, FormatError } from '#document/errors.ts'
import { decodeJsonText, parseStrictJson } from '#document/json.ts'
import { MAX_SENT_BYTES, mayIssue, readNewDocument } from '#document/new-document.ts'

/**
 * The fields of a document on each line: JSON Lines, read once to check them and again to issue
 * them.
 */
export type Checked = {
  /** Of all its bytes. */
  sha256: Buffer
  /** Lines. */
  size: number
  /** How many of them are not documents. */
  bad: number
}

/** What is on a line. */
export type Line = { line: number } & (
  | { fields: DocumentFields }
  /** Never its content. */
  | { problems: readonly FieldProblem[] }
)

/** The problem of a line. */
export type BadLine = Extract<Line, { problems: unknown }>

/** What decides whether a line is a document. */
export type Rules = {
  /** Dates are judged by this time; milliseconds of the Unix epoch. */
  now: number
  /** The only categories that the caller may issue; absent = all. */
  categories?: readonly string[]
}

/**
 * Reads all lines, even after bad ones. It is as strict as the REST API about each document.
 *
 * @param seen Called for every line, in order; reading stops when it throws.
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

/** Reads what is on each line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  rules: Rules,
): AsyncGenerator<Line> {
  let line = 0
  for await (const bytes of splitLines(chunks, MAX_SENT_BYTES))
    yield { line: ++line, ...parseLine(bytes, rules) }
}

/** @param bytes A line; `undefined` for one that is too long. */
export function parseLine(
  bytes: Uint8Array | undefined,
  { now, categories }: Rules,
): { fields: DocumentFields } | { problems: readonly FieldProblem[] } {
  if (bytes === undefined) return problem(`must have at most ${MAX_SENT_BYTES} bytes`)
  try {
    const value = parseStrictJson(decodeJsonText(bytes))
    const read = readNewDocument(value, now)
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
