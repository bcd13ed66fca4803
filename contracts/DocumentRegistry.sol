// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {ERC2771Forwarder} from "@openzeppelin/contracts/metatx/ERC2771Forwarder.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IArbSys} from "./IArbSys.sol";
import {IDocumentRegistry} from "./IDocumentRegistry.sol";
import {PackedAccount, PackedAccountLibrary} from "./types/PackedAccount.sol";
import {PackedProposal, PackedProposalLibrary} from "./types/PackedProposal.sol";
import {
    PackedRecord,
    PackedRecordLibrary,
    REASON_RELEASED,
    REASON_SUPERSEDED,
    REASON_SUSPENDED
} from "./types/PackedRecord.sol";
import {PackedSigner, PackedSignerLibrary} from "./types/PackedSigner.sol";
import {PackedState} from "./types/PackedState.sol";
import {ALL_PERMISSIONS, DELEGATE, ISSUE, MANAGE, REVOKE} from "./types/Permissions.sol";
import {Stamp, toStamp} from "./types/Stamp.sol";

/// @title DocumentRegistry
/// @notice See {IDocumentRegistry}. No proxy, no upgrade, no pause of the whole.
contract DocumentRegistry is IDocumentRegistry, AccessControlDefaultAdminRules {
    /// @inheritdoc IDocumentRegistry
    bytes32 public constant ISSUER_ROLE = keccak256("ISSUER_ROLE");
    /// @inheritdoc IDocumentRegistry
    uint256 public constant MAX_LIST = 1_000;

    /// @dev One word, so that its position can be kept in a local variable.
    struct Slot {
        PackedRecord record;
    }

    /// @dev All that belongs to one issuer.
    struct Namespace {
        PackedState state;
        mapping(bytes32 documentHash => Slot) records;
        mapping(bytes32 root => Slot) batches;
        mapping(address account => PackedAccount) accounts;
        mapping(uint16 accountIndex => PackedSigner) accountsOf;
        PackedProposal proposal;
        string name;
        string uri;
    }

    /// @custom:storage-location erc7201:document-registry.storage
    struct Storage {
        mapping(uint32 issuerId => Namespace) namespaces;
        uint32 issuerCount;
        /// For how many issuers an account holds ISSUE: what `hasRole(ISSUER_ROLE, account)` reads.
        mapping(address account => uint256) issuingFor;
    }

    /// @dev keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1)) without its
    /// last byte. A literal, because the compiler would compute the formula in every call.
    bytes32 private constant STORAGE_LOCATION =
        0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200;

    uint256 private constant MAX_NAME_LENGTH = 200;
    uint256 private constant MAX_URI_LENGTH = 400;
    /// @dev 0 to 6, 9 and 10 of RFC 5280 §5.3.1, as a bit set.
    uint256 private constant REASONS = 0x67f;

    IArbSys private constant ARB_SYS = IArbSys(address(100));
    bool private immutable ON_ARBITRUM;
    uint40 private immutable PROPOSAL_DELAY;
    address private immutable FORWARDER;

    /// @param admin Holder of DEFAULT_ADMIN_ROLE.
    /// @param delay Seconds that an accepted transfer of that role waits, and that a proposed
    /// account waits; from a day to a year.
    constructor(address admin, uint48 delay) AccessControlDefaultAdminRules(delay, admin) {
        if (delay < 1 days || delay > 365 days) revert DelayOutOfRange(delay);
        PROPOSAL_DELAY = uint40(delay);
        FORWARDER = address(new ERC2771Forwarder("DocumentRegistryForwarder"));
        // The address can be computed beforehand, and the base has granted the role unchecked.
        if (admin == FORWARDER) revert InvalidAccount(admin);
        if (address(ARB_SYS).code.length != 0) {
            (bool answered, bytes memory number) =
                address(ARB_SYS).staticcall(abi.encodeCall(IArbSys.arbBlockNumber, ()));
            if (!answered || number.length != 32) revert UnknownBlockNumbers();
            ON_ARBITRUM = true;
        }
        _stamp();
    }

    // ---- the admin ------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function registerIssuer(address account, string calldata name, string calldata uri)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        returns (uint32 issuerId)
    {
        _checkTexts(name, uri);
        issuerId = ++_storage().issuerCount;
        Namespace storage ns = _namespace(issuerId);

        ns.state = ns.state.changed(_stamp().blockNumber(), 0);
        ns.name = name;
        ns.uri = uri;
        emit IssuerRegistered(issuerId, name, uri, msg.sender);
        _add(ns, issuerId, account, MANAGE, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function updateIssuer(uint32 issuerId, string calldata name, string calldata uri)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
    {
        _checkTexts(name, uri);
        (Namespace storage ns, PackedState state) = _existing(issuerId);

        ns.state = state.changed(_stamp().blockNumber(), state.closedBlock());
        ns.name = name;
        ns.uri = uri;
        emit IssuerUpdated(issuerId, name, uri, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function closeIssuer(uint32 issuerId) external onlyRole(DEFAULT_ADMIN_ROLE) {
        (Namespace storage ns, PackedState state) = _existing(issuerId);
        if (state.closedBlock() != 0) revert ClosedIssuer(issuerId);

        uint40 current = _stamp().blockNumber();
        ns.state = state.changed(current, current);
        emit IssuerClosed(issuerId, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function reopenIssuer(uint32 issuerId) external onlyRole(DEFAULT_ADMIN_ROLE) {
        (Namespace storage ns, PackedState state) = _existing(issuerId);
        if (state.closedBlock() == 0) revert OpenIssuer(issuerId);

        ns.state = state.changed(_stamp().blockNumber(), 0);
        emit IssuerReopened(issuerId, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function proposeAccount(uint32 issuerId, address account)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
    {
        (Namespace storage ns,) = _existing(issuerId);
        _checkNew(ns, issuerId, account);

        uint40 acceptFrom = _stamp().blockTime() + PROPOSAL_DELAY;
        ns.proposal = PackedProposalLibrary.toPackedProposal(account, acceptFrom);
        emit AccountProposed(issuerId, account, acceptFrom, msg.sender);
    }

    /// @inheritdoc IDocumentRegistry
    function withdrawProposal(uint32 issuerId) external onlyRole(DEFAULT_ADMIN_ROLE) {
        address account = _deleteProposal(_namespace(issuerId), issuerId);
        emit ProposalWithdrawn(issuerId, account, msg.sender);
    }

    // ---- accounts -------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function addAccount(uint32 issuerId, address account, uint8 permissions)
        external
        returns (uint16)
    {
        (Namespace storage ns, address by,) = _acting(issuerId, MANAGE);
        _checkPermissions(permissions);
        return _add(ns, issuerId, account, permissions, by);
    }

    /// @inheritdoc IDocumentRegistry
    function setPermissions(uint32 issuerId, address account, uint8 permissions) external {
        (Namespace storage ns, address by,) = _acting(issuerId, MANAGE);
        _checkPermissions(permissions);
        PackedAccount held = _active(ns, issuerId, account);

        ns.accounts[account] = held.changed(permissions, _stamp().blockNumber());
        emit PermissionsChanged(issuerId, account, permissions, by);
        _followRole(account, held.permissions(), permissions, by);
    }

    /// @inheritdoc IDocumentRegistry
    function retireAccount(uint32 issuerId, address account) external {
        bool itself = account == _sender();
        (Namespace storage ns, address by,) = _acting(issuerId, itself ? 0 : MANAGE);
        _retire(ns, issuerId, account, _active(ns, issuerId, account), by);
    }

    /// @inheritdoc IDocumentRegistry
    function distrustFrom(uint32 issuerId, address account, uint40 fromBlock) external {
        (Namespace storage ns, address by,) = _acting(issuerId, MANAGE);
        PackedAccount held = _known(ns, issuerId, account);
        uint40 standing = ns.accountsOf[held.accountIndex()].distrustedFrom();
        bool lowers = standing == 0 || fromBlock < standing;
        if (fromBlock == 0 || fromBlock > _blockNumber() || !lowers) {
            revert DistrustBlockOutOfRange(fromBlock);
        }

        if (held.retiredBlock() == 0) _retire(ns, issuerId, account, held, by);
        ns.accountsOf[held.accountIndex()] = PackedSignerLibrary.toPackedSigner(account, fromBlock);
        emit AccountDistrusted(issuerId, account, fromBlock, by);
    }

    /// @inheritdoc IDocumentRegistry
    function vetoProposal(uint32 issuerId) external {
        (Namespace storage ns, address by,) = _acting(issuerId, MANAGE);
        address account = _deleteProposal(ns, issuerId);
        emit ProposalVetoed(issuerId, account, by);
    }

    /// @inheritdoc IDocumentRegistry
    function acceptProposal(uint32 issuerId) external returns (uint16) {
        Namespace storage ns = _namespace(issuerId);
        PackedProposal proposal = ns.proposal;
        if (msg.sender != proposal.account()) revert NotProposed(issuerId, msg.sender);
        (uint40 from, uint40 until) = (proposal.acceptFrom(), proposal.acceptUntil());
        if (block.timestamp < from || block.timestamp > until) {
            revert OutsideAcceptWindow(issuerId, from, until);
        }

        ns.proposal = PackedProposal.wrap(0);
        emit ProposalAccepted(issuerId, msg.sender);
        return _add(ns, issuerId, msg.sender, MANAGE, msg.sender);
    }

    // ---- documents ------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issue(uint32 issuerId, bytes32 documentHash, uint40 validUntil) external {
        (Namespace storage ns, address account, PackedAccount held) = _acting(issuerId, ISSUE);
        _issue(ns, issuerId, documentHash, validUntil, account, held);
    }

    /// @inheritdoc IDocumentRegistry
    function issueMany(
        uint32 issuerId,
        bytes32[] calldata documentHashes,
        uint40[] calldata validUntils
    ) external {
        (Namespace storage ns, address account, PackedAccount held) = _acting(issuerId, ISSUE);
        uint256 length = _checkList(documentHashes);
        if (length != validUntils.length) revert LengthMismatch(length, validUntils.length);
        PackedState state = _open(ns, issuerId);

        PackedRecord part = PackedRecordLibrary.anchoring(held.accountIndex(), _stamp());
        for (uint256 i = 0; i < length; ++i) {
            bytes32 documentHash = documentHashes[i];
            if (documentHash == 0) revert ZeroHash();
            Slot storage slot = ns.records[documentHash];
            PackedRecord record = slot.record;
            if (!record.isAnchored()) {
                state = state.oneMoreDocument();
            } else if (!_isDistrusted(ns, record.accountIndex(), record.anchoredBlock())) {
                emit IssueSkipped(documentHash, issuerId, account);
                continue;
            }
            uint40 validUntil = validUntils[i];
            slot.record = record.anchored(part, validUntil);
            emit DocumentIssued(documentHash, issuerId, account, validUntil);
        }
        ns.state = state;
    }

    /// @inheritdoc IDocumentRegistry
    function revoke(uint32 issuerId, bytes32 documentHash, uint8 reason) external {
        _checkReason(reason);
        _reviseOne(issuerId, documentHash, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeMany(uint32 issuerId, bytes32[] calldata documentHashes, uint8 reason)
        external
    {
        _checkReason(reason);
        _reviseMany(issuerId, 0, documentHashes, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function release(uint32 issuerId, bytes32 documentHash) external {
        _reviseOne(issuerId, documentHash, REASON_RELEASED);
    }

    /// @inheritdoc IDocumentRegistry
    function releaseMany(uint32 issuerId, bytes32[] calldata documentHashes) external {
        _reviseMany(issuerId, 0, documentHashes, REASON_RELEASED);
    }

    /// @inheritdoc IDocumentRegistry
    function supersede(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        bytes32 successorHash,
        uint40 successorValidUntil
    ) external {
        (Namespace storage ns, address account, PackedAccount held) =
            _acting(issuerId, ISSUE | REVOKE);
        if (documentHash == successorHash) revert SameDocument(documentHash);
        if (root != 0) _checkBatch(ns, issuerId, root);

        PackedRecord part = _revocation(held, REASON_SUPERSEDED);
        if (!_reviseDocument(ns, issuerId, root, documentHash, account, held, part)) {
            _refuse(issuerId, documentHash, ns.records[documentHash].record, REASON_SUPERSEDED);
        }
        _issue(ns, issuerId, successorHash, successorValidUntil, account, held);
        emit DocumentSuperseded(documentHash, successorHash, issuerId, account);
    }

    // ---- batches --------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function issueBatch(uint32 issuerId, bytes32 root, uint40 size, bytes32 manifest) external {
        (Namespace storage ns, address account, PackedAccount held) = _acting(issuerId, ISSUE);
        PackedState state = _open(ns, issuerId);
        if (root == 0) revert ZeroHash();
        if (size == 0) revert EmptyBatch(root);
        Slot storage slot = ns.batches[root];
        PackedRecord batch = slot.record;

        if (_countsAnew(ns, issuerId, root, batch)) ns.state = state.oneMoreBatch();
        PackedRecord part = PackedRecordLibrary.anchoring(held.accountIndex(), _stamp());
        slot.record = batch.anchored(part, size);
        emit BatchIssued(root, issuerId, account, size, manifest);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeBatch(uint32 issuerId, bytes32 root, uint8 reason) external {
        _checkReason(reason);
        address account = _reviseBatch(issuerId, root, reason);
        emit BatchRevoked(root, issuerId, account, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function releaseBatch(uint32 issuerId, bytes32 root) external {
        address account = _reviseBatch(issuerId, root, REASON_RELEASED);
        emit BatchReleased(root, issuerId, account);
    }

    /// @inheritdoc IDocumentRegistry
    function revokeInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32[] calldata documentHashes,
        uint8 reason
    ) external {
        _checkReason(reason);
        if (root == 0) revert ZeroHash();
        _reviseMany(issuerId, root, documentHashes, reason);
    }

    /// @inheritdoc IDocumentRegistry
    function releaseInBatch(uint32 issuerId, bytes32 root, bytes32[] calldata documentHashes)
        external
    {
        if (root == 0) revert ZeroHash();
        _reviseMany(issuerId, root, documentHashes, REASON_RELEASED);
    }

    // ---- views ----------------------------------------------------------------------------------

    /// @inheritdoc IDocumentRegistry
    function recordOf(uint32 issuerId, bytes32 documentHash)
        external
        view
        returns (Record memory)
    {
        return _unpack(_namespace(issuerId).records[documentHash].record);
    }

    /// @inheritdoc IDocumentRegistry
    function recordsOf(uint32 issuerId, bytes32[] calldata documentHashes)
        external
        view
        returns (Record[] memory records)
    {
        records = new Record[](documentHashes.length);
        for (uint256 i = 0; i < documentHashes.length; ++i) {
            records[i] = _unpack(_namespace(issuerId).records[documentHashes[i]].record);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function statusOf(uint32 issuerId, bytes32 documentHash) external view returns (Status) {
        Namespace storage ns = _namespace(issuerId);
        return _status(ns, ns.records[documentHash].record);
    }

    /// @inheritdoc IDocumentRegistry
    function verificationOf(uint32 issuerId, bytes32 documentHash)
        external
        view
        returns (Verification memory)
    {
        Namespace storage ns = _namespace(issuerId);
        return _verification(ns, ns.records[documentHash].record);
    }

    /// @inheritdoc IDocumentRegistry
    function verificationsOf(DocumentKey[] calldata keys)
        external
        view
        returns (Verification[] memory verifications)
    {
        verifications = new Verification[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            Namespace storage ns = _namespace(keys[i].issuerId);
            verifications[i] = _verification(ns, ns.records[keys[i].documentHash].record);
        }
    }

    /// @inheritdoc IDocumentRegistry
    function batchOf(uint32 issuerId, bytes32 root) external view returns (Batch memory) {
        PackedRecord batch = _namespace(issuerId).batches[root].record;
        return Batch({
            accountIndex: batch.accountIndex(),
            anchoredBlock: batch.anchoredBlock(),
            anchoredAt: batch.anchoredAt(),
            size: batch.size(),
            revokerIndex: batch.revokerIndex(),
            revokedBlock: batch.revokedBlock(),
            revokedAt: batch.revokedAt(),
            reason: batch.reason(),
            setAside: batch.setAside()
        });
    }

    /// @inheritdoc IDocumentRegistry
    function statusInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] calldata proof
    ) external view returns (Status) {
        Namespace storage ns = _namespace(issuerId);
        return _status(ns, _recordInBatch(ns, root, documentHash, validUntil, proof));
    }

    /// @inheritdoc IDocumentRegistry
    function verificationInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] calldata proof
    ) external view returns (Verification memory) {
        Namespace storage ns = _namespace(issuerId);
        return _verification(ns, _recordInBatch(ns, root, documentHash, validUntil, proof));
    }

    /// @inheritdoc IDocumentRegistry
    function issuerCount() external view returns (uint32) {
        return _storage().issuerCount;
    }

    /// @inheritdoc IDocumentRegistry
    function issuerOf(uint32 issuerId) external view returns (Issuer memory) {
        return _issuer(_namespace(issuerId));
    }

    /// @inheritdoc IDocumentRegistry
    function accountOf(uint32 issuerId, address account) external view returns (Account memory) {
        Namespace storage ns = _namespace(issuerId);
        PackedAccount held = ns.accounts[account];
        if (held.addedBlock() == 0) return _noAccount();
        return _account(ns, held.accountIndex());
    }

    /// @inheritdoc IDocumentRegistry
    function accountAt(uint32 issuerId, uint16 accountIndex)
        external
        view
        returns (Account memory)
    {
        return _account(_namespace(issuerId), accountIndex);
    }

    /// @inheritdoc IDocumentRegistry
    function proposalOf(uint32 issuerId) external view returns (Proposal memory) {
        PackedProposal proposal = _namespace(issuerId).proposal;
        return Proposal(proposal.account(), proposal.acceptFrom(), proposal.acceptUntil());
    }

    /// @inheritdoc IDocumentRegistry
    function proposalDelay() external view returns (uint40) {
        return PROPOSAL_DELAY;
    }

    /// @inheritdoc IDocumentRegistry
    function trustedForwarder() external view returns (address) {
        return FORWARDER;
    }

    /// @inheritdoc IDocumentRegistry
    function isTrustedForwarder(address forwarder) external view returns (bool) {
        return forwarder == FORWARDER;
    }

    /// @inheritdoc AccessControl
    function hasRole(bytes32 role, address account)
        public
        view
        override(AccessControl, IAccessControl)
        returns (bool)
    {
        if (role == ISSUER_ROLE) return _storage().issuingFor[account] != 0;
        return super.hasRole(role, account);
    }

    /// @inheritdoc AccessControlDefaultAdminRules
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IDocumentRegistry).interfaceId
            || super.supportsInterface(interfaceId);
    }

    // ---- who acts -------------------------------------------------------------------------------

    /// @dev The account that acts for an issuer, after a check of its permissions: the signer of a
    /// forwarded call, which needs DELEGATE too, else the sender.
    function _acting(uint32 issuerId, uint8 needed)
        private
        view
        returns (Namespace storage ns, address account, PackedAccount held)
    {
        account = _sender();
        if (account != msg.sender) needed |= DELEGATE;
        ns = _namespace(issuerId);
        held = ns.accounts[account];
        uint8 missing = needed & ~held.permissions();
        if (missing != 0) revert MissingPermissions(issuerId, account, missing);
    }

    /// @dev The signer of a forwarded call, whom the forwarder appends to its data (ERC-2771); else
    /// the sender. The admin's functions do not ask: they go by `msg.sender`.
    function _sender() private view returns (address) {
        if (msg.sender != FORWARDER || msg.data.length < 20) return msg.sender;
        return address(bytes20(msg.data[msg.data.length - 20:]));
    }

    function _grantRole(bytes32 role, address account) internal override returns (bool) {
        if (role != DEFAULT_ADMIN_ROLE) revert UnsupportedRole(role);
        if (account == FORWARDER) revert InvalidAccount(account);
        return super._grantRole(role, account);
    }

    function _revokeRole(bytes32 role, address account) internal override returns (bool) {
        if (role != DEFAULT_ADMIN_ROLE) revert UnsupportedRole(role);
        return super._revokeRole(role, account);
    }

    /// @dev A thief of the admin's key could otherwise set the delay to zero, or freeze the role
    /// with one of centuries.
    function _changeDefaultAdminDelay(uint48) internal pure override {
        revert AdminDelayIsFixed();
    }

    // ---- issuers and accounts -------------------------------------------------------------------

    function _existing(uint32 issuerId)
        private
        view
        returns (Namespace storage ns, PackedState state)
    {
        ns = _namespace(issuerId);
        state = ns.state;
        if (state.accountCount() == 0) revert UnknownIssuer(issuerId);
    }

    function _open(Namespace storage ns, uint32 issuerId) private view returns (PackedState state) {
        state = ns.state;
        if (state.closedBlock() != 0) revert ClosedIssuer(issuerId);
    }

    function _known(Namespace storage ns, uint32 issuerId, address account)
        private
        view
        returns (PackedAccount held)
    {
        held = ns.accounts[account];
        if (held.addedBlock() == 0) revert UnknownAccount(issuerId, account);
    }

    function _active(Namespace storage ns, uint32 issuerId, address account)
        private
        view
        returns (PackedAccount held)
    {
        held = _known(ns, issuerId, account);
        if (held.retiredBlock() != 0) revert RetiredAccount(issuerId, account);
    }

    function _checkNew(Namespace storage ns, uint32 issuerId, address account) private view {
        if (account == address(0) || account == address(this) || account == FORWARDER) {
            revert InvalidAccount(account);
        }
        if (ns.accounts[account].addedBlock() != 0) revert KnownAccount(issuerId, account);
    }

    function _checkPermissions(uint8 permissions) private pure {
        if (permissions == 0 || permissions > ALL_PERMISSIONS) {
            revert InvalidPermissions(permissions);
        }
    }

    function _checkTexts(string calldata name, string calldata uri) private pure {
        uint256 length = bytes(name).length;
        if (length == 0 || length > MAX_NAME_LENGTH) revert InvalidNameLength(length);
        if (bytes(uri).length > MAX_URI_LENGTH) revert UriTooLong(bytes(uri).length);
    }

    function _add(
        Namespace storage ns,
        uint32 issuerId,
        address account,
        uint8 permissions,
        address by
    ) private returns (uint16 accountIndex) {
        _checkNew(ns, issuerId, account);
        PackedState state = ns.state;
        accountIndex = state.accountCount();
        if (accountIndex == type(uint16).max) revert TooManyAccounts(issuerId);

        ns.state = state.oneMoreAccount();
        ns.accounts[account] = PackedAccountLibrary.toPackedAccount(
            accountIndex, permissions, _stamp().blockNumber()
        );
        ns.accountsOf[accountIndex] = PackedSignerLibrary.toPackedSigner(account, 0);
        emit AccountAdded(issuerId, account, accountIndex, permissions, by);
        _followRole(account, 0, permissions, by);
    }

    function _retire(
        Namespace storage ns,
        uint32 issuerId,
        address account,
        PackedAccount held,
        address by
    ) private {
        ns.accounts[account] = held.retired(_stamp().blockNumber());
        emit AccountRetired(issuerId, account, by);
        _followRole(account, held.permissions(), 0, by);
    }

    /// @dev Lets ISSUER_ROLE follow a change of permissions.
    function _followRole(address account, uint8 before, uint8 permissions, address by) private {
        if ((before ^ permissions) & ISSUE == 0) return;
        mapping(address => uint256) storage issuingFor = _storage().issuingFor;
        if (permissions & ISSUE != 0) {
            if (++issuingFor[account] == 1) emit RoleGranted(ISSUER_ROLE, account, by);
        } else {
            if (--issuingFor[account] == 0) emit RoleRevoked(ISSUER_ROLE, account, by);
        }
    }

    function _deleteProposal(Namespace storage ns, uint32 issuerId)
        private
        returns (address account)
    {
        account = ns.proposal.account();
        if (account == address(0)) revert NoProposal(issuerId);
        ns.proposal = PackedProposal.wrap(0);
    }

    // ---- issuing --------------------------------------------------------------------------------

    function _issue(
        Namespace storage ns,
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        address account,
        PackedAccount held
    ) private {
        PackedState state = _open(ns, issuerId);
        if (documentHash == 0) revert ZeroHash();
        Slot storage slot = ns.records[documentHash];
        PackedRecord record = slot.record;

        if (_countsAnew(ns, issuerId, documentHash, record)) ns.state = state.oneMoreDocument();
        PackedRecord part = PackedRecordLibrary.anchoring(held.accountIndex(), _stamp());
        slot.record = record.anchored(part, validUntil);
        emit DocumentIssued(documentHash, issuerId, account, validUntil);
    }

    /// @dev Whether issuing over a record counts: it does where there is no anchoring part, it does
    /// not over a Distrusted one, and over any other it is refused.
    function _countsAnew(Namespace storage ns, uint32 issuerId, bytes32 key, PackedRecord record)
        private
        view
        returns (bool)
    {
        if (!record.isAnchored()) return true;
        if (!_isDistrusted(ns, record.accountIndex(), record.anchoredBlock())) {
            revert AlreadyIssued(issuerId, key);
        }
        return false;
    }

    // ---- revoking and releasing -----------------------------------------------------------------

    function _revocation(PackedAccount held, uint8 reason) private view returns (PackedRecord) {
        return PackedRecordLibrary.revocation(held.accountIndex(), _stamp(), reason);
    }

    function _reviseOne(uint32 issuerId, bytes32 documentHash, uint8 reason) private {
        (Namespace storage ns, address account, PackedAccount held) = _acting(issuerId, REVOKE);
        PackedRecord part = _revocation(held, reason);
        if (!_reviseDocument(ns, issuerId, 0, documentHash, account, held, part)) {
            _refuse(issuerId, documentHash, ns.records[documentHash].record, reason);
        }
    }

    function _reviseMany(
        uint32 issuerId,
        bytes32 root,
        bytes32[] calldata documentHashes,
        uint8 reason
    ) private {
        (Namespace storage ns, address account, PackedAccount held) = _acting(issuerId, REVOKE);
        uint256 length = _checkList(documentHashes);
        if (root != 0) _checkBatch(ns, issuerId, root);
        PackedRecord part = _revocation(held, reason);
        for (uint256 i = 0; i < length; ++i) {
            _reviseDocument(ns, issuerId, root, documentHashes[i], account, held, part);
        }
    }

    /// @param root The batch that the caller named; 0 = the document was issued alone.
    /// @param part The new revocation part.
    /// @return Whether there was anything to change that the account may change.
    function _reviseDocument(
        Namespace storage ns,
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        address account,
        PackedAccount held,
        PackedRecord part
    ) private returns (bool) {
        Slot storage slot = ns.records[documentHash];
        PackedRecord record = slot.record;
        if (root == 0) {
            if (!record.isAnchored()) revert NotIssued(issuerId, documentHash);
        } else {
            if (documentHash == 0) revert ZeroHash();
        }
        (PackedRecord revised, bool aside) = _revised(ns, record, held, part);
        if (revised.revokedBlock() == 0) return false;

        uint8 reason = part.reason();
        slot.record = revised;
        if (aside) emit RevocationSetAside(documentHash, issuerId, account);
        if (root == 0) {
            if (reason == REASON_RELEASED) emit DocumentReleased(documentHash, issuerId, account);
            else emit DocumentRevoked(documentHash, issuerId, account, reason);
        } else {
            if (reason == REASON_RELEASED) {
                emit DocumentInBatchReleased(documentHash, issuerId, root, account);
            } else {
                emit DocumentInBatchRevoked(documentHash, issuerId, root, account, reason);
            }
        }
        return true;
    }

    function _reviseBatch(uint32 issuerId, bytes32 root, uint8 reason)
        private
        returns (address account)
    {
        Namespace storage ns;
        PackedAccount held;
        (ns, account, held) = _acting(issuerId, REVOKE);
        _checkBatch(ns, issuerId, root);
        Slot storage slot = ns.batches[root];
        PackedRecord batch = slot.record;
        (PackedRecord revised, bool aside) = _revised(ns, batch, held, _revocation(held, reason));
        if (revised.revokedBlock() == 0) _refuse(issuerId, root, batch, reason);

        slot.record = revised;
        if (aside) emit RevocationSetAside(root, issuerId, account);
    }

    /// @dev The record with the new revocation part. A final revocation moves only if its revoker
    /// is distrusted, and only for an account that manages the issuer. Otherwise a suspension can
    /// be released or made final, and anything else can be suspended or revoked.
    /// @return revised Zero where that changes nothing or is not allowed.
    /// @return aside Whether a final revocation is set aside.
    function _revised(
        Namespace storage ns,
        PackedRecord record,
        PackedAccount held,
        PackedRecord part
    ) private view returns (PackedRecord revised, bool aside) {
        if (record.isRevoked()) {
            if (
                held.permissions() & MANAGE == 0
                    || !_isDistrusted(ns, record.revokerIndex(), record.revokedBlock())
            ) return (PackedRecord.wrap(0), false);
            return (record.revised(part).markedSetAside(), true);
        }
        uint8 reason = part.reason();
        if (reason == REASON_RELEASED || reason == REASON_SUSPENDED) {
            if (_isSuspended(ns, record) == (reason == REASON_SUSPENDED)) {
                return (PackedRecord.wrap(0), false);
            }
        }
        return (record.revised(part), false);
    }

    /// @dev Says why {_revised} refused.
    function _refuse(uint32 issuerId, bytes32 key, PackedRecord record, uint8 reason)
        private
        pure
    {
        if (record.isRevoked()) revert AlreadyRevoked(issuerId, key);
        if (reason == REASON_RELEASED) revert NotSuspended(issuerId, key);
        revert AlreadySuspended(issuerId, key);
    }

    function _checkBatch(Namespace storage ns, uint32 issuerId, bytes32 root) private view {
        if (!ns.batches[root].record.isAnchored()) revert NotIssued(issuerId, root);
    }

    function _checkReason(uint8 reason) private pure {
        if (REASONS >> reason & 1 == 0) revert UnknownReason(reason);
    }

    // ---- reading --------------------------------------------------------------------------------

    function _status(Namespace storage ns, PackedRecord record) private view returns (Status) {
        if (!record.isAnchored()) return Status.NotIssued;
        if (_isDistrusted(ns, record.accountIndex(), record.anchoredBlock())) {
            return Status.Distrusted;
        }
        if (record.isRevoked()) {
            return record.reason() == REASON_SUPERSEDED ? Status.Superseded : Status.Revoked;
        }
        if (_isSuspended(ns, record)) return Status.Suspended;
        uint40 validUntil = record.validUntil();
        if (validUntil != 0 && block.timestamp >= validUntil) return Status.Expired;
        return Status.Valid;
    }

    /// @dev Whether the record is suspended, or was released by an account that is distrusted from
    /// that block or an earlier one: such a release counts as a suspension, whatever was under it.
    function _isSuspended(Namespace storage ns, PackedRecord record) private view returns (bool) {
        uint8 reason = record.reason();
        return reason == REASON_SUSPENDED
            || reason == REASON_RELEASED
                && _isDistrusted(ns, record.revokerIndex(), record.revokedBlock());
    }

    function _isDistrusted(Namespace storage ns, uint16 accountIndex, uint40 inBlock)
        private
        view
        returns (bool)
    {
        return ns.accountsOf[accountIndex].isDistrustedAt(inBlock);
    }

    /// @dev Zero when the document is not proven to be in the batch.
    function _recordInBatch(
        Namespace storage ns,
        bytes32 root,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] calldata proof
    ) private view returns (PackedRecord) {
        PackedRecord batch = ns.batches[root].record;
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(documentHash, validUntil))));
        if (
            !batch.isAnchored() || !_isDepthOf(proof.length, batch.size())
                || !MerkleProof.verifyCalldata(proof, root, leaf)
        ) return PackedRecord.wrap(0);
        PackedRecord document = ns.records[documentHash].record;
        return document.inBatch(batch, _prevails(ns, batch, document), validUntil);
    }

    /// @dev Whether a batch's revocation is shown rather than its document's: a final one before a
    /// suspension, then the earlier one; on a tie, and where neither has effect, the document's.
    function _prevails(Namespace storage ns, PackedRecord batch, PackedRecord document)
        private
        view
        returns (bool)
    {
        uint256 weight = _weight(ns, batch);
        uint256 weightOfOwn = _weight(ns, document);
        if (weight != weightOfOwn) return weight > weightOfOwn;
        return weight != 0 && batch.revokedBlock() < document.revokedBlock();
    }

    function _weight(Namespace storage ns, PackedRecord record) private view returns (uint256) {
        return record.isRevoked() ? 2 : _isSuspended(ns, record) ? 1 : 0;
    }

    /// @dev Leaves of a StandardMerkleTree are on its last level or the one above: it is a complete
    /// binary tree in an array.
    function _isDepthOf(uint256 depth, uint256 size) private pure returns (bool) {
        return depth == Math.log2(size) || depth == Math.log2(2 * size - 1);
    }

    function _verification(Namespace storage ns, PackedRecord record)
        private
        view
        returns (Verification memory verification)
    {
        verification.chainId = block.chainid;
        verification.blockNumber = _blockNumber();
        verification.blockTime = block.timestamp;
        verification.record = _unpack(record);
        verification.status = _status(ns, record);
        if (verification.status == Status.NotIssued) return verification;
        verification.account = _account(ns, record.accountIndex());
        if (record.revokedBlock() != 0) verification.revoker = _account(ns, record.revokerIndex());
        verification.issuer = _issuer(ns);
    }

    function _issuer(Namespace storage ns) private view returns (Issuer memory) {
        PackedState state = ns.state;
        return Issuer({
            name: ns.name,
            uri: ns.uri,
            documentCount: state.documentCount(),
            batchCount: state.batchCount(),
            accountCount: state.accountCount(),
            changedBlock: state.changedBlock(),
            closedBlock: state.closedBlock()
        });
    }

    function _account(Namespace storage ns, uint16 accountIndex)
        private
        view
        returns (Account memory)
    {
        PackedSigner signer = ns.accountsOf[accountIndex];
        address account = signer.account();
        if (account == address(0)) return _noAccount();
        PackedAccount held = ns.accounts[account];
        return Account({
            account: account,
            accountIndex: accountIndex,
            permissions: held.permissions(),
            addedBlock: held.addedBlock(),
            changedBlock: held.changedBlock(),
            retiredBlock: held.retiredBlock(),
            distrustedFrom: signer.distrustedFrom()
        });
    }

    function _noAccount() private pure returns (Account memory account) {}

    function _unpack(PackedRecord record) private pure returns (Record memory) {
        return Record({
            accountIndex: record.accountIndex(),
            anchoredBlock: record.anchoredBlock(),
            anchoredAt: record.anchoredAt(),
            validUntil: record.validUntil(),
            revokerIndex: record.revokerIndex(),
            revokedBlock: record.revokedBlock(),
            revokedAt: record.revokedAt(),
            reason: record.reason(),
            setAside: record.setAside()
        });
    }

    // ---- internal -------------------------------------------------------------------------------

    function _checkList(bytes32[] calldata documentHashes) private pure returns (uint256 length) {
        length = documentHashes.length;
        if (length == 0) revert EmptyList();
        if (length > MAX_LIST) revert ListTooLong(length);
    }

    /// @dev The block and the time of this write. Block 0 is refused, because 0 means "never".
    function _stamp() private view returns (Stamp) {
        uint256 number = _blockNumber();
        if (number == 0 || (number | block.timestamp) >> 40 != 0) {
            revert ClockOutOfRange(number, block.timestamp);
        }
        return toStamp(number, block.timestamp);
    }

    function _blockNumber() private view returns (uint256) {
        return ON_ARBITRUM ? ARB_SYS.arbBlockNumber() : block.number;
    }

    function _namespace(uint32 issuerId) private view returns (Namespace storage) {
        return _storage().namespaces[issuerId];
    }

    function _storage() private pure returns (Storage storage $) {
        assembly ("memory-safe") {
            $.slot := STORAGE_LOCATION
        }
    }
}
