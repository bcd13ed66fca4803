import { strFromU8, unzipSync, Zip, ZipPassThrough } from 'fflate'
import type { Client } from '#client/index.ts'

/** The documents of one request; printing them takes seconds. */
const AT_A_TIME = 50
/** The certificates of one file, which has some 100 MB then. */
const PER_FILE = 1_000

export type Printed = {
  /** ZIP files. */
  files: Blob[]
  /** The codes of the errors of documents that were not printed. */
  failed: string[]
}

/**
 * Prints many documents.
 *
 * @param hashes Their documentHashes; at least two.
 * @param progress Told how many are done.
 */
export async function printMany(
  client: Client,
  template: string,
  hashes: readonly string[],
  progress: (done: number) => void,
): Promise<Printed> {
  const files: Blob[] = []
  const failed: string[] = []
  let done = 0
  for (const some of groupsOf(hashes, PER_FILE)) {
    const parts: BlobPart[] = []
    const failedBefore = failed.length
    const zip = new Zip((error, part) => {
      if (error) throw error
      parts.push(new Uint8Array(part))
    })
    for (const documents of groupsOf(some, AT_A_TIME)) {
      const bytes = await client.printCertificates({ query: { template }, body: { documents } })
      const { 'failed.json': reasons, ...pdfs } = unzipSync(bytes)
      if (reasons) failed.push(...JSON.parse(strFromU8(reasons)).map(codeOf))
      for (const [name, pdf] of Object.entries(pdfs)) {
        const file = new ZipPassThrough(name)
        zip.add(file)
        file.push(pdf, true)
      }
      done += documents.length
      progress(done)
    }
    zip.end()
    if (failed.length - failedBefore < some.length)
      files.push(new Blob(parts, { type: 'application/zip' }))
  }
  return { files, failed }
}

const codeOf = ({ code }: { code: string }) => code

/** @returns Groups of about this size and never of one, because one document is not a ZIP. */
function groupsOf<T>(all: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let i = 0; i < all.length; i += size) groups.push(all.slice(i, i + size))
  const last = groups.at(-1)
  const before = groups.at(-2)
  if (last?.length === 1 && before) {
    before.push(...last)
    groups.pop()
  }
  return groups
}
