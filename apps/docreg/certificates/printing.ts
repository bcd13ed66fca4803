import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateError } from '#certificates/errors.ts'
import { fileNameOf, isCertificate, writeWhole } from '#certificates/files.ts'
import type { Pool } from '#certificates/pool.ts'
import type { Settings } from '#certificates/settings.ts'
import type { Kind } from '#document/kind.ts'
import { formatVerifyLink } from '#document/verify-link.ts'
import { type Bundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { ChainError } from '#verifier/errors.ts'
import { InputError, UsageError } from '../errors.ts'
import { inParallel } from '../parallel.ts'
import type { Terminal } from '../terminal.ts'
import type { Bundles } from './bundles.ts'

/** A template that is ready to print. */
export type Printing = {
  settings: Settings
  pool: Pool
  /** A mark of the current template. */
  mark: string
  /** What the issuer calls the fields of documents, if the service was asked. */
  kinds: readonly Kind[]
}

/** A document to print. */
export type PrintedRow = {
  line?: number
  publicId: string
  /** The address of the verify page. */
  page: string
  /**
   * The file, if it is known before the document is read. An existing certificate then costs no
   * request.
   */
  file?: string
  /** The bundle of this row; absent = it comes from the sources of the run. */
  bundle?: () => Promise<Bundle>
}

export type Printed = { written: number; left: number; failures: Failure[] }
export type Failure = { line?: number; code: string; message: string }

/** The number of certificates in progress: while some are printed, others are read. */
const MAX_AT_A_TIME = 16

/**
 * @param template The name or the folder of a template.
 * @throws {UsageError} if it cannot be used.
 */
export async function openPrinting(
  template: string,
  fonts: readonly string[],
  terminal: Pick<Terminal, 'note'>,
  kinds: readonly Kind[] = [],
): Promise<Printing> {
  const { findTemplate, markOf } = await import('#certificates/template.ts')
  const { createPool } = await import('#certificates/pool.ts')
  const { readSettings } = await import('#certificates/settings.ts')
  const { packCache } = await import('#certificates/packs.ts')
  return asUsage(() => {
    const folder = findTemplate(template)
    const settings = readSettings(folder)
    const pool = createPool({
      template: folder,
      settings,
      fontPaths: [...fonts],
      cache: packCache(process.env),
      env: process.env,
      report: (message) => terminal.note(message),
    })
    return { settings, pool, mark: markOf(folder), kinds }
  })
}

/** @returns The kind of a document, if it is known. */
export const kindIn = ({ kinds }: Printing, { category }: { category: string }) =>
  kinds.find((kind) => kind.category === category)

/** @throws {UsageError} in place of a {@link CertificateError}. */
export function asUsage<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof CertificateError) throw new UsageError(error.message)
    throw error
  }
}

export type PrintTask = {
  printing: Printing
  folder: string
  bundles: Bundles
  terminal: Pick<Terminal, 'progress'>
  isStopped(): boolean
}

/**
 * Prints the certificates that do not exist yet, complete and with this template.
 *
 * @returns Failures in the order of their lines. After a stop, the rows that were not started are
 * missing.
 */
export async function printAll(rows: readonly PrintedRow[], task: PrintTask): Promise<Printed> {
  const failures: Failure[] = []
  const done = { written: 0, left: 0 }
  mkdirSync(task.folder, { recursive: true, mode: 0o700 })
  const bar = task.terminal.progress('Certificates', rows.length)
  const work = async (row: PrintedRow) => {
    try {
      done[await printOne(row, task)]++
    } catch (error) {
      if (!(error instanceof CertificateError || error instanceof ChainError)) throw error
      if (error instanceof CertificateError && error.code === 'no_engine')
        throw new InputError('no_engine', error.message, error)
      const { code, message } = error
      failures.push({ ...(row.line !== undefined && { line: row.line }), code, message })
    }
    bar.update(done.written + done.left + failures.length)
  }
  try {
    await inParallel(rows, MAX_AT_A_TIME, work, task.isStopped)
  } finally {
    bar.end()
  }
  failures.sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  return { ...done, failures }
}

async function printOne(row: PrintedRow, task: PrintTask): Promise<'written' | 'left'> {
  const { printing, folder, bundles } = task
  const { publicId } = row
  const isThere = (file: string) => isCertificate(join(folder, file), publicId, printing.mark)
  if (row.file !== undefined && (await isThere(row.file))) return 'left'
  const bundle = await (row.bundle?.() ?? bundles.read(publicId))
  const trusted = bundles.trusted ?? { registry: bundle.registry }
  const { status, document, blockchainProof } = await verifyBundle(bundle, {
    ...trusted,
    trustedBlocks: [readBundle(bundle).block.blockHash],
  })
  if (status !== 'valid' || document === null || blockchainProof === null)
    throw new CertificateError('not_valid', `the document is not valid, its status is ${status}`)
  const { documentHash } = blockchainProof
  const file = fileNameOf(document.subjectName, documentHash)
  if (file !== row.file && (await isThere(file))) return 'left'
  const link = formatVerifyLink(row.page, { publicId, registry: trusted.registry })
  const kind = kindIn(printing, document)
  const certificate = { document, documentHash, kind, link, bundle: JSON.stringify(bundle) }
  const pdf = await printing.pool.print(certificate, [printing.mark])
  try {
    writeWhole(join(folder, file), pdf)
  } catch (cause) {
    throw new InputError('unwritable', `${folder} cannot be written`, cause)
  }
  return 'written'
}
