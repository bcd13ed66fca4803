// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The slot of the admin's proposal for an issuer; zero when there is none.
///
/// | bits      | value      |
/// | --------- | ---------- |
/// | 0 … 159   | account    |
/// | 160 … 199 | acceptFrom |
/// | 200 … 255 | zero       |
type PackedProposal is uint256;

using PackedProposalLibrary for PackedProposal global;

library PackedProposalLibrary {
    uint256 private constant ACCEPT_FROM_OFFSET = 160;
    uint40 private constant ACCEPT_WINDOW = 30 days;

    function toPackedProposal(address account_, uint40 acceptFrom_)
        internal
        pure
        returns (PackedProposal)
    {
        return PackedProposal.wrap(uint160(account_) | uint256(acceptFrom_) << ACCEPT_FROM_OFFSET);
    }

    function account(PackedProposal proposal) internal pure returns (address) {
        return address(uint160(PackedProposal.unwrap(proposal)));
    }

    function acceptFrom(PackedProposal proposal) internal pure returns (uint40) {
        return uint40(PackedProposal.unwrap(proposal) >> ACCEPT_FROM_OFFSET);
    }

    /// @dev 0 when there is no proposal. The sum stops at the greatest time that fits.
    function acceptUntil(PackedProposal proposal) internal pure returns (uint40) {
        uint40 from = acceptFrom(proposal);
        if (from == 0) return 0;
        return from > type(uint40).max - ACCEPT_WINDOW
            ? type(uint40).max
            : from + ACCEPT_WINDOW;
    }
}
