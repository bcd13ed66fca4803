export { fromCanonical, toCanonical } from './canonical.ts'
export { cidOf, hashOfCid } from './cid.ts'
export {
  type Document,
  type DocumentFields,
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
  decodePublicId,
  encodePublicId,
  type PublicId,
} from './public-id.ts'
export { open, type Seal, type Sealed, saltOf, seal } from './sealed.ts'
