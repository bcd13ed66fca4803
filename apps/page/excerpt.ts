import { decodeUtf8 } from '#document/bytes.ts'
import { fromHex } from '#document/hex.ts'
import {
  type Choice,
  createPresentation,
  encodePresentation,
  type Presentation,
} from '#document/presentation.ts'
import { encodePresentationLink } from '#document/presentation-link.ts'
import { decodePublicId } from '#document/public-id.ts'
import { isExcerpt } from './input.ts'
import { blockWith } from './readers.ts'
import type { Done, TextFile } from './state.ts'

/** An excerpt in the forms that its holder can pass on. */
export type Excerpt = {
  file: TextFile
  /** Absent if the excerpt is too long for a link or the page has no address. */
  link?: string
}

/**
 * Makes an excerpt from data that the page has already read, without any request.
 *
 * @throws {FormatError} for a field that the document does not have.
 */
export async function makeExcerpt(
  { subject, blocks, verdict }: Done,
  choose: Choice,
): Promise<Excerpt> {
  const documentHash = verdict.blockchainProof?.documentHash
  if (isExcerpt(subject) || documentHash === undefined)
    throw new Error('not a document that was read')
  const { publicId } = subject
  const sealed = blockWith(fromHex(documentHash), blocks)
  if (!sealed) throw new Error('the sealed document was not read')
  const { kind, hash } = decodePublicId(publicId)
  const batchBlock = kind === 'batch' ? blockWith(hash, blocks) : undefined
  const presentation = await createPresentation({
    publicId,
    sealed,
    ...(batchBlock && { batchBlock }),
    choose,
    // The sealed document is included, so that the file works without any source. It would make a
    // link too long.
    includeSealed: true,
  })
  const link = await linkTo(presentation)
  return {
    file: fileOf(presentation),
    ...(link !== undefined && { link }),
  }
}

/**
 * @returns The file. Others may see its name, so it contains only a part of the documentHash, which
 * is public.
 */
export function fileOf(presentation: Presentation): TextFile {
  return {
    name: `excerpt-${presentation.documentHash.slice(2, 10)}.json`,
    text: decodeUtf8(encodePresentation(presentation)),
  }
}

async function linkTo(presentation: Presentation): Promise<string | undefined> {
  if (!location.protocol.startsWith('http')) return undefined
  return encodePresentationLink(location.origin + location.pathname, {
    ...presentation,
    sealed: null,
    stateProof: null,
  })
}
