import { decodeBase64url } from '../document/base64url.ts'
import { encodeUtf8 } from '../document/bytes.ts'
import { parseClaims, readDisclosures, sdOf } from '../document/disclosures.ts'
import { type DocumentPart, validUntilOf } from '../document/document.ts'
import { FormatError } from '../document/errors.ts'
import { type Presentation, parsePresentation } from '../document/presentation.ts'
import { readSealedHeader } from '../document/sealed.ts'
import { type Bound, type Content, contentOf } from './checks/content.ts'
import type { BlockSource, ChainReading, DocumentKey } from './ports.ts'
import { decodeHeader, type Header } from './proof/header.ts'
import { createProofReader, type ProofOptions } from './readers/state-proof.ts'
import { abortable } from './signal.ts'
import type { Check, PresentationVerdict } from './verdict.ts'
import { assertOptions, type ContentReader, type VerifyOptions, verifyRecord } from './verify.ts'

/**
 * Verifies a presentation: that its fields belong to a document in the registry, and the status of
 * that document. This does not need the publicId.
 *
 * Ignores a state proof in it: see {@link verifyPresentationProof}.
 *
 * @param input A presentation as JSON text, bytes of JSON text, or a parsed value.
 * @param options As for `verify`. The sealed document may be in the presentation; otherwise it
 * comes from `blocks`.
 * @returns A verdict with the fields in `disclosed`, `null` unless they are proven. Trouble with
 * chain or blocks makes it `unverifiable` and is never thrown.
 * @throws {FormatError} `presentation_malformed`, before any request.
 * @throws The reason of `options.signal`, once it aborts.
 * @throws {TypeError} as `verify`.
 *
 * @example
 * ```ts
 * const chain = createChainReader(createFetchProvider('https://rpc.example'), registry)
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const { status, disclosed } = await verifyPresentation(presentation, { chain, blocks })
 * disclosed // => { subjectName: 'Ada Lovelace' }
 * ```
 */
export async function verifyPresentation(
  input: unknown,
  options: VerifyOptions,
): Promise<PresentationVerdict> {
  const presentation = parsePresentation(input)
  assertOptions(options)
  return abortable(() => verifyParsed(presentation, options), options.signal)
}

/**
 * @param credential The check of the credential in which it is shown.
 */
export async function verifyParsed(
  presentation: Presentation,
  options: VerifyOptions,
  credential: Pick<ContentReader<DocumentPart>, 'checkCredential'> = {},
): Promise<PresentationVerdict> {
  const { chain, blocks } = options
  const { valid, status, document, ...rest } = await verifyRecord(
    keyOf(presentation),
    [],
    { ...options, blocks: [...sourcesIn(presentation), ...blocks] },
    {
      read: (sealed, reading) => checkDisclosed(sealed, presentation, chain.registry, reading),
      ...credential,
    },
  )
  return { valid, status, disclosed: document, ...rest }
}

/** @returns The query for the registry about a presented document. */
export function keyOf({ issuerId, documentHash, batch }: Presentation): DocumentKey {
  if (!batch) return { issuerId, documentHash }
  const { root, validUntil } = batch
  const proof = decodeBase64url(batch.proof)
  return { issuerId, documentHash, batch: { root, validUntil, proof } }
}

/** The sealed document in a presentation is an untrusted source, so its bytes are hashed. */
function sourcesIn({ sealed }: Presentation): BlockSource[] {
  if (sealed === null) return []
  const bytes = encodeUtf8(sealed)
  return [{ get: async () => ({ status: 'found', bytes }) }]
}

/** @returns The check `content`, and the disclosed fields when it passes. */
function checkDisclosed(
  sealed: Uint8Array,
  presentation: Presentation,
  trusted: string,
  reading: ChainReading,
): Promise<Content<DocumentPart>> {
  return contentOf(trusted, reading, async () => readDisclosed(sealed, presentation))
}

/** @throws {FormatError} for content that breaks a rule. */
function readDisclosed(sealed: Uint8Array, presentation: Presentation): Bound<DocumentPart> {
  const { sd } = readSealedHeader(sealed)
  if (sdOf(presentation.claims) !== sd)
    throw new FormatError('other_disclosures', 'sd does not match the claims')
  const claims = parseClaims(presentation.claims)
  const document = readDisclosures(claims, presentation.disclosures)
  const { registry, issuerId } = claims
  const { expiresAt } = document
  const validUntil = expiresAt === undefined ? undefined : validUntilOf({ expiresAt })
  return { registry, issuerId, validUntil, document }
}

/**
 * @param input As in {@link verifyPresentation}.
 * @returns The presentation, and the block of its state proof, if it has one, so that the reader
 * can decide whether to trust the hash of that block.
 * @throws {FormatError} `presentation_malformed`.
 *
 * @example
 * ```ts
 * const { block } = readPresentation(presentation)
 * block // => null
 * ```
 */
export function readPresentation(input: unknown): {
  presentation: Presentation
  block: Pick<Header, 'blockNumber' | 'blockHash' | 'blockTime'> | null
} {
  const presentation = parsePresentation(input)
  return { presentation, block: blockOf(presentation) }
}

function blockOf({ stateProof }: Presentation) {
  if (!stateProof) return null
  try {
    const { blockNumber, blockHash, blockTime } = decodeHeader(stateProof.header)
    return { blockNumber, blockHash, blockTime }
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new FormatError('presentation_malformed', 'invalid presentation', {
      cause,
      fields: [{ field: 'stateProof.header', message: 'must be an RLP-encoded block header' }],
    })
  }
}

export type PresentationProofOptions = ProofOptions & {
  onCheck?: (check: Check) => void
}

/**
 * Verifies a presentation by the state proof and the sealed document in it, without any request.
 * The verdict holds as of the proof's block, `asOf`; it does not include later changes such as a
 * revocation.
 *
 * @param input As in {@link verifyPresentation}.
 * @returns A verdict; `unverifiable` when it has no state proof, the block is not trusted or the
 * proof is invalid.
 * @throws {FormatError} `presentation_malformed`.
 *
 * @example
 * ```ts
 * const options = { registry, trustedBlocks: [readBundle(bundle).block.blockHash] }
 * const { status } = await verifyPresentationProof(presentation, options)
 * status // => 'unverifiable'
 * ```
 */
export async function verifyPresentationProof(
  input: unknown,
  options: PresentationProofOptions,
): Promise<PresentationVerdict> {
  const { presentation, block } = readPresentation(input)
  return verifyParsed(presentation, {
    chain: createProofReader(presentation, block, options),
    blocks: [],
    ...(block && { asOf: block.blockNumber }),
    ...(options.onCheck && { onCheck: options.onCheck }),
  })
}
