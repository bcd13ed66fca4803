// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IArbSys
/// @notice The precompile of Arbitrum chains, at address 100, that knows the number of the chain's
/// own block.
interface IArbSys {
    /// @notice The number of the current block of this chain, as `eth_getLogs` counts.
    function arbBlockNumber() external view returns (uint256);
}
