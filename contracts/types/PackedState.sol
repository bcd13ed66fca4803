// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The first slot of an issuer.
///
/// | bits      | value         |
/// | --------- | ------------- |
/// | 0 … 39    | documentCount |
/// | 40 … 79   | batchCount    |
/// | 80 … 95   | accountCount  |
/// | 96 … 135  | changedBlock  |
/// | 136 … 175 | closedBlock   |
/// | 176 … 255 | zero          |
///
/// Counts of 40 bits cannot overflow: each document or batch takes a write of its own.
type PackedState is uint256;

using PackedStateLibrary for PackedState global;

library PackedStateLibrary {
    uint256 private constant BATCH_COUNT_OFFSET = 40;
    uint256 private constant ACCOUNT_COUNT_OFFSET = 80;
    uint256 private constant CHANGED_BLOCK_OFFSET = 96;
    uint256 private constant CLOSED_BLOCK_OFFSET = 136;
    uint256 private constant COUNTS = (1 << CHANGED_BLOCK_OFFSET) - 1;

    function documentCount(PackedState state) internal pure returns (uint40) {
        return uint40(PackedState.unwrap(state));
    }

    function batchCount(PackedState state) internal pure returns (uint40) {
        return uint40(PackedState.unwrap(state) >> BATCH_COUNT_OFFSET);
    }

    function accountCount(PackedState state) internal pure returns (uint16) {
        return uint16(PackedState.unwrap(state) >> ACCOUNT_COUNT_OFFSET);
    }

    function changedBlock(PackedState state) internal pure returns (uint40) {
        return uint40(PackedState.unwrap(state) >> CHANGED_BLOCK_OFFSET);
    }

    function closedBlock(PackedState state) internal pure returns (uint40) {
        return uint40(PackedState.unwrap(state) >> CLOSED_BLOCK_OFFSET);
    }

    function oneMoreDocument(PackedState state) internal pure returns (PackedState) {
        return _plus(state, 1);
    }

    function oneMoreBatch(PackedState state) internal pure returns (PackedState) {
        return _plus(state, 1 << BATCH_COUNT_OFFSET);
    }

    /// @dev The caller has checked that the count is not at its maximum.
    function oneMoreAccount(PackedState state) internal pure returns (PackedState) {
        return _plus(state, 1 << ACCOUNT_COUNT_OFFSET);
    }

    /// @dev The state after a change by the admin.
    /// @param closed The block in which the issuer was closed; 0 = open.
    function changed(PackedState state, uint40 block_, uint40 closed)
        internal
        pure
        returns (PackedState)
    {
        return PackedState.wrap(
            PackedState.unwrap(state) & COUNTS | uint256(block_) << CHANGED_BLOCK_OFFSET
                | uint256(closed) << CLOSED_BLOCK_OFFSET
        );
    }

    function _plus(PackedState state, uint256 one) private pure returns (PackedState) {
        unchecked {
            return PackedState.wrap(PackedState.unwrap(state) + one);
        }
    }
}
