// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The slot of an account by its address: all that its own calls need.
///
/// | bits      | value        |
/// | --------- | ------------ |
/// | 0 … 15    | accountIndex |
/// | 16 … 23   | permissions  |
/// | 24 … 63   | addedBlock   |
/// | 64 … 103  | changedBlock |
/// | 104 … 143 | retiredBlock |
/// | 144 … 255 | zero         |
type PackedAccount is uint256;

using PackedAccountLibrary for PackedAccount global;

library PackedAccountLibrary {
    uint256 private constant PERMISSIONS_OFFSET = 16;
    uint256 private constant ADDED_BLOCK_OFFSET = 24;
    uint256 private constant CHANGED_BLOCK_OFFSET = 64;
    uint256 private constant RETIRED_BLOCK_OFFSET = 104;
    uint256 private constant PERMISSIONS = 0xff << PERMISSIONS_OFFSET;
    uint256 private constant CHANGED_BLOCK = 0xffffffffff << CHANGED_BLOCK_OFFSET;

    function toPackedAccount(uint16 index, uint8 permissions_, uint40 added)
        internal
        pure
        returns (PackedAccount)
    {
        return PackedAccount.wrap(
            index | uint256(permissions_) << PERMISSIONS_OFFSET
                | uint256(added) << ADDED_BLOCK_OFFSET
        );
    }

    function accountIndex(PackedAccount held) internal pure returns (uint16) {
        return uint16(PackedAccount.unwrap(held));
    }

    function permissions(PackedAccount held) internal pure returns (uint8) {
        return uint8(PackedAccount.unwrap(held) >> PERMISSIONS_OFFSET);
    }

    function addedBlock(PackedAccount held) internal pure returns (uint40) {
        return uint40(PackedAccount.unwrap(held) >> ADDED_BLOCK_OFFSET);
    }

    function changedBlock(PackedAccount held) internal pure returns (uint40) {
        return uint40(PackedAccount.unwrap(held) >> CHANGED_BLOCK_OFFSET);
    }

    function retiredBlock(PackedAccount held) internal pure returns (uint40) {
        return uint40(PackedAccount.unwrap(held) >> RETIRED_BLOCK_OFFSET);
    }

    function changed(PackedAccount held, uint8 permissions_, uint40 block_)
        internal
        pure
        returns (PackedAccount)
    {
        return PackedAccount.wrap(
            PackedAccount.unwrap(held) & ~(PERMISSIONS | CHANGED_BLOCK)
                | uint256(permissions_) << PERMISSIONS_OFFSET
                | uint256(block_) << CHANGED_BLOCK_OFFSET
        );
    }

    function retired(PackedAccount held, uint40 block_) internal pure returns (PackedAccount) {
        return PackedAccount.wrap(
            PackedAccount.unwrap(held) & ~PERMISSIONS | uint256(block_) << RETIRED_BLOCK_OFFSET
        );
    }
}
