import { clock } from '#base/clock.ts'
import { validUntilOf } from '#document/document.ts'
import type { P256Key } from '#document/jwk.ts'
import { choicesOf, createPresentation, type PresentationSource } from '#document/presentation.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { openDocument } from '#document/sealed.ts'
import type { CredentialKeys } from '#parts/credential-keys.ts'
import { type IdentityAddress, uriOf } from '#verifier/identity.ts'

/** How a credential names its issuer. Some wallets know only one of the two. */
export type Naming = 'https' | 'did:web'

/** What a credential says besides its document. */
export type CredentialContext = {
  keys: CredentialKeys
  /** The issuer's domain. */
  own: IdentityAddress
  naming: Naming
  /** The wallet's public key. */
  holder: P256Key
  /** The kind of the document. `integrity` is that of its type metadata, if there are any. */
  type: { vct: string; integrity?: string }
  /** The place of the document in a status list. */
  status: { uri: string; idx: number }
}

const SECONDS_PER_DAY = 86_400

/**
 * Makes an SD-JWT VC of a document (docs/formats.md, "The credential"). Its digests and disclosures
 * are those that were sealed, so a credential says the same as its document, or nothing.
 *
 * @param source The document; its publicId is not in the credential.
 * @returns The credential with all disclosures, in compact form.
 * @throws {FormatError} as `createPresentation`.
 */
export async function createCredential(
  source: Pick<PresentationSource, 'publicId' | 'sealed' | 'batchBlock'>,
  { keys, own, naming, holder, type, status }: CredentialContext,
): Promise<string> {
  const document = await openDocument(source.sealed, decodePublicId(source.publicId).documentKey)
  const { claims, disclosures, documentHash, batch } = await createPresentation({
    ...source,
    choose: choicesOf(document),
  })
  const validUntil = validUntilOf(document)
  const { kty, crv, x, y } = holder
  const payload = {
    ...claims,
    documentHash,
    ...(batch && { batch }),
    vct: type.vct,
    ...(type.integrity !== undefined && { 'vct#integrity': type.integrity }),
    iss: naming === 'https' ? uriOf(own) : own.did,
    // The day does not tell when the holder fetched it.
    iat: Math.floor(clock.wall() / 1000 / SECONDS_PER_DAY) * SECONDS_PER_DAY,
    ...(validUntil !== 0 && { exp: validUntil }),
    cnf: { jwk: { kty, crv, x, y } },
    status: { status_list: status },
  }
  const signed = await keys.sign({ typ: 'dc+sd-jwt', ...keyNameOf(keys, own, naming) }, payload)
  return `${[signed, ...disclosures].join('~')}~`
}

/** Wallets refuse a header with both `x5c` and `kid`. */
function keyNameOf(
  { published: [{ kid }], x5c }: CredentialKeys,
  { did }: IdentityAddress,
  naming: Naming,
) {
  if (naming === 'did:web') return { kid: `${did}#${kid}` }
  return x5c ? { x5c } : { kid }
}

/** The registry and issuer that a kind of document belongs to. */
type Kind = { registry: RegistryId; issuerId: number; category: string }

/** @returns The type of documents whose issuer has published no type metadata. */
export function plainTypeOf({ registry, issuerId, category }: Kind): CredentialContext['type'] {
  return { vct: `urn:document-registry:${registry}:${issuerId}:${category}` }
}
