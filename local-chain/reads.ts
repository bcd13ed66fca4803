/**
 * The methods that go to Anvil because they do not change its state; writes.ts has those that
 * change it, which the journal records. All other methods are refused, unknown ones too: a change
 * without an entry in the journal would be lost at the next start. For snapshots or impersonation,
 * start your own Anvil.
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
