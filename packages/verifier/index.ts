export { FormatError, type FormatErrorCode } from '../document/errors.ts'
export type { SlotProof, StateProof } from '../document/state-proof.ts'
export {
  type Bundle,
  type BundleOptions,
  type BundleSource,
  createBundle,
  readBundle,
  verifyBundle,
} from './bundle.ts'
export { type CredentialOptions, verifyCredential } from './credential.ts'
export { ChainError, type ChainErrorCode, RpcResponseError } from './errors.ts'
export {
  type IdentityAddress,
  type IdentityStatement,
  identityAddressOf,
  parseDomain,
  readDidDocument,
} from './identity.ts'
export { type Network, networkOf, TEST_NETWORK } from './network.ts'
export type {
  BatchPath,
  BlockRead,
  BlockSource,
  ChainReader,
  ChainReading,
  DocumentKey,
  Eip1193Provider,
  Finality,
  IdentityRead,
  IdentitySource,
  IssuedEvent,
  OpenedDocuments,
  ReadOptions,
  RegistryAccount,
  RegistryIssuer,
  RegistryRecord,
  RegistryStatus,
} from './ports.ts'
export {
  type PresentationProofOptions,
  readPresentation,
  verifyPresentation,
  verifyPresentationProof,
} from './presentation.ts'
export {
  type Completeness,
  type CompletenessOptions,
  type CompletenessProof,
  type IssuedKeys,
  type Listed,
  type ListedBatch,
  type ListedDocument,
  type Listing,
  verifyCompleteness,
} from './proof/completeness.ts'
export { readStateProof } from './proof/state-proof.ts'
export { createChainReader } from './readers/chain.ts'
export {
  type CompletenessSource,
  createCompletenessProof,
  readCompleteness,
} from './readers/completeness.ts'
export type { FinalityRule } from './readers/finality.ts'
export {
  createIdentitySource,
  type IdentitySourceOptions,
} from './readers/identity-source.ts'
export { createIpfsGatewaySource } from './readers/ipfs-gateway.ts'
export {
  collectIssued,
  type IssuedKeysOptions,
  type IssuedList,
} from './readers/issued-logs.ts'
export {
  createFetchProvider,
  createProvider,
  type JsonRpcTransport,
} from './readers/json-rpc.ts'
export { createProvingReader, fetchProof } from './readers/proof.ts'
export { createQuorumReader } from './readers/quorum.ts'
export type { ProofOptions } from './readers/state-proof.ts'
export type {
  AccountProof,
  BlockchainProof,
  Check,
  CheckName,
  Judgement,
  PresentationVerdict,
  Verdict,
  VerdictStatus,
} from './verdict.ts'
export { type VerifyOptions, verify } from './verify.ts'
