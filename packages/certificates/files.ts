import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Hex } from '#document/hex.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf } from '#verifier/pdf.ts'

/** Only its owner may read the file, because a certificate opens its document. */
const PRIVATE = 0o600
/** The maximum length in UTF-16 units; file systems allow 255 bytes. */
const MAX_NAME = 60

/**
 * @returns The name of a certificate's file: the name of the person, and eight digits of the hash.
 */
export function fileNameOf(subjectName: string, documentHash: Hex): string {
  const words = subjectName
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
  const short = [...words].slice(0, MAX_NAME).join('').trim()
  return `${short || 'document'} ${documentHash.slice(2, 10)}.pdf`
}

/** @returns Whether a file is the complete certificate of this document and template. */
export async function isCertificate(
  file: string,
  publicId: string,
  mark: string,
): Promise<boolean> {
  try {
    const pdf = readFileSync(file)
    if (!pdf.includes(mark) || !pdf.subarray(-32).includes('%%EOF')) return false
    return readBundle(await bundleInPdf(pdf)).bundle.publicId === publicId
  } catch {
    return false
  }
}

/** Writes a file so that it never exists in part. */
export function writeWhole(file: string, content: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true })
  // The name is always the same, so that the next run replaces what a kill has left behind.
  const fresh = `${file}.part`
  writeFileSync(fresh, content, { mode: PRIVATE })
  renameSync(fresh, file)
}
