// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IArbSys} from "./IArbSys.sol";
import {IDocumentRegistry} from "./IDocumentRegistry.sol";

/// @title DocumentRegistry
/// @notice See {IDocumentRegistry}. No proxy, no pause, no upgrade.
contract DocumentRegistry is IDocumentRegistry, AccessControlDefaultAdminRules, EIP712 {
    /// @inheritdoc IDocumentRegistry
    bytes32 public constant ISSUER_ROLE = keccak256("ISSUER_ROLE");
    /// @inheritdoc IDocumentRegistry
    bytes32 public constant REVOKER_ROLE = keccak256("REVOKER_ROLE");
    /// @inheritdoc IDocumentRegistry
    uint256 public constant MAX_LIST = 1_000;

    /// @custom:storage-location erc7201:document-registry.storage
    struct Storage {
        /// packed Record
        mapping(bytes32 documentHash => uint256) records;
        /// issuerId 32 | accountIndex 16 | active 8
        mapping(address account => uint256) accounts;
        /// account 160 | distrustedFrom 40
        mapping(uint32 issuerId => mapping(uint16 accountIndex => uint256)) accountsOf;
        mapping(uint32 issuerId => Issuer) issuers;
        uint32 issuerCount;
        /// packed Batch
        mapping(uint32 issuerId => mapping(bytes32 root => uint256)) batches;
        /// the upper 88 bits of a Record: revokedBlock, revokedAt, reason
        mapping(uint32 issuerId => mapping(bytes32 documentHash => uint256)) revocations;
        /// a set bit for each used nonce; word = nonce / 256
        mapping(address account => mapping(uint256 word => uint256)) usedNonces;
    }

    bytes32 private constant STORAGE_LOCATION =
        keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1)) & ~bytes32(uint256(0xff));

    bytes32 private constant ISSUE_TYPEHASH = keccak256(
        "Issue(address account,bytes32 documentHash,uint40 validUntil,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant ISSUE_BATCH_TYPEHASH = keccak256(
        "IssueBatch(address account,bytes32 root,uint40 size,bytes32 manifest,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant REVOKE_TYPEHASH =
        keccak256("Revoke(address account,bytes32 documentHash,uint8 reason,uint256 nonce,uint256 deadline)");
    bytes32 private constant REVOKE_BATCH_TYPEHASH = keccak256(
        "RevokeBatch(address account,uint32 issuerId,bytes32 root,uint8 reason,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant REVOKE_IN_BATCH_TYPEHASH = keccak256(
        "RevokeInBatch(address account,uint32 issuerId,bytes32 root,bytes32 documentHash,uint8 reason,uint256 nonce,uint256 deadline)"
    );

    // Where the parts of a Record, a Batch and a slot of the account table begin.
    uint256 private constant ANCHORED_BLOCK = 48;
    uint256 private constant ANCHORED_AT = 88;
    uint256 private constant VALID_UNTIL = 128;
    uint256 private constant SIZE = 128;
    uint256 private constant REVOKED_BLOCK = 168;
    uint256 private constant REVOKED_AT = 208;
    uint256 private constant REASON = 248;
    uint256 private constant DISTRUSTED_FROM = 160;
    uint256 private constant ACTIVE = 1 << 48;
    uint256 private constant ISSUER_AND_INDEX = (1 << 48) - 1;

    uint8 private constant SUPERSEDED = 4;
    /// 0-5, 9 and 10 of RFC 5280 §5.3.1, as a bit set.
    uint256 private constant REASONS = 0x63f;

    IArbSys private constant ARB_SYS = IArbSys(address(100));
    bool private immutable ON_ARBITRUM;

    /// @param admin Holder of DEFAULT_ADMIN_ROLE; its transfer takes two steps and `adminDelay` seconds.
    constructor(address admin, uint48 adminDelay)
        AccessControlDefaultAdminRules(adminDelay, admin)
        EIP712("DocumentRegistry", "1")
    {
        if (address(ARB_SYS).code.length != 0) {
            (bool answered, bytes memory number) = address(ARB_SYS).staticcall(abi.encodeCall(IArbSys.arbBlockNumber, ()));
            if (!answered || number.length != 32) revert UnknownBlockNumbers();
            ON_ARBITRUM = true;
        }
    }

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

    /// @inheritdoc IDocumentRegistry
    function updateIssuer(uint32 issuerId, string calldata name, string calldata uri)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
    {
        if (bytes(name).length == 0) revert EmptyName();
        Issuer storage issuer = _issuer(issuerId);

        issuer.name = name;
        issuer.uri = uri;
        emit IssuerUpdated(issuerId, name, uri);
    }

    /// @inheritdoc IDocumentRegistry
    function addAccount(uint32 issuerId, address account)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        returns (uint16 accountIndex)
    {
        if (account == address(0)) revert ZeroAccount();
        Issuer storage issuer = _issuer(issuerId);
        Storage storage $ = _storage();
        uint256 held = $.accounts[account];
        if (held == 0) {
            accountIndex = issuer.accountCount;
            if (accountIndex == type(uint16).max) revert TooManyAccounts(issuerId);
            issuer.accountCount = accountIndex + 1;
            $.accountsOf[issuerId][accountIndex] = uint160(account);
        } else {
            if (uint32(held) != issuerId || held & ACTIVE != 0) revert AccountTaken(account, uint32(held));
            uint40 from = _distrustedFrom(held);
            if (from != 0) revert DistrustedAccount(account, from);
            accountIndex = uint16(held >> 32);
        }

        $.accounts[account] = uint256(issuerId) | uint256(accountIndex) << 32 | ACTIVE;
        emit AccountAdded(issuerId, account, accountIndex);
        emit RoleGranted(ISSUER_ROLE, account, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function retireAccount(address account) external {
        if (msg.sender != account) _checkRole(DEFAULT_ADMIN_ROLE);
        uint256 held = _storage().accounts[account];
        if (held & ACTIVE == 0) revert NotAnIssuer(account);

        _retire(account, held);
    }

    /// @inheritdoc IDocumentRegistry
    function withdrawIssuer(uint32 issuerId) external onlyRole(DEFAULT_ADMIN_ROLE) {
        Storage storage $ = _storage();
        uint16 count = _issuer(issuerId).accountCount;
        for (uint16 i = 0; i < count; ++i) {
            address account = address(uint160($.accountsOf[issuerId][i]));
            uint256 held = $.accounts[account];
            if (held & ACTIVE != 0) _retire(account, held);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function distrustFrom(address account, uint40 fromBlock) external onlyRole(DEFAULT_ADMIN_ROLE) {
        Storage storage $ = _storage();
        uint256 held = $.accounts[account];
        if (held == 0) revert UnknownAccount(account);
        uint40 standing = _distrustedFrom(held);
        if (fromBlock == 0 || fromBlock > _blockNumber() || (standing != 0 && fromBlock >= standing)) {
            revert DistrustBlockOutOfRange(fromBlock);
        }

        if (held & ACTIVE != 0) _retire(account, held);
        $.accountsOf[uint32(held)][uint16(held >> 32)] = uint160(account) | uint256(fromBlock) << DISTRUSTED_FROM;
        emit AccountDistrusted(uint32(held), account, uint16(held >> 32), fromBlock);
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
        if (role == ISSUER_ROLE) revert UseRegisterIssuerOrAddAccount(account);
        return super._grantRole(role, account);
    }

    function _revokeRole(bytes32 role, address account) internal override returns (bool) {
        if (role == ISSUER_ROLE) revert UseRetireAccount(account);
        return super._revokeRole(role, account);
    }

    function _retire(address account, uint256 held) private {
        _storage().accounts[account] = held & ISSUER_AND_INDEX;
        emit AccountRetired(uint32(held), account, uint16(held >> 32));
        emit RoleRevoked(ISSUER_ROLE, account, msg.sender);
    }

    function _issuer(uint32 issuerId) private view returns (Issuer storage issuer) {
        issuer = _storage().issuers[issuerId];
        if (issuer.accountCount == 0) revert UnknownIssuer(issuerId);
    }

    // ---- documents --------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issue(bytes32 documentHash, uint40 validUntil) external {
        _issue(msg.sender, documentHash, validUntil);
    }

    /// @inheritdoc IDocumentRegistry
    function issueMany(bytes32[] calldata documentHashes, uint40[] calldata validUntils) external {
        Storage storage $ = _storage();
        uint256 issuer = _activeIssuer(msg.sender);
        uint256 length = _checkList(documentHashes);
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
            $.records[documentHash] = anchor | uint256(validUntil) << VALID_UNTIL;
            emit DocumentIssued(documentHash, uint32(issuer), msg.sender, validUntil);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function revoke(bytes32 documentHash, uint8 reason) external {
        _revoke(msg.sender, documentHash, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeMany(bytes32[] calldata documentHashes, uint8 reason) external {
        Storage storage $ = _storage();
        uint256 length = _checkList(documentHashes);
        uint256 revocation = _revocation(reason);
        uint256 account = $.accounts[msg.sender];
        // No record has issuer 0, so a retired account matches none.
        uint32 issuerId = account & ACTIVE != 0 ? uint32(account) : 0;
        bool ofAnyIssuer = hasRole(REVOKER_ROLE, msg.sender);

        for (uint256 i = 0; i < length; ++i) {
            bytes32 documentHash = documentHashes[i];
            uint256 record = $.records[documentHash];
            if (record == 0) revert NotIssued(documentHash);
            if (uint32(record) != issuerId && !ofAnyIssuer) revert NotTheIssuerOf(documentHash, msg.sender);
            if (_isRevoked(record)) continue;
            $.records[documentHash] = record | revocation;
            emit DocumentRevoked(documentHash, uint32(record), msg.sender, reason);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function supersede(bytes32 documentHash, bytes32 successorHash, uint40 successorValidUntil) external {
        Storage storage $ = _storage();
        uint32 issuerId = uint32(_activeIssuer(msg.sender));
        uint32 holder = uint32($.records[documentHash]);
        // A REVOKER may revoke another's document, but not issue in its place.
        if (holder != 0 && holder != issuerId) revert NotTheIssuerOf(documentHash, msg.sender);

        _revoke(msg.sender, documentHash, SUPERSEDED);
        _issue(msg.sender, successorHash, successorValidUntil);
        emit DocumentSuperseded(documentHash, successorHash, issuerId, msg.sender);
    }

    function _issue(address account, bytes32 documentHash, uint40 validUntil) private {
        Storage storage $ = _storage();
        uint256 issuer = _activeIssuer(account);
        if (documentHash == 0) revert ZeroHash();
        uint256 held = $.records[documentHash];
        if (held != 0) revert AlreadyIssued(documentHash, uint32(held));

        $.records[documentHash] = _anchor(issuer) | uint256(validUntil) << VALID_UNTIL;
        emit DocumentIssued(documentHash, uint32(issuer), account, validUntil);
    }

    function _revoke(address account, bytes32 documentHash, uint8 reason) private {
        Storage storage $ = _storage();
        uint256 revocation = _revocation(reason);
        uint256 record = $.records[documentHash];
        if (record == 0) revert NotIssued(documentHash);
        if (!_mayRevoke(account, uint32(record))) revert NotTheIssuerOf(documentHash, account);
        if (_isRevoked(record)) revert AlreadyRevoked(documentHash);

        $.records[documentHash] = record | revocation;
        emit DocumentRevoked(documentHash, uint32(record), account, reason);
    }

    // ---- batches ----------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issueBatch(bytes32 root, uint40 size, bytes32 manifest) external {
        _issueBatch(msg.sender, root, size, manifest);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeBatch(uint32 issuerId, bytes32 root, uint8 reason) external {
        _revokeBatch(msg.sender, issuerId, root, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeInBatch(uint32 issuerId, bytes32 root, bytes32[] calldata documentHashes, uint8 reason) external {
        uint256 length = _checkList(documentHashes);
        uint256 revocation = _revocation(reason);
        _checkBatchRevoker(msg.sender, issuerId, root);

        for (uint256 i = 0; i < length; ++i) {
            _revokeInBatch(msg.sender, issuerId, root, documentHashes[i], reason, revocation);
        }
    }

    function _issueBatch(address account, bytes32 root, uint40 size, bytes32 manifest) private {
        Storage storage $ = _storage();
        uint256 issuer = _activeIssuer(account);
        uint32 issuerId = uint32(issuer);
        if (root == 0) revert ZeroHash();
        if (size == 0) revert EmptyBatch(root);
        if ($.batches[issuerId][root] != 0) revert BatchAlreadyIssued(issuerId, root);

        $.batches[issuerId][root] = _anchor(issuer) | uint256(size) << SIZE;
        emit BatchIssued(root, issuerId, account, size, manifest);
    }

    function _revokeBatch(address account, uint32 issuerId, bytes32 root, uint8 reason) private {
        uint256 revocation = _revocation(reason);
        uint256 batch = _checkBatchRevoker(account, issuerId, root);
        if (_isRevoked(batch)) revert BatchAlreadyRevoked(issuerId, root);

        _storage().batches[issuerId][root] = batch | revocation;
        emit BatchRevoked(root, issuerId, account, reason);
    }

    function _revokeInBatch(
        address account,
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint8 reason,
        uint256 revocation
    ) private {
        if (documentHash == 0) revert ZeroHash();
        mapping(bytes32 => uint256) storage revocations = _storage().revocations[issuerId];
        if (revocations[documentHash] != 0) return;

        revocations[documentHash] = revocation;
        emit DocumentInBatchRevoked(documentHash, issuerId, root, account, reason);
    }

    function _checkBatchRevoker(address account, uint32 issuerId, bytes32 root) private view returns (uint256 batch) {
        batch = _storage().batches[issuerId][root];
        if (batch == 0) revert BatchNotIssued(issuerId, root);
        if (!_mayRevoke(account, issuerId)) revert NotTheIssuerOfBatch(issuerId, root, account);
    }

    // ---- delegated --------------------------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issueFor(bytes32 documentHash, uint40 validUntil, Authorization calldata authorization) external {
        Storage storage $ = _storage();
        address account = authorization.account;
        uint256 held = $.records[documentHash];
        bool ofThisIssuer = held != 0 && uint32(held) == uint32($.accounts[account]);
        if (ofThisIssuer && uint40(held >> VALID_UNTIL) == validUntil) return;

        _useAuthorization(
            authorization,
            keccak256(
                abi.encode(
                    ISSUE_TYPEHASH, account, documentHash, validUntil, authorization.nonce, authorization.deadline
                )
            )
        );
        _issue(account, documentHash, validUntil);
    }

    /// @inheritdoc IDocumentRegistry
    function issueBatchFor(bytes32 root, uint40 size, bytes32 manifest, Authorization calldata authorization)
        external
    {
        Storage storage $ = _storage();
        address account = authorization.account;
        uint256 held = $.batches[uint32($.accounts[account])][root];
        if (held != 0 && uint40(held >> SIZE) == size) return;

        _useAuthorization(
            authorization,
            keccak256(
                abi.encode(
                    ISSUE_BATCH_TYPEHASH, account, root, size, manifest, authorization.nonce, authorization.deadline
                )
            )
        );
        _issueBatch(account, root, size, manifest);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeFor(bytes32 documentHash, uint8 reason, Authorization calldata authorization) external {
        if (_isRevoked(_storage().records[documentHash])) return;

        address account = authorization.account;
        _useAuthorization(
            authorization,
            keccak256(
                abi.encode(REVOKE_TYPEHASH, account, documentHash, reason, authorization.nonce, authorization.deadline)
            )
        );
        _revoke(account, documentHash, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeBatchFor(uint32 issuerId, bytes32 root, uint8 reason, Authorization calldata authorization)
        external
    {
        if (_isRevoked(_storage().batches[issuerId][root])) return;

        address account = authorization.account;
        _useAuthorization(
            authorization,
            keccak256(
                abi.encode(
                    REVOKE_BATCH_TYPEHASH,
                    account,
                    issuerId,
                    root,
                    reason,
                    authorization.nonce,
                    authorization.deadline
                )
            )
        );
        _revokeBatch(account, issuerId, root, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeInBatchFor(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint8 reason,
        Authorization calldata authorization
    ) external {
        if (_storage().revocations[issuerId][documentHash] != 0) return;

        address account = authorization.account;
        _useAuthorization(
            authorization,
            keccak256(
                abi.encode(
                    REVOKE_IN_BATCH_TYPEHASH,
                    account,
                    issuerId,
                    root,
                    documentHash,
                    reason,
                    authorization.nonce,
                    authorization.deadline
                )
            )
        );
        uint256 revocation = _revocation(reason);
        _checkBatchRevoker(account, issuerId, root);
        _revokeInBatch(account, issuerId, root, documentHash, reason, revocation);
    }

    /// @inheritdoc IDocumentRegistry
    function cancelNonce(uint256 nonce) external {
        _useNonce(msg.sender, nonce);
        emit NonceCancelled(msg.sender, nonce);
    }

    function _useAuthorization(Authorization calldata authorization, bytes32 structHash) private {
        address account = authorization.account;
        if (block.timestamp > authorization.deadline) revert AuthorizationExpired(authorization.deadline);
        _useNonce(account, authorization.nonce);
        bytes32 digest = _hashTypedDataV4(structHash);
        if (!SignatureChecker.isValidSignatureNowCalldata(account, digest, authorization.signature)) {
            revert WrongSignature(account);
        }
    }

    function _useNonce(address account, uint256 nonce) private {
        if (isNonceUsed(account, nonce)) revert NonceUsed(account, nonce);
        _storage().usedNonces[account][nonce >> 8] |= 1 << (nonce & 0xff);
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
        return _verification(_unpack(_storage().records[documentHash]));
    }

    /// @inheritdoc IDocumentRegistry
    function batchOf(uint32 issuerId, bytes32 root) external view returns (Batch memory) {
        uint256 packed = _storage().batches[issuerId][root];
        return Batch({
            issuerId: uint32(packed),
            accountIndex: uint16(packed >> 32),
            anchoredBlock: uint40(packed >> ANCHORED_BLOCK),
            anchoredAt: uint40(packed >> ANCHORED_AT),
            size: uint40(packed >> SIZE),
            revokedBlock: uint40(packed >> REVOKED_BLOCK),
            revokedAt: uint40(packed >> REVOKED_AT),
            reason: uint8(packed >> REASON)
        });
    }

    /// @inheritdoc IDocumentRegistry
    function revocationOf(uint32 issuerId, bytes32 documentHash) external view returns (Revocation memory) {
        uint256 packed = _storage().revocations[issuerId][documentHash];
        return Revocation(uint40(packed >> REVOKED_BLOCK), uint40(packed >> REVOKED_AT), uint8(packed >> REASON));
    }

    /// @inheritdoc IDocumentRegistry
    function statusInBatch(
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32 root,
        bytes32[] calldata proof
    ) external view returns (Status) {
        return _status(_recordInBatch(issuerId, documentHash, validUntil, root, proof));
    }

    /// @inheritdoc IDocumentRegistry
    function verificationInBatch(
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32 root,
        bytes32[] calldata proof
    ) external view returns (Verification memory) {
        return _verification(_recordInBatch(issuerId, documentHash, validUntil, root, proof));
    }

    /// @inheritdoc IDocumentRegistry
    function issuerCount() external view returns (uint32) {
        return _storage().issuerCount;
    }

    /// @inheritdoc IDocumentRegistry
    function issuerOf(uint32 issuerId) external view returns (Issuer memory) {
        return _storage().issuers[issuerId];
    }

    /// @inheritdoc IDocumentRegistry
    function accountOf(address account) external view returns (Account memory) {
        uint256 held = _storage().accounts[account];
        return Account(uint32(held), uint16(held >> 32), held & ACTIVE != 0, _distrustedFrom(held));
    }

    /// @inheritdoc IDocumentRegistry
    function accountAt(uint32 issuerId, uint16 accountIndex) external view returns (address) {
        return address(uint160(_storage().accountsOf[issuerId][accountIndex]));
    }

    /// @inheritdoc IDocumentRegistry
    function isNonceUsed(address account, uint256 nonce) public view returns (bool) {
        return _storage().usedNonces[account][nonce >> 8] & 1 << (nonce & 0xff) != 0;
    }

    /// @inheritdoc AccessControlDefaultAdminRules
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IDocumentRegistry).interfaceId || interfaceId == type(IERC5267).interfaceId
            || super.supportsInterface(interfaceId);
    }

    function _verification(Record memory record) private view returns (Verification memory) {
        Storage storage $ = _storage();
        Issuer storage issuer = $.issuers[record.issuerId];
        uint256 account = $.accountsOf[record.issuerId][record.accountIndex];
        return Verification({
            chainId: block.chainid,
            blockNumber: _blockNumber(),
            blockTime: block.timestamp,
            status: _status(record),
            record: record,
            account: address(uint160(account)),
            issuerName: issuer.name,
            issuerUri: issuer.uri,
            distrustedFrom: uint40(account >> DISTRUSTED_FROM)
        });
    }

    function _status(Record memory record) private view returns (Status) {
        if (record.issuerId == 0) return Status.NotIssued;
        if (record.revokedBlock != 0) return record.reason == SUPERSEDED ? Status.Superseded : Status.Revoked;
        uint256 account = _storage().accountsOf[record.issuerId][record.accountIndex];
        uint40 distrustedFrom = uint40(account >> DISTRUSTED_FROM);
        if (distrustedFrom != 0 && record.anchoredBlock >= distrustedFrom) return Status.Distrusted;
        if (record.validUntil != 0 && block.timestamp >= record.validUntil) return Status.Expired;
        return Status.Valid;
    }

    /// @dev All zero when the document is not proven to be in the batch.
    function _recordInBatch(
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32 root,
        bytes32[] calldata proof
    ) private view returns (Record memory record) {
        Storage storage $ = _storage();
        uint256 batch = $.batches[issuerId][root];
        if (!_isDepthOf(proof.length, uint40(batch >> SIZE))) return record;
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(documentHash, validUntil))));
        if (!MerkleProof.verifyCalldata(proof, root, leaf)) return record;

        record = _unpack(batch);
        record.validUntil = validUntil;
        uint256 revocation = $.revocations[issuerId][documentHash];
        if (revocation != 0) {
            record.revokedBlock = uint40(revocation >> REVOKED_BLOCK);
            record.revokedAt = uint40(revocation >> REVOKED_AT);
            record.reason = uint8(revocation >> REASON);
        }
    }

    /// @dev Leaves of a StandardMerkleTree lie on its last level or the one above: a complete binary tree in an array.
    function _isDepthOf(uint256 depth, uint256 size) private pure returns (bool) {
        return size != 0 && (depth == Math.log2(size) || depth == Math.log2(2 * size - 1));
    }

    // ---- internal ---------------------------------------------------------------------------------------------------

    /// @dev The account's slot of the issuer table: issuerId and accountIndex in the places that a record has them.
    function _activeIssuer(address account) private view returns (uint256) {
        uint256 held = _storage().accounts[account];
        if (held & ACTIVE == 0) revert NotAnIssuer(account);
        return held & ISSUER_AND_INDEX;
    }

    function _mayRevoke(address account, uint32 issuerId) private view returns (bool) {
        uint256 held = _storage().accounts[account];
        return (held & ACTIVE != 0 && uint32(held) == issuerId) || hasRole(REVOKER_ROLE, account);
    }

    function _distrustedFrom(uint256 held) private view returns (uint40) {
        return uint40(_storage().accountsOf[uint32(held)][uint16(held >> 32)] >> DISTRUSTED_FROM);
    }

    /// @dev Packed by hand: a struct literal costs about 2,000 gas more. Block numbers and times fit 40 bits for more than
    /// 8,000 years of four blocks a second.
    function _anchor(uint256 issuer) private view returns (uint256) {
        return issuer | _blockNumber() << ANCHORED_BLOCK | block.timestamp << ANCHORED_AT;
    }

    function _revocation(uint8 reason) private view returns (uint256) {
        if (REASONS >> reason & 1 == 0) revert UnknownReason(reason);
        return _blockNumber() << REVOKED_BLOCK | block.timestamp << REVOKED_AT | uint256(reason) << REASON;
    }

    function _isRevoked(uint256 packed) private pure returns (bool) {
        return packed >> REVOKED_BLOCK != 0;
    }

    function _checkList(bytes32[] calldata documentHashes) private pure returns (uint256 length) {
        length = documentHashes.length;
        if (length == 0) revert EmptyList();
        if (length > MAX_LIST) revert ListTooLong(length);
    }

    function _blockNumber() private view returns (uint256) {
        return ON_ARBITRUM ? ARB_SYS.arbBlockNumber() : block.number;
    }

    function _unpack(uint256 packed) private pure returns (Record memory) {
        return Record({
            issuerId: uint32(packed),
            accountIndex: uint16(packed >> 32),
            anchoredBlock: uint40(packed >> ANCHORED_BLOCK),
            anchoredAt: uint40(packed >> ANCHORED_AT),
            validUntil: uint40(packed >> VALID_UNTIL),
            revokedBlock: uint40(packed >> REVOKED_BLOCK),
            revokedAt: uint40(packed >> REVOKED_AT),
            reason: uint8(packed >> REASON)
        });
    }

    function _storage() private pure returns (Storage storage $) {
        bytes32 location = STORAGE_LOCATION;
        assembly ("memory-safe") {
            $.slot := location
        }
    }
}
