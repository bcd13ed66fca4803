import { strFromU8, unzipSync, Zip, ZipPassThrough } from 'fflate'
import { CallError, type Client } from '#client/index.ts'
import { wordsOf } from '../problems.ts'

/** The documents of one request; printing them takes seconds. */
const AT_A_TIME = 50
/** The certificates of one file, which has some 100 MB then. */
const PER_FILE = 1_000

/** Why documents were not printed, in words, by their documentHash. */
export type NotPrinted = Record<string, string>
type Failure = { place: number; code: CallError['code']; message: string }

/**
 * Prints many documents.
 *
 * @param hashes Their documentHashes.
 * @param tableOf Makes the table of those that are missing from a file.
 * @param progress Told how many are done.
 * @returns ZIP files, and what is missing from them.
 */
export async function printMany(
  client: Client,
  template: string,
  hashes: readonly string[],
  tableOf: (failed: NotPrinted) => Uint8Array,
  progress: (done: number) => void,
): Promise<{ files: Blob[]; notPrinted: NotPrinted }> {
  const files: Blob[] = []
  const notPrinted: NotPrinted = {}
  for (let from = 0; from < hashes.length; from += PER_FILE) {
    const ofFile = hashes.slice(from, from + PER_FILE)
    const failed: NotPrinted = {}
    const parts: BlobPart[] = []
    const zip = new Zip((error, part) => {
      if (error) throw error
      parts.push(new Uint8Array(part))
    })
    const add = (name: string, bytes: Uint8Array) => {
      const file = new ZipPassThrough(name)
      zip.add(file)
      file.push(bytes, true)
    }
    for (let at = 0; at < ofFile.length; at += AT_A_TIME) {
      const some = ofFile.slice(at, at + AT_A_TIME)
      // One document would not be a ZIP.
      const documents = some.length > 1 ? some : [...some, ...some]
      const body = { documents }
      const bytes = await client.printCertificates({ query: { template }, body })
      const { 'failed.json': reasons, 'not-printed.csv': _, ...pdfs } = unzipSync(bytes)
      const failures: Failure[] = reasons ? JSON.parse(strFromU8(reasons)) : []
      for (const { place, code, message } of failures)
        failed[documents[place - 1] as string] = wordsOf(new CallError(code, message))
      for (const [name, pdf] of Object.entries(pdfs)) add(name, pdf)
      progress(from + at + some.length)
    }
    if (Object.keys(failed).length > 0) add('not-printed.csv', tableOf(failed))
    zip.end()
    files.push(new Blob(parts, { type: 'application/zip' }))
    Object.assign(notPrinted, failed)
  }
  return { files, notPrinted }
}
