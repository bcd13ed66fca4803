const CHANGES_STATE =
  /^(anvil|evm|hardhat|tenderly|wallet|miner|personal|admin)_|^eth_send/

const READS_OF_THESE_NAMESPACES = new Set([
  'anvil_nodeInfo',
  'anvil_dumpState',
  'hardhat_dumpState',
  'anvil_metadata',
  'hardhat_metadata',
  'anvil_getAutomine',
  'hardhat_getAutomine',
  'anvil_getIntervalMining',
])

/**
 * Whether a method changes Anvil's state. Those that the journal remembers are listed in write-requests.ts; the others
 * (snapshots, impersonation, setting code or storage, …) are refused: Anvil would run ahead of the journal, and the next
 * start would bring back another chain. Who needs them starts an Anvil of their own.
 */
export const changesState = (method: string): boolean =>
  CHANGES_STATE.test(method) && !READS_OF_THESE_NAMESPACES.has(method)
