export {
  type Batch,
  buildBatch,
  recountBatch,
} from './batch/batch.ts'
export {
  type BatchBlock,
  decodeBatchBlock,
  encodeBatchBlock,
  provesRoot,
} from './batch/block.ts'
export type { BatchEntry } from './batch/entry.ts'
export { MAX_BATCH_SIZE } from './batch/manifest.ts'
export { fromCanonical, toCanonical } from './canonical.ts'
export { cidOf, hashOfCid } from './cid.ts'
export { type Credential, isCredential, parseCredential } from './credential.ts'
export {
  type Claims,
  type Disclosure,
  type Disclosures,
  disclose,
  parseClaims,
  parseDisclosure,
  readDisclosures,
  sdOf,
} from './disclosures.ts'
export {
  type Document,
  type DocumentFields,
  type DocumentPart,
  decodeDocument,
  encodeDocument,
  MAX_METADATA_BYTES,
  parseDocumentFields,
  validUntilOf,
} from './document.ts'
export {
  type FieldProblem,
  FormatError,
  type FormatErrorCode,
} from './errors.ts'
export { fromHex, type Hex, toHex } from './hex.ts'
export { type JsonValue, parseStrictJson } from './json.ts'
export type { P256Key } from './jwk.ts'
export {
  deriveSealingKeys,
  deriveSubkeys,
  type IdempotentRequest,
  type IssuerSubkeys,
  idempotentSalt,
  randomSalt,
  type SealingKeys,
} from './keys.ts'
export {
  type Choice,
  choicesOf,
  createPresentation,
  encodePresentation,
  isPresentationFile,
  type Presentation,
  type PresentationSource,
  parsePresentation,
} from './presentation.ts'
export {
  decodePresentationLink,
  encodePresentationLink,
  isPresentationLink,
  MAX_QR_LINK,
} from './presentation-link.ts'
export {
  decodePublicId,
  encodePublicId,
  type PublicId,
} from './public-id.ts'
export {
  formatRegistryId,
  isRegistryId,
  parseRegistryId,
  type RegistryId,
} from './registry-id.ts'
export {
  decodeOpened,
  type Opened,
  open,
  openDocument,
  readSealedHeader,
  type Seal,
  type Sealed,
  type SealedHeader,
  seal,
} from './sealed.ts'
export type { SlotProof, StateProof } from './state-proof.ts'
export { readVerifyLink, type VerifyLink } from './verify-link.ts'
