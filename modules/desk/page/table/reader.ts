import type { Choices, Reading, Table, TableProblem } from '#table/table.ts'

/** A file with a table, and how it is read. */
export type Asked = Reading & { bytes: Uint8Array; language: string }
export type Problem = TableProblem | 'too_slow' | 'noReader'
export type Answer =
  | { table: Table }
  | { problem: Problem; line?: number | undefined; choices?: Choices | undefined }

/** A table of 100,000 rows takes some ten seconds on a slow machine. */
const MAX_READ_MS = 60_000

/** The hash of the reader, which is loaded with the first table; the build sets it. */
declare const READER_INTEGRITY: string

let address: Promise<string> | undefined

/** Reads a table in a thread of its own, so that no file stops the page. */
export async function readTable(asked: Asked): Promise<Answer> {
  address ??= loadReader()
  let worker: Worker
  try {
    worker = new Worker(await address)
  } catch {
    address = undefined
    return { problem: 'noReader' }
  }
  try {
    return await new Promise((resolve, reject) => {
      setTimeout(() => resolve({ problem: 'too_slow' }), MAX_READ_MS)
      worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => resolve(data))
      worker.addEventListener('error', ({ message }) => reject(new Error(message)))
      worker.postMessage(asked)
    })
  } finally {
    worker.terminate()
  }
}

/** The page allows no other script than its own. So its hash and this policy name this one. */
async function loadReader(): Promise<string> {
  const response = await fetch('/desk/reader', { integrity: READER_INTEGRITY })
  if (!response.ok) throw new Error('no reader')
  const url = URL.createObjectURL(await response.blob())
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  return (
    trustedTypes?.createPolicy('reader', { createScriptURL: () => url }).createScriptURL('') ?? url
  )
}

/** What Chromium has of Trusted Types; its trusted addresses stand where strings do. */
type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL(): string },
  ): { createScriptURL(of: string): string }
}
