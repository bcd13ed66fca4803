// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The slot of an account by its index: all that the status of a record needs.
///
/// | bits      | value          |
/// | --------- | -------------- |
/// | 0 … 159   | account        |
/// | 160 … 199 | distrustedFrom |
/// | 200 … 255 | zero           |
type PackedSigner is uint256;

using PackedSignerLibrary for PackedSigner global;

library PackedSignerLibrary {
    uint256 private constant DISTRUSTED_FROM_OFFSET = 160;

    function toPackedSigner(address account_, uint40 distrustedFrom_)
        internal
        pure
        returns (PackedSigner)
    {
        return PackedSigner.wrap(
            uint160(account_) | uint256(distrustedFrom_) << DISTRUSTED_FROM_OFFSET
        );
    }

    function account(PackedSigner signer) internal pure returns (address) {
        return address(uint160(PackedSigner.unwrap(signer)));
    }

    function distrustedFrom(PackedSigner signer) internal pure returns (uint40) {
        return uint40(PackedSigner.unwrap(signer) >> DISTRUSTED_FROM_OFFSET);
    }

    /// @dev Whether what the account did in a block is distrusted.
    function isDistrustedAt(PackedSigner signer, uint40 block_) internal pure returns (bool) {
        uint40 from = distrustedFrom(signer);
        return from != 0 && block_ >= from;
    }
}
