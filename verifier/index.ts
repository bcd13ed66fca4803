export { FormatError } from '../document/errors.ts'
export { ChainError, RpcResponseError } from './errors.ts'
export type {
  BlockRead,
  BlockSource,
  ChainReader,
  Eip1193Provider,
  Finality,
  ReadOptions,
} from './ports.ts'
export { createChainReader } from './readers/chain.ts'
export { createIpfsGatewaySource } from './readers/ipfs-gateway.ts'
export { createFetchProvider } from './readers/json-rpc.ts'
export type {
  BlockchainProof,
  Check,
  CheckName,
  Verdict,
  VerdictStatus,
} from './verdict.ts'
export { type VerifyOptions, verify } from './verify.ts'
