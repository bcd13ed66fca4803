import { ChainError, RpcResponseError } from '../errors.ts'

/** A revert in the EVM: of most clients, and of Nethermind. */
const REVERTS = [3, -32015]
/** JSON-RPC 2.0. */
const INVALID_PARAMS = -32602
/** A transaction that the pool rejects (EIP-1474), and every rejection of Nethermind. */
const REJECTIONS = [-32003, -32010]
/** Methods whose answer may be about the transaction, which clients say in words alone. */
const ABOUT_TRANSACTION = ['eth_sendRawTransaction', 'eth_estimateGas', 'eth_call']
const OF_TRANSACTION =
  /nonce|\bgas\b|\bfees?\b|funds|balance|cost|underpriced|known transaction|already (known|imported)|existing tx|could not replace|\btransaction type|oversized|sender|signature|chain ?id/i

/**
 * An error of the node itself is no answer: another node may answer the call.
 *
 * @returns Whether an error answers a call, as every node of the chain would.
 */
export function isAnswer(method: string, error: unknown): boolean {
  const cause = error instanceof ChainError ? error.cause : error
  if (!(cause instanceof RpcResponseError)) return false
  const { code, message } = cause
  if (code === INVALID_PARAMS || isRevert(cause)) return true
  return (
    ABOUT_TRANSACTION.includes(method) &&
    (REJECTIONS.includes(code) || OF_TRANSACTION.test(message))
  )
}

function isRevert({ code, message, data }: RpcResponseError): boolean {
  const hasReason = typeof data === 'string' && /^0x[0-9a-f]*$/i.test(data)
  return REVERTS.includes(code) || hasReason || /revert/i.test(message)
}
