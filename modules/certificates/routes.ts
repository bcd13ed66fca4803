import type { Context } from 'hono'
import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import { limitInShares } from '#base/concurrency.ts'
import { CertificateError, type CertificateErrorCode } from '#certificates/errors.ts'
import { fileNameOf } from '#certificates/files.ts'
import type { Press } from '#certificates/press.ts'
import type { Certificate } from '#certificates/print.ts'
import { encodeUtf8 } from '#document/bytes.ts'
import type { Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { failureOf, succeed } from '#http/core/envelope.ts'
import type { ApiErrorCode } from '#http/core/error-table.ts'
import { ApiError, invalid } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { createPlaces } from '#http/core/places.ts'
import { parseBody, readJson } from '#http/core/request.ts'
import { answerZip, type NamedFile, ZIP } from '#http/core/streams.ts'
import type { AppDeps } from '#http/deps.ts'
import { type CheckingDeps, readChecked } from '#http/resources/bundle.ts'
import { type NamingDeps, publicIdOf } from '#http/resources/document-path.ts'
import { ISSUE_EXAMPLE, issueBody, parseIssueBody } from '#http/resources/issue-body.ts'
import { verifyUrlOf } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import { type Grant, shareOf } from '#keys/grant.ts'
import { formatTable } from '#table/format.ts'
import { FOR_SPREADSHEETS } from '#table/table.ts'

/** The maximum number of documents in one request, which take seconds. */
const MAX_DOCUMENTS = 100
/** The maximum number of requests, which also wait for readers. */
const MAX_REQUESTS = { all: 100, each: 3 }
/** The maximum number of documents that are printed at the same time. */
const MAX_PRINTING = { all: 6, each: 3 }
/** The documents of a request that are read while another one is printed. */
const AHEAD = 2
/** A specimen stands for no document. */
const NO_HASH: Hex = `0x${'00'.repeat(32)}`

const query = {
  template: v.exactOptional(
    v.pipe(
      v.string(),
      v.description(
        'One of the templates that `listTemplates` names; absent = that of the kind of documents.',
      ),
    ),
  ),
}
const exampleQuery = { template: 'letter' }
const PDF = 'application/pdf'

const LIST = operation({
  operationId: 'listTemplates',
  route: 'GET /v1/certificates',
  tag: 'Certificates',
  summary: 'List the templates of certificates',
  scope: 'documents:read',
  answer: {
    description: 'The templates. Unless certificates are available, none can be used.',
    data: v.object({ isAvailable: v.boolean(), templates: v.array(v.string()) }),
    example: { isAvailable: true, templates: ['diploma', 'permit', 'letter'] },
  },
})

const printBody = v.strictObject({
  documents: v.pipe(
    v.array(schemas.documentName),
    v.minLength(1, 'must name a document'),
    v.maxLength(MAX_DOCUMENTS, `must name at most ${MAX_DOCUMENTS} documents`),
  ),
})
const PRINT = operation({
  operationId: 'printCertificates',
  route: 'POST /v1/certificates',
  tag: 'Certificates',
  summary: 'Print documents as PDF',
  description:
    'One document gives a PDF/A-3a with its bundle attached, which contains its key. Several give a ZIP with the PDFs of those that are valid; `failed.json` in it has the others, by their place in the request, and `not-printed.csv` has them with their names, for people. Nothing of this is kept.',
  scope: 'documents:read',
  query,
  exampleQuery,
  body: { schema: printBody, example: { documents: [schemas.EXAMPLE_PUBLIC_ID] } },
  answer: { description: 'The PDF or the ZIP.', content: { [PDF]: null, [ZIP]: null } },
  errors: [
    'bad_public_id',
    'not_found',
    'other_issuer',
    'erased',
    'not_valid',
    'unprintable',
    'certificates_unavailable',
    'fonts_missing',
    'unverifiable',
    'overloaded',
    'store_unavailable',
  ],
})

const PRINT_SPECIMEN = operation({
  operationId: 'printSpecimen',
  route: 'POST /v1/certificates/specimen',
  tag: 'Certificates',
  summary: 'Print how a document would look, before it is issued',
  description: 'The page says that it is a specimen. Its QR code leads to no document.',
  scope: 'documents:issue',
  query,
  exampleQuery,
  body: { schema: issueBody, example: ISSUE_EXAMPLE },
  answer: { description: 'The PDF.', content: { [PDF]: null } },
  errors: [
    'category_not_allowed',
    'unprintable',
    'certificates_unavailable',
    'fonts_missing',
    'overloaded',
  ],
})

/** What the routes need; the press is absent without templates. */
type Deps = NamingDeps &
  CheckingDeps &
  Pick<AppDeps, 'checkDocument' | 'log'> & { press: Press | undefined }

/** Serves certificates of documents that the caller's tenant has issued. */
export const certificateRoutes = resource<Deps>([LIST, PRINT, PRINT_SPECIMEN], (serve, deps) => {
  const { checkDocument, addresses } = deps
  const places = createPlaces(MAX_REQUESTS, 'requests for certificates')
  // A reader who does not read holds a place of its own tenant, and nobody's turn.
  const beginPrinting = limitInShares(MAX_PRINTING)

  serve(LIST, (c) => {
    const { isReady = () => false, templates = [] } = deps.press ?? {}
    return succeed(c, LIST, { isAvailable: isReady(), templates })
  })

  serve(PRINT, async (c) => {
    const { documents } = parseBody(printBody, await readJson(c))
    const print = printerOf(deps, c.get('query').template)
    const share = shareOf(c.get('grant'))
    const read = (name: string) => readOwn(deps, c.get('grant'), name)
    const printOne = async (found: Found): Promise<NamedFile> => {
      const certificate = await certificateOf(deps, found)
      const { document, documentHash } = certificate
      const { done } = await beginPrinting(share, () => print(certificate))
      return { name: fileNameOf(document.subjectName, documentHash), bytes: await done }
    }
    const leave = places.enter(share)
    const [first = '', ...others] = documents
    if (others.length === 0)
      return answerPdf(
        c,
        await read(first)
          .then(printOne)
          .then(({ bytes }) => bytes)
          .finally(leave),
      )
    const reasonOf = (error: unknown) => failureOf(error, c.get('requestId'), deps.log).body.error
    const files = printAll(documents, { read, printOne, reasonOf })
    return answerZip(c, 'certificates.zip', files, leave)
  })

  serve(PRINT_SPECIMEN, async (c) => {
    const { categories } = c.get('grant')
    const body = await readJson(c)
    const rules = { now: clock.wall(), kindOf: await checkDocument.current(), categories }
    const { fields } = parseIssueBody(body, rules)
    const print = printerOf(deps, c.get('query').template)
    const share = shareOf(c.get('grant'))
    const leave = places.enter(share)
    const { registry, issuerId, verifyUrl: link } = addresses
    const document = { ...fields, registry, issuerId }
    const specimen = {
      document,
      kind: rules.kindOf(fields.category),
      documentHash: NO_HASH,
      link,
      bundle: '{}',
      isSpecimen: true,
    } as const
    const printing = beginPrinting(share, () => print(specimen))
    return answerPdf(c, await printing.then(({ done }) => done).finally(leave))
  })
})

/**
 * @param chosen The template; `undefined` = that of the kind of each document.
 * @returns A function that prints one certificate.
 * @throws {ApiError} `certificates_unavailable`, `bad_query`.
 */
function printerOf({ press }: Deps, chosen: string | undefined) {
  if (!press?.isReady())
    throw new ApiError('certificates_unavailable', 'this service makes no certificates')
  const known = (template: string | undefined, of = ''): string => {
    if (template !== undefined && press.templates.includes(template)) return template
    const message = `must be one of ${press.templates.join(', ')}${of}`
    throw invalid('bad_query', [{ field: 'template', message }])
  }
  if (chosen !== undefined) known(chosen)
  return async (certificate: Certificate): Promise<Uint8Array> => {
    const { kind } = certificate
    const ofKind = chosen === undefined && kind?.template !== undefined
    const of = ofKind ? `: the kind ${kind.category} has the template "${kind.template}"` : ''
    return press.print(known(chosen ?? kind?.template, of), certificate).catch((error) => {
      if (!(error instanceof CertificateError)) throw error
      // The message contains no value of the document.
      const message = `${error.message}${of}`
      throw new ApiError(CODES[error.code] ?? 'unprintable', message, { cause: error })
    })
  }
}

/** The codes of failures that the operator can mend. */
const CODES: Partial<Record<CertificateErrorCode, ApiErrorCode>> = {
  no_engine: 'certificates_unavailable',
  fonts_missing: 'fonts_missing',
}

type Found = Awaited<ReturnType<typeof readChecked>>

/** @throws {ApiError} `not_found` for a document of another tenant; `other_issuer`. */
async function readOwn(deps: Deps, grant: Grant, name: string): Promise<Found> {
  const publicId = await publicIdOf(deps, grant, name, deps.newDeadline())
  const { issuerId } = decodePublicId(publicId)
  if (issuerId !== deps.addresses.issuerId)
    throw new ApiError('other_issuer', 'the document belongs to another issuer')
  return readChecked(deps, publicId)
}

/** @throws {ApiError} `not_valid` */
async function certificateOf(deps: Deps, { bundle, verdict }: Found): Promise<Certificate> {
  const { status, document, blockchainProof } = verdict
  if (status !== 'valid' || !document || !blockchainProof)
    throw new ApiError('not_valid', `the document is not valid, its status is ${status}`)
  const { documentHash } = blockchainProof
  const link = verifyUrlOf(deps.addresses, bundle.publicId)
  const kind = (await deps.checkDocument.current())(document.category)
  return { document, documentHash, kind, link, bundle: JSON.stringify(bundle) }
}

type Steps = {
  read(name: string): Promise<Found>
  printOne(found: Found): Promise<NamedFile>
  reasonOf(error: unknown): { code: string; message: string }
}

/** Prints in order, while the next ones are read. A failure stops no other document. */
async function* printAll(
  names: readonly string[],
  { read, printOne, reasonOf }: Steps,
): AsyncGenerator<NamedFile> {
  const failed: { place: number; code: string; message: string }[] = []
  const notPrinted: Record<string, string>[] = []
  const begin = async (name: string) => {
    let found: Found | undefined
    try {
      found = await read(name)
      return await printOne(found)
    } catch (error) {
      return { error, verdict: found?.verdict }
    }
  }
  const ahead = names.slice(0, AHEAD).map(begin)
  for (const i of names.keys()) {
    ahead.push(...names.slice(i + AHEAD, i + AHEAD + 1).map(begin))
    const printed = await ahead.shift()
    if (printed === undefined) continue
    if ('bytes' in printed) {
      yield printed
      continue
    }
    const { code, message } = reasonOf(printed.error)
    const { document, blockchainProof } = printed.verdict ?? {}
    failed.push({ place: i + 1, code, message })
    notPrinted.push({
      place: `${i + 1}`,
      subjectName: document?.subjectName ?? '',
      documentHash: blockchainProof?.documentHash ?? '',
      code,
      message,
    })
  }
  if (failed.length === 0) return
  yield { name: 'failed.json', bytes: encodeUtf8(JSON.stringify(failed)) }
  const table = formatTable(Object.keys(notPrinted[0] ?? {}), notPrinted, FOR_SPREADSHEETS)
  yield { name: 'not-printed.csv', bytes: table }
}

function answerPdf(c: Context, bytes: Uint8Array): Response {
  return c.body(new Uint8Array(bytes), 200, {
    'Content-Type': PDF,
    'Content-Disposition': 'attachment; filename="certificate.pdf"',
  })
}
