import { encodeBase64url } from '#document/base64url.ts'
import { decodeBatchBlock } from '#document/batch/block.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { toCanonical } from '#document/canonical.ts'
import { toHex } from '#document/hex.ts'
import { choicesOf, createPresentation, type Presentation } from '#document/presentation.ts'
import { encodePublicId } from '#document/public-id.ts'
import { openDocument } from '#document/sealed.ts'
import { credentialOf } from '../credentials.ts'
import type { Present } from './case.ts'
import { disclosureOf, type Lied } from './liar.ts'
import type { Made } from './made.ts'

/** @returns The presentation file or credential of a case, with all changes that the case makes to it. */
export async function presentationOf(
  name: string,
  present: Present,
  { made, another, lied }: { made: Made; another: Made; lied: Lied | undefined },
): Promise<string> {
  if (present.text !== undefined) return present.text
  const { fields, metadata, sealed } = present
  const truth = lied ? presentLie(made, lied) : await presentationFrom(made, { fields, metadata })
  const other = await presentationFrom(another)
  const taken = present.fromAnother.map((member) => [member, other[member]])
  const forged = present.forged.map(([key, value]) => disclosureOf(name, key, value))
  const file: Presentation = {
    ...truth,
    sealed: sealed ? truth.sealed : null,
    ...Object.fromEntries(taken),
  }
  const { disclosures } = file
  const all = [...disclosures, ...forged]
  const shown = { ...file, disclosures: present.repeated ? [...all, ...all] : all }
  if (present.credential) return credentialFrom(shown, made, present.credential)
  return decodeUtf8(toCanonical(changed(shown, present.change)))
}

/** @returns The credential that shows a presentation, which expires with the document. */
function credentialFrom(
  shown: Presentation,
  { validUntil }: Made,
  { payload, behind, ...parts }: NonNullable<Present['credential']>,
): string {
  const exp = validUntil === 0 ? null : validUntil
  return credentialOf(shown, { ...parts, payload: { exp, ...payload } }) + behind
}

/** Discloses everything by default. Includes the sealed document. */
async function presentationFrom(
  { bytes, hash, documentKey, batch }: Made,
  choose?: { fields: string[]; metadata: string[] },
): Promise<Presentation> {
  return createPresentation({
    publicId: encodePublicId({
      kind: batch ? 'batch' : 'single',
      issuerId: 1,
      hash: batch?.hash ?? hash,
      documentKey,
    }),
    sealed: bytes,
    ...(batch && { batchBlock: batch.bytes }),
    choose: choose ?? choicesOf(await openDocument(bytes, documentKey)),
    includeSealed: true,
  })
}

function presentLie({ bytes, hash, batch }: Made, { claims, disclosures }: Lied): Presentation {
  return {
    type: 'document-registry-presentation',
    v: 1,
    registry: claims.registry,
    issuerId: claims.issuerId,
    documentHash: toHex(hash),
    claims,
    disclosures,
    batch: batch ? pathOf(batch.bytes) : null,
    sealed: decodeUtf8(bytes),
    stateProof: null,
  }
}

function pathOf(batchBlock: Uint8Array): Presentation['batch'] {
  const { root, validUntil, proof } = decodeBatchBlock(batchBlock)
  return { root, validUntil, proof: encodeBase64url(proof) }
}

/** Replaces members of the file; merges where both are objects. */
function changed(file: object, change: object): object {
  const isObject = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const before = new Map<string, unknown>(Object.entries(file))
  const after = Object.entries(change).map(([name, value]) => {
    const old = before.get(name)
    return [name, isObject(old) && isObject(value) ? { ...old, ...value } : value]
  })
  return { ...file, ...Object.fromEntries(after) }
}
