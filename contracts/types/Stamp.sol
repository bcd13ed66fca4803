// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The block and the time of a write: 80 bits, which the words of a record hold side by side.
///
/// | bits    | value       |
/// | ------- | ----------- |
/// | 0 … 39  | blockNumber |
/// | 40 … 79 | blockTime   |
type Stamp is uint256;

using StampLibrary for Stamp global;

/// @dev `blockNumber` is not 0, and both fit 40 bits: the caller has checked it.
function toStamp(uint256 blockNumber, uint256 blockTime) pure returns (Stamp) {
    return Stamp.wrap(blockNumber | blockTime << 40);
}

library StampLibrary {
    function blockNumber(Stamp stamp) internal pure returns (uint40) {
        return uint40(Stamp.unwrap(stamp));
    }

    function blockTime(Stamp stamp) internal pure returns (uint40) {
        return uint40(Stamp.unwrap(stamp) >> 40);
    }
}
