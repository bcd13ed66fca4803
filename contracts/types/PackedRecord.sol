// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Stamp} from "./Stamp.sol";

/// @dev The slot of a document or a batch. Issuing writes the anchoring part only, revoking and
/// releasing write the revocation part only.
///
/// | bits      | value         | part       |
/// | --------- | ------------- | ---------- |
/// | 0 … 15    | accountIndex  | anchoring  |
/// | 16 … 55   | anchoredBlock | anchoring  |
/// | 56 … 95   | anchoredAt    | anchoring  |
/// | 96 … 135  | validUntil of a document, size of a batch | anchoring |
/// | 136 … 151 | revokerIndex  | revocation |
/// | 152 … 191 | revokedBlock  | revocation |
/// | 192 … 231 | revokedAt     | revocation |
/// | 232 … 239 | reason        | revocation |
/// | 240       | setAside      | revocation |
/// | 241 … 255 | zero          |            |
type PackedRecord is uint256;

using PackedRecordLibrary for PackedRecord global;

/// @dev Reasons of RFC 5280 §5.3.1 that this registry treats apart.
uint8 constant REASON_SUPERSEDED = 4;
uint8 constant REASON_SUSPENDED = 6;
uint8 constant REASON_RELEASED = 8;

library PackedRecordLibrary {
    uint256 private constant ANCHORED_BLOCK_OFFSET = 16;
    uint256 private constant ANCHORED_AT_OFFSET = 56;
    uint256 private constant VALID_UNTIL_OFFSET = 96;
    uint256 private constant REVOKER_INDEX_OFFSET = 136;
    uint256 private constant REVOKED_BLOCK_OFFSET = 152;
    uint256 private constant REVOKED_AT_OFFSET = 192;
    uint256 private constant REASON_OFFSET = 232;
    uint256 private constant SET_ASIDE = 1 << 240;
    uint256 private constant ANCHORING = (1 << REVOKER_INDEX_OFFSET) - 1;

    function accountIndex(PackedRecord record) internal pure returns (uint16) {
        return uint16(PackedRecord.unwrap(record));
    }

    function anchoredBlock(PackedRecord record) internal pure returns (uint40) {
        return uint40(PackedRecord.unwrap(record) >> ANCHORED_BLOCK_OFFSET);
    }

    function anchoredAt(PackedRecord record) internal pure returns (uint40) {
        return uint40(PackedRecord.unwrap(record) >> ANCHORED_AT_OFFSET);
    }

    function validUntil(PackedRecord record) internal pure returns (uint40) {
        return uint40(PackedRecord.unwrap(record) >> VALID_UNTIL_OFFSET);
    }

    function size(PackedRecord record) internal pure returns (uint40) {
        return validUntil(record);
    }

    function revokerIndex(PackedRecord record) internal pure returns (uint16) {
        return uint16(PackedRecord.unwrap(record) >> REVOKER_INDEX_OFFSET);
    }

    function revokedBlock(PackedRecord record) internal pure returns (uint40) {
        return uint40(PackedRecord.unwrap(record) >> REVOKED_BLOCK_OFFSET);
    }

    function revokedAt(PackedRecord record) internal pure returns (uint40) {
        return uint40(PackedRecord.unwrap(record) >> REVOKED_AT_OFFSET);
    }

    function reason(PackedRecord record) internal pure returns (uint8) {
        return uint8(PackedRecord.unwrap(record) >> REASON_OFFSET);
    }

    function setAside(PackedRecord record) internal pure returns (bool) {
        return PackedRecord.unwrap(record) & SET_ASIDE != 0;
    }

    function isAnchored(PackedRecord record) internal pure returns (bool) {
        return anchoredBlock(record) != 0;
    }

    /// @dev Whether the revocation part is a final revocation.
    function isRevoked(PackedRecord record) internal pure returns (bool) {
        uint8 code = reason(record);
        return revokedBlock(record) != 0 && code != REASON_SUSPENDED && code != REASON_RELEASED;
    }

    /// @dev The anchoring part of all that one account issues in one block, still without the
    /// expiry or size.
    function anchoring(uint16 index, Stamp stamp) internal pure returns (PackedRecord) {
        return PackedRecord.wrap(index | Stamp.unwrap(stamp) << ANCHORED_BLOCK_OFFSET);
    }

    /// @dev The revocation part of all that one account revokes in one block for one reason.
    function revocation(uint16 index, Stamp stamp, uint8 code)
        internal
        pure
        returns (PackedRecord)
    {
        return PackedRecord.wrap(
            uint256(index) << REVOKER_INDEX_OFFSET | Stamp.unwrap(stamp) << REVOKED_BLOCK_OFFSET
                | uint256(code) << REASON_OFFSET
        );
    }

    /// @dev The record with a new anchoring part; the revocation part stays.
    /// @param limit The expiry of a document, the size of a batch.
    function anchored(PackedRecord record, PackedRecord part, uint40 limit)
        internal
        pure
        returns (PackedRecord)
    {
        return PackedRecord.wrap(
            PackedRecord.unwrap(record) & ~ANCHORING | PackedRecord.unwrap(part)
                | uint256(limit) << VALID_UNTIL_OFFSET
        );
    }

    /// @dev The record with a new revocation part; the anchoring part stays, and so does
    /// `setAside`.
    function revised(PackedRecord record, PackedRecord part) internal pure returns (PackedRecord) {
        uint256 kept = PackedRecord.unwrap(record) & (ANCHORING | SET_ASIDE);
        return PackedRecord.wrap(kept | PackedRecord.unwrap(part));
    }

    function markedSetAside(PackedRecord record) internal pure returns (PackedRecord) {
        return PackedRecord.wrap(PackedRecord.unwrap(record) | SET_ASIDE);
    }

    /// @dev The record of a document in a batch: the batch's anchoring part with the expiry of the
    /// leaf, and the revocation of one of the two.
    /// @param ofBatch Whether that is the batch's.
    function inBatch(
        PackedRecord document,
        PackedRecord batch,
        bool ofBatch,
        uint40 leafValidUntil
    ) internal pure returns (PackedRecord record) {
        record = anchored(
            ofBatch ? batch : document,
            PackedRecord.wrap(PackedRecord.unwrap(batch) & (1 << VALID_UNTIL_OFFSET) - 1),
            leafValidUntil
        );
        if (setAside(document) || setAside(batch)) record = markedSetAside(record);
    }
}
