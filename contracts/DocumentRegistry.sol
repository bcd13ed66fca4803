// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {IDocumentRegistry} from "./IDocumentRegistry.sol";

/// @title DocumentRegistry
/// @notice See {IDocumentRegistry}. No proxy, no pause, no upgrade.
contract DocumentRegistry is IDocumentRegistry, AccessControlDefaultAdminRules {
    /// @notice Held by exactly the active accounts of the issuer table.
    bytes32 public constant ISSUER_ROLE = keccak256("ISSUER_ROLE");
    /// @notice May revoke any document, for issuers whose keys are lost.
    bytes32 public constant REVOKER_ROLE = keccak256("REVOKER_ROLE");

    /// @custom:storage-location erc7201:document-registry.storage
    struct Storage {
        /// documentHash => packed Record
        mapping(bytes32 => uint256) records;
        /// account => issuerId 32 | accountIndex 16 | active 8
        mapping(address => uint256) accounts;
        /// issuerId => accountIndex => account 160
        mapping(uint32 => mapping(uint16 => uint256)) accountsOf;
        mapping(uint32 => Issuer) issuers;
        uint32 issuerCount;
    }

    // keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1)) & ~bytes32(uint256(0xff))
    bytes32 private constant STORAGE_LOCATION =
        keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1)) & ~bytes32(uint256(0xff));

    uint256 private constant ACTIVE = 1 << 48;
    uint256 private constant ISSUER_AND_INDEX = (1 << 48) - 1;
    uint256 private constant REVOCATION_SHIFT = 168;

    /// @param admin Holder of DEFAULT_ADMIN_ROLE; its transfer takes two steps and `adminDelay` seconds.
    constructor(address admin, uint48 adminDelay) AccessControlDefaultAdminRules(adminDelay, admin) {}

    // ---- issuers ----------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function registerIssuer(address account, string calldata name, string calldata uri)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        returns (uint32 issuerId)
    {
        if (account == address(0)) revert ZeroAccount();
        if (bytes(name).length == 0) revert EmptyName();
        Storage storage $ = _storage();
        uint256 taken = $.accounts[account];
        if (taken != 0) revert AccountTaken(account, uint32(taken));

        issuerId = ++$.issuerCount;
        $.issuers[issuerId] = Issuer(name, uri, 1);
        $.accounts[account] = uint256(issuerId) | ACTIVE;
        $.accountsOf[issuerId][0] = uint160(account);
        emit IssuerRegistered(issuerId, account, name, uri);
        emit RoleGranted(ISSUER_ROLE, account, msg.sender);
    }

    /// @inheritdoc AccessControl
    function hasRole(bytes32 role, address account)
        public
        view
        override(AccessControl, IAccessControl)
        returns (bool)
    {
        if (role == ISSUER_ROLE) return _storage().accounts[account] & ACTIVE != 0;
        return super.hasRole(role, account);
    }

    function _grantRole(bytes32 role, address account) internal override returns (bool) {
        if (role == ISSUER_ROLE) revert IssuerRoleIsTheIssuerTable(account);
        return super._grantRole(role, account);
    }

    function _revokeRole(bytes32 role, address account) internal override returns (bool) {
        if (role == ISSUER_ROLE) revert IssuerRoleIsTheIssuerTable(account);
        return super._revokeRole(role, account);
    }

    // ---- documents --------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issue(bytes32 documentHash, uint40 validUntil) external {
        Storage storage $ = _storage();
        uint256 issuer = _activeIssuer($);
        if (documentHash == 0) revert ZeroHash();
        uint256 held = $.records[documentHash];
        if (held != 0) revert AlreadyIssued(documentHash, uint32(held));

        $.records[documentHash] = _anchor(issuer) | uint256(validUntil) << 128;
        emit DocumentIssued(documentHash, uint32(issuer), msg.sender, validUntil);
    }

    /// @inheritdoc IDocumentRegistry
    function issueMany(bytes32[] calldata documentHashes, uint40[] calldata validUntils) external {
        Storage storage $ = _storage();
        uint256 issuer = _activeIssuer($);
        uint256 length = documentHashes.length;
        if (length == 0) revert EmptyList();
        if (length != validUntils.length) revert LengthMismatch(length, validUntils.length);

        uint256 anchor = _anchor(issuer);
        for (uint256 i = 0; i < length; ++i) {
            bytes32 documentHash = documentHashes[i];
            if (documentHash == 0) revert ZeroHash();
            uint40 validUntil = validUntils[i];
            uint256 held = $.records[documentHash];
            if (held != 0) {
                emit IssueSkipped(documentHash, uint32(held));
                continue;
            }
            $.records[documentHash] = anchor | uint256(validUntil) << 128;
            emit DocumentIssued(documentHash, uint32(issuer), msg.sender, validUntil);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function revoke(bytes32 documentHash, uint8 reason) external {
        // 0-5, 9 and 10 of RFC 5280 §5.3.1, as a bit set.
        if (reason > 10 || (0x63f >> reason) & 1 == 0) revert UnknownReason(reason);
        Storage storage $ = _storage();
        uint256 record = $.records[documentHash];
        if (record == 0) revert NotIssued(documentHash);
        uint256 account = $.accounts[msg.sender];
        bool ofItsIssuer = account & ACTIVE != 0 && uint32(account) == uint32(record);
        if (!ofItsIssuer && !hasRole(REVOKER_ROLE, msg.sender)) revert NotTheIssuerOf(documentHash, msg.sender);
        if (record >> REVOCATION_SHIFT != 0) revert AlreadyRevoked(documentHash);

        $.records[documentHash] =
            record | block.number << REVOCATION_SHIFT | block.timestamp << 208 | uint256(reason) << 248;
        emit DocumentRevoked(documentHash, uint32(record), msg.sender, reason);
    }

    // ---- views ------------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function recordOf(bytes32 documentHash) external view returns (Record memory) {
        return _unpack(_storage().records[documentHash]);
    }

    /// @inheritdoc IDocumentRegistry
    function recordsOf(bytes32[] calldata documentHashes) external view returns (Record[] memory records) {
        records = new Record[](documentHashes.length);
        for (uint256 i = 0; i < documentHashes.length; ++i) {
            records[i] = _unpack(_storage().records[documentHashes[i]]);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function statusOf(bytes32 documentHash) external view returns (Status) {
        return _status(_unpack(_storage().records[documentHash]));
    }

    /// @inheritdoc IDocumentRegistry
    function verificationOf(bytes32 documentHash) external view returns (Verification memory) {
        Storage storage $ = _storage();
        Record memory record = _unpack($.records[documentHash]);
        Issuer storage issuer = $.issuers[record.issuerId];
        return Verification({
            chainId: block.chainid,
            blockNumber: block.number,
            blockTime: block.timestamp,
            status: _status(record),
            record: record,
            account: address(uint160($.accountsOf[record.issuerId][record.accountIndex])),
            issuerName: issuer.name,
            issuerUri: issuer.uri
        });
    }

    function _status(Record memory record) private view returns (Status) {
        if (record.issuerId == 0) return Status.NotIssued;
        if (record.revokedBlock != 0) return record.reason == 4 ? Status.Superseded : Status.Revoked;
        if (record.validUntil != 0 && block.timestamp >= record.validUntil) return Status.Expired;
        return Status.Valid;
    }

    /// @inheritdoc IDocumentRegistry
    function issuerOf(uint32 issuerId) external view returns (Issuer memory) {
        return _storage().issuers[issuerId];
    }

    /// @inheritdoc IDocumentRegistry
    function accountOf(address account) external view returns (Account memory) {
        uint256 packed = _storage().accounts[account];
        return Account(uint32(packed), uint16(packed >> 32), packed & ACTIVE != 0);
    }

    /// @inheritdoc IDocumentRegistry
    function accountAt(uint32 issuerId, uint16 accountIndex) external view returns (address) {
        return address(uint160(_storage().accountsOf[issuerId][accountIndex]));
    }

    // ---- internal ---------------------------------------------------------------------------------------------------

    /// @dev The caller's slot of the issuer table: issuerId and accountIndex in the places that a record has them.
    function _activeIssuer(Storage storage $) private view returns (uint256) {
        uint256 account = $.accounts[msg.sender];
        if (account & ACTIVE == 0) revert NotAnIssuer(msg.sender);
        return account & ISSUER_AND_INDEX;
    }

    /// @dev Packed by hand: a struct literal costs about 2,000 gas more.
    function _anchor(uint256 issuer) private view returns (uint256) {
        return issuer | block.number << 48 | block.timestamp << 88;
    }

    function _unpack(uint256 packed) private pure returns (Record memory) {
        return Record({
            issuerId: uint32(packed),
            accountIndex: uint16(packed >> 32),
            anchoredBlock: uint40(packed >> 48),
            anchoredAt: uint40(packed >> 88),
            validUntil: uint40(packed >> 128),
            revokedBlock: uint40(packed >> 168),
            revokedAt: uint40(packed >> 208),
            reason: uint8(packed >> 248)
        });
    }

    function _storage() private pure returns (Storage storage $) {
        bytes32 location = STORAGE_LOCATION;
        assembly ("memory-safe") {
            $.slot := location
        }
    }
}
