import { type Call, INVALID_PARAMS, quantityOf, RpcError, resultFor } from './rpc.ts'
import type { Writer } from './writer.ts'

const MAX_BLOCKS = 1_000
/**
 * The latest time in Unix seconds. The registry stores times in 40 bits, and a chain's clock cannot
 * go back.
 */
const MAX_TIME = 2 ** 40 - 1
const BYTES = /^0x([0-9a-f]{2})*$/i
const ADDRESS = /^0x[0-9a-f]{40}$/i
const AMOUNT = /^0x[0-9a-f]{1,64}$/i

/** @returns The text of the answer. @throws {RpcError} */
type Handler = (writer: Writer, call: Call) => Promise<string>

/**
 * The methods that go to Anvil because they do not change its state. Methods in neither list,
 * including unknown ones, are refused: a change without an entry in the journal would be lost at
 * the next start. For snapshots or impersonation, start your own Anvil.
 */
export const READS: ReadonlySet<string> = new Set(
  `
  anvil_dumpState anvil_getIntervalMining anvil_metadata anvil_nodeInfo debug_getRawTransaction
  debug_traceBlockByHash debug_traceBlockByNumber debug_traceCall debug_traceTransaction
  eth_accounts eth_blobBaseFee eth_blockNumber eth_call eth_chainId eth_coinbase eth_config
  eth_createAccessList eth_estimateGas eth_feeHistory eth_fillTransaction eth_gasPrice
  eth_getAccount eth_getAccountInfo eth_getBalance eth_getBlockByHash eth_getBlockByNumber
  eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber
  eth_getCode eth_getFilterChanges eth_getFilterLogs eth_getLogs eth_getProof
  eth_getRawTransactionByHash eth_getStorageAt eth_getTransactionByBlockHashAndIndex
  eth_getTransactionByBlockNumberAndIndex eth_getTransactionByHash eth_getTransactionCount
  eth_getTransactionReceipt eth_maxPriorityFeePerGas eth_networkId eth_newBlockFilter eth_newFilter
  eth_newPendingTransactionFilter eth_protocolVersion eth_requestAccounts eth_sign
  eth_signTransaction eth_signTypedData eth_signTypedData_v3 eth_signTypedData_v4 eth_simulateV1
  eth_syncing eth_uninstallFilter hardhat_metadata net_listening net_version personal_sign
  trace_block trace_filter trace_replayBlockTransactions trace_transaction txpool_content
  txpool_inspect txpool_status web3_clientVersion web3_sha3
  `
    .trim()
    .split(/\s+/),
)

/** The methods that change the chain, which the journal records. */
export const WRITES: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['eth_sendRawTransaction', sendRaw],
  ['eth_sendTransaction', sendUnsigned],
  ['evm_mine', mineOne],
  ['anvil_mine', mineMany],
  ['hardhat_mine', mineMany],
  ['evm_increaseTime', increaseTime],
  ['anvil_setBalance', setBalance],
  ['hardhat_setBalance', setBalance],
])

async function sendRaw(writer: Writer, call: Call): Promise<string> {
  const [raw, ...more] = paramsOf(call)
  // Anvil accepts other forms too, but the journal stores only this one.
  if (typeof raw !== 'string' || !BYTES.test(raw) || more.length > 0)
    throw invalid(call, 'requires a signed transaction in hexadecimal, with 0x')
  return resultFor(call, await writer.transact(raw))
}

/**
 * Signs the transaction first, because for an unsigned one a replay could fill in another gas limit
 * or nonce.
 */
async function sendUnsigned(writer: Writer, call: Call): Promise<string> {
  const [result] = await writer.submit(async () => {
    const raw = await writer.chain.anvil.call<string>('eth_signTransaction', ...paramsOf(call))
    return { method: 'eth_sendRawTransaction', params: [raw] }
  })
  return resultFor(call, result)
}

async function mineOne(writer: Writer, call: Call): Promise<string> {
  if (paramsOf(call).length > 0) throw invalid(call, 'takes no parameters on the local chain')
  await writer.submit(() => ({ method: 'evm_mine', params: [1, 0] }))
  return resultFor(call, '0x0')
}

async function mineMany(writer: Writer, call: Call): Promise<string> {
  const [blocks = 1, seconds = 0] = paramsOf(call)
  const count = quantityOf(blocks)
  const interval = quantityOf(seconds)
  if (count === undefined || interval === undefined || count > MAX_BLOCKS)
    throw invalid(
      call,
      `takes a number of blocks, at most ${MAX_BLOCKS}, and the seconds between them`,
    )
  const duration = Math.max(0, count - 1) * interval
  await writer.submit(() => {
    assertInTime(call, writer.chain.now + duration)
    return { method: 'evm_mine', params: [count, interval], ahead: duration }
  })
  return resultFor(call, null)
}

async function increaseTime(writer: Writer, call: Call): Promise<string> {
  const seconds = quantityOf(paramsOf(call)[0])
  if (seconds === undefined) throw invalid(call, 'requires a number of seconds')
  let offset = seconds
  await writer.submit(() => {
    assertInTime(call, writer.chain.now + seconds)
    offset += writer.chain.offset
    return { method: 'evm_increaseTime', params: [seconds], ahead: seconds }
  })
  return resultFor(call, offset)
}

async function setBalance(writer: Writer, call: Call): Promise<string> {
  const [address, wei, ...more] = paramsOf(call)
  const isAmount = (typeof wei === 'string' && AMOUNT.test(wei)) || quantityOf(wei) !== undefined
  if (typeof address !== 'string' || !ADDRESS.test(address) || !isAmount || more.length > 0)
    throw invalid(call, 'requires an address and an amount in wei')
  const [result] = await writer.submit(() => ({
    method: 'anvil_setBalance',
    params: [address, wei],
  }))
  return resultFor(call, result)
}

function assertInTime(call: Call, time: number): void {
  if (time > MAX_TIME) throw invalid(call, `must not go beyond ${MAX_TIME}, the last possible time`)
}

function invalid({ method }: Call, problem: string): RpcError {
  return new RpcError(INVALID_PARAMS, `${method} ${problem}`)
}

function paramsOf({ params }: Call): unknown[] {
  return Array.isArray(params) ? params : []
}
