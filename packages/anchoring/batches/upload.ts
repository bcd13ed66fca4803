import { turnAfter } from '#base/concurrency.ts'
import { splitLines } from '#base/lines.ts'
import { MAX_SENT_BYTES } from '#document/new-document.ts'
import type { BatchRequest } from './batch.ts'
import { BatchError } from './errors.ts'
import { type BadLine, type KindsAt, parseLine, type Rules } from './lines.ts'
import type { CheckedLines, Sealer } from './sealer.ts'
import type { Spool } from './spool.ts'

/** The maximum number of documents in one batch. */
const MAX_DOCUMENTS = 100_000
/** The maximum number of bytes in an upload. */
const MAX_UPLOAD = 1024 ** 3

/** An upload that was read completely, and the rules for its lines. */
export type Upload = CheckedLines & Rules & { spool: Spool }

type Deps = { sealer: Sealer; kindsAt: KindsAt }

/** @throws {BatchError} */
export async function readUpload(
  { sealer, kindsAt }: Deps,
  spool: Spool,
  { body, categories }: BatchRequest,
  now: number,
): Promise<Upload> {
  const rules = { now, kinds: await kindsAt(now), ...(categories && { categories }) }
  const checked = await check(sealer, spool.write(atMost(body, MAX_UPLOAD)), rules)
  if (checked.size > 0) return { ...checked, ...rules, spool }
  throw new BatchError('empty', 'must have at least one document')
}

/** Checks an upload again as of another time, in milliseconds of the Unix epoch. */
export async function readAgain(
  { sealer, kindsAt }: Deps,
  upload: Upload,
  now: number,
): Promise<Upload> {
  const rules = rulesOf({ ...upload, now, kinds: await kindsAt(now) })
  return { ...(await check(sealer, upload.spool.read(), rules)), ...rules, spool: upload.spool }
}

export function rulesOf({ now, kinds, categories }: Rules): Rules {
  return { now, kinds, ...(categories && { categories }) }
}

async function check(
  sealer: Sealer,
  chunks: AsyncIterable<Uint8Array>,
  rules: Rules,
): Promise<CheckedLines> {
  const checked = await sealer.check(chunks, rules, MAX_DOCUMENTS)
  if (checked) return checked
  throw new BatchError('too_large', `the batch must have at most ${MAX_DOCUMENTS} documents`)
}

async function* atMost(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > limit)
        throw new BatchError('too_large', `the batch must have at most ${limit} bytes`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof BatchError) throw cause
    throw new BatchError('truncated', 'the request body is truncated', cause)
  }
}

/** @returns The lines of an upload, in order. Only bad lines are read again, for their problems. */
export async function* linesIn(upload: Upload): AsyncGenerator<{ line: number } | BadLine> {
  const bad = badLinesIn(upload)
  let next = await bad.next()
  for (let line = 1; line <= upload.size; line++) {
    await turnAfter(line)
    if (line !== next.value?.line) yield { line }
    else {
      yield next.value
      next = await bad.next()
    }
  }
}

async function* badLinesIn(upload: Upload): AsyncGenerator<BadLine, undefined> {
  const { badLines, spool } = upload
  let [line, next] = [0, 0]
  if (badLines.length === 0) return
  for await (const bytes of splitLines(spool.read(), MAX_SENT_BYTES)) {
    if (++line !== badLines[next]) continue
    const parsed = parseLine(bytes, upload)
    if ('problems' in parsed) yield { line, problems: parsed.problems }
    if (++next === badLines.length) return
  }
}
