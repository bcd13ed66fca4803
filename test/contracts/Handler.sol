// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Registry} from "./Base.sol";
import {Merkle} from "./Merkle.sol";
import {Model} from "./Model.sol";
import {vm} from "./Vm.sol";

/// @dev Calls the registry at random, with and without permission, directly and forwarded, and
/// updates the model. A forbidden call that succeeds fails the run at once, and so does an allowed
/// call that reverts.
contract Handler is Model {
    address public immutable admin;
    address public immutable forwarder;

    /// How often a call of a kind went through, so that a test can tell that the walk reaches it.
    mapping(bytes32 kind => uint256) public reached;
    /// Whether a document or batch was ever finally revoked.
    mapping(uint32 issuerId => mapping(bytes32 => bool)) public everFinal;
    /// The lowest distrust block ever seen of an account.
    mapping(uint32 issuerId => mapping(address => uint40)) public everDistrusted;

    /// Whether the last call went through: recorded logs hold those of reverted calls too.
    bool public wentThrough;

    uint256 private entropy;

    /// @param accounts_ Two accounts of each issuer, root first; the rest belong to nobody yet.
    constructor(Registry registry_, address admin_, address[] memory accounts_) Model(registry_) {
        admin = admin_;
        forwarder = registry_.trustedForwarder();
        for (uint256 i = 0; i < accounts_.length; ++i) {
            everyone.push(accounts_[i]);
        }
        everyone.push(admin_);
        everyone.push(forwarder);
        everyone.push(address(registry_));
        _adopt();
    }

    /// @dev Takes over what stands after the set-up: issuers and accounts, no documents.
    function _adopt() private {
        issuerCount = registry.issuerCount();
        for (uint32 issuerId = 1; issuerId <= ISSUERS; ++issuerId) {
            IDocumentRegistry.Issuer memory issuer = registry.issuerOf(issuerId);
            states[issuerId] = State(issuer.name, issuer.uri, issuer.changedBlock, 0);
            for (uint16 i = 0; i < issuer.accountCount; ++i) {
                IDocumentRegistry.Account memory account = registry.accountAt(issuerId, i);
                accountsOf[issuerId].push(account.account);
                accounts[issuerId][account.account] = account;
            }
        }
    }

    /// @dev One call of any kind: what the fuzzer does, for a test that walks by itself.
    function step(uint256 seed) external {
        uint256 kind = uint256(keccak256(abi.encode("kind", seed))) % 32;
        if (kind < 3) pass(seed);
        else if (kind < 5) issue(seed);
        else if (kind < 7) issueMany(seed);
        else if (kind < 9) revise(seed);
        else if (kind < 11) reviseMany(seed);
        else if (kind < 12) supersede(seed);
        else if (kind < 14) issueBatch(seed);
        else if (kind < 16) reviseBatch(seed);
        else if (kind < 18) reviseInBatch(seed);
        else if (kind < 21) addAccount(seed);
        else if (kind < 22) setPermissions(seed);
        else if (kind < 23) retireAccount(seed);
        else if (kind < 24) distrustFrom(seed);
        else if (kind < 26) distrustReviser(seed);
        else if (kind < 28) release(seed);
        else if (kind < 30) administer(seed);
        else settleProposal(seed);
    }

    // ---- time -----------------------------------------------------------------------------------

    function pass(uint256 seed) public {
        entropy = seed;
        uint256 blocks = _pick(4);
        // Seldom so long that a proposal ripens.
        uint256 seconds_ = _pick(12) == 0 ? 2 days : 12 * blocks;
        vm.roll(block.number + blocks);
        vm.warp(block.timestamp + seconds_);
    }

    // ---- documents ------------------------------------------------------------------------------

    function issue(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32 hash = document(_pick(DOCUMENTS));
        uint40 validUntil = _validUntil();
        IDocumentRegistry.Record storage record = documents[issuerId][hash];
        bool allowed = _may(issuerId, account, forwarded, ISSUE) && _mayIssue(issuerId, record);
        bool again = record.anchoredBlock != 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.issue, (issuerId, hash, validUntil));
        if (!_call(account, forwarded, data, allowed)) return;
        _anchor(record, issuerId, account, validUntil);
        ++reached[again ? bytes32("issue again") : bytes32("issue")];
        if (forwarded) ++reached["forwarded"];
    }

    function issueMany(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32[] memory hashes = _someDocuments();
        uint40[] memory validUntils = new uint40[](hashes.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            validUntils[i] = _validUntil();
        }
        bool allowed = _may(issuerId, account, forwarded, ISSUE) && hashes.length != 0
            && states[issuerId].closedBlock == 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.issueMany, (issuerId, hashes, validUntils));
        if (!_call(account, forwarded, data, allowed)) return;
        for (uint256 i = 0; i < hashes.length; ++i) {
            IDocumentRegistry.Record storage record = documents[issuerId][hashes[i]];
            if (!_mayIssue(issuerId, record)) continue;
            if (record.anchoredBlock != 0) ++reached["issue again in a list"];
            _anchor(record, issuerId, account, validUntils[i]);
        }
    }

    function revise(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32 hash = document(_pick(DOCUMENTS));
        _reviseDocument(issuerId, account, forwarded, hash, _reason());
    }

    /// @dev Releases, by an account that may, something that is suspended or that a distrusted
    /// account revoked, where there is any. With `distrustReviser` it makes and mends thefts.
    function release(uint256 seed) public {
        entropy = seed;
        uint32 issuerId = uint32(1 + _pick(ISSUERS));
        for (uint256 i = 0; i < 12; ++i) {
            bool alone = _pick(2) == 0;
            bytes32 key = alone ? document(_pick(DOCUMENTS)) : treeOf(_pick(TREES))[0];
            IDocumentRegistry.Record memory record =
                alone ? documents[issuerId][key] : batches[issuerId][key];
            address account = _member(issuerId);
            bool may = _may(issuerId, account, false, REVOKE);
            if (!may || !_mayRevise(issuerId, account, record, 8)) continue;
            if (alone) _reviseDocument(issuerId, account, false, key, 8);
            else _reviseRoot(issuerId, account, false, key, 8);
            return;
        }
    }

    function _reviseDocument(
        uint32 issuerId,
        address account,
        bool forwarded,
        bytes32 hash,
        uint8 reason
    ) private {
        IDocumentRegistry.Record storage record = documents[issuerId][hash];
        bool allowed = _may(issuerId, account, forwarded, REVOKE) && _isReason(reason)
            && record.anchoredBlock != 0 && _mayRevise(issuerId, account, record, reason);
        bytes memory data = reason == 8
            ? abi.encodeCall(IDocumentRegistry.release, (issuerId, hash))
            : abi.encodeCall(IDocumentRegistry.revoke, (issuerId, hash, reason));
        if (!_call(account, forwarded, data, allowed)) return;
        _reviseSeen(record, issuerId, hash, account, reason);
    }

    function reviseMany(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32[] memory hashes = _someDocuments();
        uint8 reason = _reason();
        bool allowed = _may(issuerId, account, forwarded, REVOKE) && _isReason(reason)
            && hashes.length != 0;
        for (uint256 i = 0; i < hashes.length; ++i) {
            allowed = allowed && documents[issuerId][hashes[i]].anchoredBlock != 0;
        }
        bytes memory data = reason == 8
            ? abi.encodeCall(IDocumentRegistry.releaseMany, (issuerId, hashes))
            : abi.encodeCall(IDocumentRegistry.revokeMany, (issuerId, hashes, reason));
        if (!_call(account, forwarded, data, allowed)) return;
        _reviseList(issuerId, hashes, account, reason);
    }

    function supersede(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32 hash = document(_pick(DOCUMENTS));
        bytes32 next = document(_pick(DOCUMENTS));
        bytes32 root = _pick(2) == 0 ? bytes32(0) : treeOf(_pick(TREES))[0];
        bool allowed = _may(issuerId, account, forwarded, ISSUE | REVOKE) && hash != next
            && _mayRevise(issuerId, account, documents[issuerId][hash], 4)
            && _mayIssue(issuerId, documents[issuerId][next]);
        if (root == 0) allowed = allowed && documents[issuerId][hash].anchoredBlock != 0;
        else allowed = allowed && batches[issuerId][root].anchoredBlock != 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.supersede, (issuerId, root, hash, next, 0));
        if (!_call(account, forwarded, data, allowed)) return;
        _reviseSeen(documents[issuerId][hash], issuerId, hash, account, 4);
        _anchor(documents[issuerId][next], issuerId, account, 0);
        ++reached[root == 0 ? bytes32("supersede") : bytes32("supersede in a batch")];
    }

    // ---- batches --------------------------------------------------------------------------------

    function issueBatch(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        uint256 tree = _pick(TREES);
        bytes32 root = treeOf(tree)[0];
        IDocumentRegistry.Record storage batch = batches[issuerId][root];
        bool again = batch.anchoredBlock != 0;
        bool allowed = _may(issuerId, account, forwarded, ISSUE) && _mayIssue(issuerId, batch);
        bytes memory data = abi.encodeCall(
            IDocumentRegistry.issueBatch, (issuerId, root, uint40(tree + 2), bytes32(seed))
        );
        if (!_call(account, forwarded, data, allowed)) return;
        _anchor(batch, issuerId, account, uint40(tree + 2));
        ++reached[again ? bytes32("issue a batch again") : bytes32("issue a batch")];
    }

    /// @dev A size that is not the tree's, up to the largest: no proof of another depth is
    /// believed, and nothing else suffers. The root is of no use to the model's trees.
    function issueHostileBatch(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32[] memory nodes = treeOf(TREES);
        uint40 size = _pick(2) == 0 ? type(uint40).max : uint40(_pick(type(uint40).max));
        IDocumentRegistry.Record storage batch = batches[issuerId][nodes[0]];
        if (batch.anchoredBlock != 0 || size == 3 || size == 4 || size == 5) return;
        bool allowed = _may(issuerId, account, forwarded, ISSUE)
            && states[issuerId].closedBlock == 0 && size != 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.issueBatch, (issuerId, nodes[0], size, 0));
        // Counted neither here nor in the model: undone at once.
        uint256 snapshot = vm.snapshotState();
        if (_call(account, forwarded, data, allowed)) {
            IDocumentRegistry.Status status = registry.statusInBatch(
                issuerId, nodes[0], document(0), 0, Merkle.proof(nodes, 0)
            );
            _mustBe(status == IDocumentRegistry.Status.NotIssued);
            _mustBe(registry.batchOf(issuerId, nodes[0]).size == size);
        }
        vm.revertToState(snapshot);
    }

    function reviseBatch(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32 root = treeOf(_pick(TREES))[0];
        _reviseRoot(issuerId, account, forwarded, root, _reason());
    }

    function _reviseRoot(
        uint32 issuerId,
        address account,
        bool forwarded,
        bytes32 root,
        uint8 reason
    ) private {
        IDocumentRegistry.Record storage batch = batches[issuerId][root];
        bool allowed = _may(issuerId, account, forwarded, REVOKE) && _isReason(reason)
            && batch.anchoredBlock != 0 && _mayRevise(issuerId, account, batch, reason);
        bytes memory data = reason == 8
            ? abi.encodeCall(IDocumentRegistry.releaseBatch, (issuerId, root))
            : abi.encodeCall(IDocumentRegistry.revokeBatch, (issuerId, root, reason));
        if (!_call(account, forwarded, data, allowed)) return;
        _reviseSeen(batch, issuerId, root, account, reason);
        ++reached[reason == 8 ? bytes32("release a batch") : bytes32("revoke a batch")];
    }

    function reviseInBatch(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address account, bool forwarded) = _actor();
        bytes32 root = treeOf(_pick(TREES))[0];
        bytes32[] memory hashes = _someDocuments();
        uint8 reason = _reason();
        bool allowed = _may(issuerId, account, forwarded, REVOKE) && _isReason(reason)
            && hashes.length != 0 && batches[issuerId][root].anchoredBlock != 0;
        bytes memory data = reason == 8
            ? abi.encodeCall(IDocumentRegistry.releaseInBatch, (issuerId, root, hashes))
            : abi.encodeCall(IDocumentRegistry.revokeInBatch, (issuerId, root, hashes, reason));
        if (!_call(account, forwarded, data, allowed)) return;
        _reviseList(issuerId, hashes, account, reason);
        ++reached["revise in a batch"];
    }

    // ---- accounts -------------------------------------------------------------------------------

    function addAccount(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address by, bool forwarded) = _manager();
        address account = _anyone();
        uint8 permissions = _permissions();
        bool allowed = _may(issuerId, by, forwarded, MANAGE) && _isPermissions(permissions)
            && _isPossible(account) && accounts[issuerId][account].addedBlock == 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.addAccount, (issuerId, account, permissions));
        if (!_call(by, forwarded, data, allowed)) return;
        _addAccount(issuerId, account, permissions);
        ++reached["add an account"];
    }

    function setPermissions(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address by, bool forwarded) = _manager();
        address account = _member(issuerId);
        uint8 permissions = _permissions();
        IDocumentRegistry.Account storage held = accounts[issuerId][account];
        // Roots keep MANAGE most of the time, or nothing happens any more.
        if (held.accountIndex == 0 && _pick(40) != 0) permissions |= MANAGE | REVOKE;
        bool allowed = _may(issuerId, by, forwarded, MANAGE) && _isPermissions(permissions)
            && held.addedBlock != 0 && held.retiredBlock == 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.setPermissions, (issuerId, account, permissions));
        if (!_call(by, forwarded, data, allowed)) return;
        held.permissions = permissions;
        held.changedBlock = uint40(block.number);
        ++reached["set permissions"];
    }

    function retireAccount(uint256 seed) public {
        entropy = seed;
        if (_pick(3) != 0) return;
        (uint32 issuerId, address by, bool forwarded) = _manager();
        address account = _pick(3) == 0 ? by : _member(issuerId);
        IDocumentRegistry.Account storage held = accounts[issuerId][account];
        if (held.accountIndex == 0 && _pick(40) != 0) return;
        bool allowed = held.addedBlock != 0 && held.retiredBlock == 0
            && _may(issuerId, by, forwarded, by == account ? 0 : MANAGE);
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.retireAccount, (issuerId, account));
        if (!_call(by, forwarded, data, allowed)) return;
        _retireAccount(issuerId, account);
        ++reached[by == account ? bytes32("retire itself") : bytes32("retire")];
    }

    function distrustFrom(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address by, bool forwarded) = _manager();
        address account = _pick(3) == 0 ? _member(issuerId) : _busyMember(issuerId);
        IDocumentRegistry.Account storage held = accounts[issuerId][account];
        if (held.accountIndex == 0 && _pick(40) != 0) return;
        uint40 fromBlock = uint40(block.number + 2 - _pick(40));
        if (_pick(2) == 0) fromBlock = uint40(_pick(8) == 0 ? 0 : 1 + _pick(1_000));
        _distrust(issuerId, by, forwarded, account, fromBlock);
    }

    /// @dev Finds that a release or a final revocation was a thief's: distrusts its account from a
    /// block near it.
    function distrustReviser(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address by, bool forwarded) = _manager();
        IDocumentRegistry.Record memory record;
        for (uint256 i = 0; i < 8 && !_isDone(record); ++i) {
            record = _pick(2) == 0
                ? documents[issuerId][document(_pick(DOCUMENTS))]
                : batches[issuerId][treeOf(_pick(TREES))[0]];
        }
        if (!_isDone(record)) return;
        address account = accountsOf[issuerId][record.revokerIndex];
        if (record.revokerIndex == 0 && _pick(8) != 0) return;
        _distrust(issuerId, by, forwarded, account, record.revokedBlock + 1 - uint40(_pick(3)));
    }

    function _isDone(IDocumentRegistry.Record memory record) private pure returns (bool) {
        return record.reason == 8 || _isFinal(record);
    }

    function _distrust(
        uint32 issuerId,
        address by,
        bool forwarded,
        address account,
        uint40 fromBlock
    ) private {
        IDocumentRegistry.Account storage held = accounts[issuerId][account];
        bool allowed = _may(issuerId, by, forwarded, MANAGE) && held.addedBlock != 0
            && fromBlock != 0 && fromBlock <= block.number
            && (held.distrustedFrom == 0 || fromBlock < held.distrustedFrom);
        uint8[] memory before = _statuses();
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.distrustFrom, (issuerId, account, fromBlock));
        if (!_call(by, forwarded, data, allowed)) return;
        if (held.retiredBlock == 0) _retireAccount(issuerId, account);
        held.distrustedFrom = fromBlock;
        ++reached["distrust"];

        _worsened(before, _statuses());
        uint40 lowest = everDistrusted[issuerId][account];
        _mustBe(lowest == 0 || fromBlock < lowest);
        everDistrusted[issuerId][account] = fromBlock;
    }

    /// @dev Distrust alone never improves a verdict: a status stays, or becomes Distrusted; or a
    /// valid or expired one becomes Suspended, because its release counts no more.
    function _worsened(uint8[] memory before, uint8[] memory afterwards) private {
        for (uint256 i = 0; i < before.length; ++i) {
            if (afterwards[i] == before[i]) continue;
            if (afterwards[i] == uint8(IDocumentRegistry.Status.Distrusted)) continue;
            _mustBe(
                afterwards[i] == uint8(IDocumentRegistry.Status.Suspended)
                    && (before[i] == uint8(IDocumentRegistry.Status.Valid)
                        || before[i] == uint8(IDocumentRegistry.Status.Expired))
            );
            // The batches' statuses come after the documents' of each issuer.
            (bytes32 alone, bytes32 inBatch) =
                ("a thief's release", "a thief's release in a batch");
            ++reached[i % (DOCUMENTS + 5) < DOCUMENTS ? alone : inBatch];
        }
    }

    // ---- the admin ------------------------------------------------------------------------------

    /// @dev Whatever the admin does, no status changes.
    function administer(uint256 seed) public {
        entropy = seed;
        bool isAdmin = _pick(6) != 0;
        address by = isAdmin ? admin : _anyone();
        isAdmin = by == admin;
        // A forwarded call never comes from the admin.
        bool forwarded = _pick(6) == 0;
        isAdmin = isAdmin && !forwarded;
        uint32 issuerId = _pick(8) == 0 ? uint32(_pick(2) * 3) : uint32(1 + _pick(ISSUERS));
        bool exists = issuerId != 0 && issuerId <= ISSUERS;
        uint8[] memory before = _statuses();
        // Reopening is tried more often than closing.
        uint256 kind = _pick(10);
        if (kind > 5) kind = 2;
        if (kind == 0) _update(by, forwarded, isAdmin && exists, issuerId);
        else if (kind == 1) _close(by, forwarded, isAdmin && exists, issuerId);
        else if (kind == 2) _reopen(by, forwarded, isAdmin && exists, issuerId);
        else if (kind == 3) _propose(by, forwarded, isAdmin && exists, issuerId);
        else if (kind == 4) _withdraw(by, forwarded, isAdmin, issuerId);
        else _grant(by, forwarded);
        _mustBe(keccak256(abi.encode(before)) == keccak256(abi.encode(_statuses())));
    }

    function settleProposal(uint256 seed) public {
        entropy = seed;
        (uint32 issuerId, address by, bool forwarded) = _actor();
        IDocumentRegistry.Proposal storage proposal = proposals[issuerId];
        bool accepting = _pick(3) != 0;
        if (accepting && _pick(4) != 0) by = proposal.account;
        bool allowed = accepting
            ? !forwarded && by == proposal.account && by != address(0)
                && block.timestamp >= proposal.acceptFrom
                && block.timestamp <= proposal.acceptUntil
                && accounts[issuerId][by].addedBlock == 0
            : proposal.account != address(0) && _may(issuerId, by, forwarded, MANAGE);
        bytes memory data = accepting
            ? abi.encodeCall(IDocumentRegistry.acceptProposal, (issuerId))
            : abi.encodeCall(IDocumentRegistry.vetoProposal, (issuerId));
        if (!_call(by, forwarded, data, allowed)) return;
        delete proposals[issuerId];
        if (accepting) _addAccount(issuerId, by, MANAGE);
        ++reached[accepting ? bytes32("accept") : bytes32("veto")];
    }

    function _update(address by, bool forwarded, bool allowed, uint32 issuerId) private {
        string memory name = _pick(4) == 0 ? "" : "A new name";
        allowed = allowed && bytes(name).length != 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.updateIssuer, (issuerId, name, "a uri"));
        if (!_call(by, forwarded, data, allowed)) return;
        (states[issuerId].name, states[issuerId].uri) = (name, "a uri");
        states[issuerId].changedBlock = uint40(block.number);
    }

    function _close(address by, bool forwarded, bool allowed, uint32 issuerId) private {
        allowed = allowed && states[issuerId].closedBlock == 0;
        bytes memory data = abi.encodeCall(IDocumentRegistry.closeIssuer, (issuerId));
        if (!_call(by, forwarded, data, allowed)) return;
        states[issuerId].closedBlock = uint40(block.number);
        states[issuerId].changedBlock = uint40(block.number);
        ++reached["close"];
    }

    function _reopen(address by, bool forwarded, bool allowed, uint32 issuerId) private {
        allowed = allowed && states[issuerId].closedBlock != 0;
        bytes memory data = abi.encodeCall(IDocumentRegistry.reopenIssuer, (issuerId));
        if (!_call(by, forwarded, data, allowed)) return;
        states[issuerId].closedBlock = 0;
        states[issuerId].changedBlock = uint40(block.number);
        ++reached["reopen"];
    }

    function _propose(address by, bool forwarded, bool allowed, uint32 issuerId) private {
        address account = _anyone();
        allowed =
            allowed && _isPossible(account) && accounts[issuerId][account].addedBlock == 0;
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.proposeAccount, (issuerId, account));
        if (!_call(by, forwarded, data, allowed)) return;
        uint40 from = uint40(block.timestamp) + registry.proposalDelay();
        proposals[issuerId] = IDocumentRegistry.Proposal(account, from, from + 30 days);
        ++reached["propose"];
    }

    function _withdraw(address by, bool forwarded, bool allowed, uint32 issuerId) private {
        allowed = allowed && proposals[issuerId].account != address(0);
        bytes memory data = abi.encodeCall(IDocumentRegistry.withdrawProposal, (issuerId));
        if (!_call(by, forwarded, data, allowed)) return;
        delete proposals[issuerId];
        ++reached["withdraw"];
    }

    /// @dev Nobody gives or takes a role by AccessControl's own functions.
    function _grant(address by, bool forwarded) private {
        bytes32 role = keccak256("ISSUER_ROLE");
        address account = _anyone();
        string memory function_ = _pick(2) == 0 ? "grantRole" : "revokeRole";
        bytes memory data = abi.encodeWithSignature(
            string.concat(function_, "(bytes32,address)"), role, account
        );
        _call(by, forwarded, data, false);
    }

    // ---- who may --------------------------------------------------------------------------------

    function _may(uint32 issuerId, address account, bool forwarded, uint8 needed)
        private
        view
        returns (bool)
    {
        if (forwarded) needed |= DELEGATE;
        return accounts[issuerId][account].permissions & needed == needed;
    }

    function _mayIssue(uint32 issuerId, IDocumentRegistry.Record memory record)
        private
        view
        returns (bool)
    {
        if (states[issuerId].closedBlock != 0) return false;
        return record.anchoredBlock == 0
            || _isDistrusted(issuerId, record.accountIndex, record.anchoredBlock);
    }

    function _mayRevise(
        uint32 issuerId,
        address account,
        IDocumentRegistry.Record memory record,
        uint8 reason
    ) private view returns (bool) {
        if (_isFinal(record)) {
            return accounts[issuerId][account].permissions & MANAGE != 0
                && _isDistrusted(issuerId, record.revokerIndex, record.revokedBlock);
        }
        if (reason == 6) return !_isHold(issuerId, record);
        if (reason == 8) return _isHold(issuerId, record);
        return true;
    }

    /// @dev Of reasons as `_reason` makes them.
    function _isReason(uint8 reason) private pure returns (bool) {
        return reason != 7 && reason < 11;
    }

    function _isPermissions(uint8 permissions) private pure returns (bool) {
        return permissions != 0 && permissions < 16;
    }

    function _isPossible(address account) private view returns (bool) {
        return account != address(registry) && account != forwarder;
    }

    // ---- internal -------------------------------------------------------------------------------

    function _reviseSeen(
        IDocumentRegistry.Record storage record,
        uint32 issuerId,
        bytes32 key,
        address account,
        uint8 reason
    ) private {
        if (_isFinal(record)) {
            record.setAside = true;
            ++reached["set aside"];
        }
        if (_isThiefsRelease(issuerId, record)) {
            ++reached[reason == 8 ? bytes32("released again") : bytes32("final after a theft")];
            if (record.setAside) ++reached["what a thief set aside"];
        }
        _revise(record, issuerId, account, reason);
        if (_isFinal(record)) everFinal[issuerId][key] = true;
        bytes32 kind = reason == 8 ? bytes32("release") : bytes32("revoke");
        ++reached[reason == 6 ? bytes32("suspend") : kind];
    }

    function _reviseList(
        uint32 issuerId,
        bytes32[] memory hashes,
        address account,
        uint8 reason
    ) private {
        for (uint256 i = 0; i < hashes.length; ++i) {
            IDocumentRegistry.Record storage record = documents[issuerId][hashes[i]];
            if (!_mayRevise(issuerId, account, record, reason)) continue;
            _reviseSeen(record, issuerId, hashes[i], account, reason);
        }
    }

    function _call(address account, bool forwarded, bytes memory data, bool allowed)
        private
        returns (bool success)
    {
        vm.prank(forwarded ? forwarder : account);
        (success,) = address(registry).call(forwarded ? abi.encodePacked(data, account) : data);
        _mustBe(success == allowed);
        wentThrough = success;
    }

    function _mustBe(bool condition) private pure {
        require(condition, "a call went through that must not, or the other way round");
    }

    /// @dev The status of every document alone, and in every batch.
    function _statuses() private view returns (uint8[] memory statuses) {
        statuses = new uint8[](ISSUERS * (DOCUMENTS + 5));
        uint256 next = 0;
        for (uint32 issuerId = 1; issuerId <= ISSUERS; ++issuerId) {
            for (uint256 i = 0; i < DOCUMENTS; ++i) {
                statuses[next++] = uint8(registry.statusOf(issuerId, document(i)));
            }
            for (uint256 t = 0; t < TREES; ++t) {
                bytes32[] memory nodes = treeOf(t);
                for (uint256 i = 0; i < t + 2; ++i) {
                    bytes32[] memory proof = Merkle.proof(nodes, i);
                    statuses[next++] = uint8(
                        registry.statusInBatch(issuerId, nodes[0], document(i), 0, proof)
                    );
                }
            }
        }
    }

    // ---- choosing -------------------------------------------------------------------------------

    function _pick(uint256 count) private returns (uint256) {
        entropy = uint256(keccak256(abi.encode(entropy)));
        return entropy % count;
    }

    /// @dev Mostly an account of the issuer, sometimes anybody; sometimes forwarded; seldom for an
    /// issuer that does not exist.
    function _actor() private returns (uint32 issuerId, address account, bool forwarded) {
        issuerId = _pick(32) == 0 ? uint32(_pick(2) * 3) : uint32(1 + _pick(ISSUERS));
        account = _member(issuerId);
        forwarded = _pick(4) == 0;
        if (account == forwarder) forwarded = false;
        if (_pick(3) == 0) return _root(issuerId, account, forwarded);
    }

    /// @dev As `_actor`, and half of the time the issuer's root.
    function _manager() private returns (uint32 issuerId, address account, bool forwarded) {
        (issuerId, account, forwarded) = _actor();
        if (_pick(3) == 0) return _root(issuerId, account, forwarded);
    }

    function _root(uint32 issuerId, address account, bool forwarded)
        private
        view
        returns (uint32, address, bool)
    {
        if (accountsOf[issuerId].length == 0) return (issuerId, account, forwarded);
        return (issuerId, accountsOf[issuerId][0], false);
    }

    /// @dev An account that issued or revoked something.
    function _busyMember(uint32 issuerId) private returns (address) {
        if (accountsOf[issuerId].length == 0) return _anyone();
        bytes32 hash = _pick(2) == 0 ? document(_pick(DOCUMENTS)) : treeOf(_pick(TREES))[0];
        IDocumentRegistry.Record storage record = documents[issuerId][hash];
        if (record.anchoredBlock == 0) record = batches[issuerId][hash];
        bool issuing = _pick(2) == 0;
        return accountsOf[issuerId][issuing ? record.accountIndex : record.revokerIndex];
    }

    function _member(uint32 issuerId) private returns (address) {
        uint256 count = accountsOf[issuerId].length;
        return count == 0 || _pick(6) == 0 ? _anyone() : accountsOf[issuerId][_pick(count)];
    }

    function _anyone() private returns (address) {
        return everyone[_pick(everyone.length)];
    }

    function _someDocuments() private returns (bytes32[] memory hashes) {
        hashes = new bytes32[](_pick(4));
        for (uint256 i = 0; i < hashes.length; ++i) {
            hashes[i] = document(_pick(DOCUMENTS));
        }
    }

    /// @dev Half of the time those of a gateway's key; 0, 16 and 17 are invalid.
    function _permissions() private returns (uint8) {
        return _pick(2) == 0 ? ISSUE | REVOKE | DELEGATE : uint8(_pick(18));
    }

    function _validUntil() private returns (uint40) {
        return _pick(2) == 0 ? 0 : uint40(block.timestamp + _pick(200));
    }

    /// @dev Mostly a suspension or a release; 7 and 11 are unknown.
    function _reason() private returns (uint8) {
        return _pick(3) == 0 ? uint8(_pick(12)) : uint8(6 + 2 * _pick(2));
    }
}
