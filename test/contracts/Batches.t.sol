// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

abstract contract BatchBase is Base {
    bytes32 internal constant MANIFEST = keccak256("a manifest");
    uint40 internal constant EXPIRY = NOW + 1_000;

    bytes32[] internal documents = _hashes(5);
    bytes32[] internal tree = Merkle.tree(_hashes(5), EXPIRY);
    bytes32 internal root = tree[0];

    function _issueBatch(address account, uint32 issuerId, bytes32 root_, uint40 size) internal {
        vm.prank(account);
        registry.issueBatch(issuerId, root_, size, MANIFEST);
    }

    function _revokeBatch(address account, uint32 issuerId, uint8 reason) internal {
        vm.prank(account);
        registry.revokeBatch(issuerId, root, reason);
    }

    function _releaseBatch(address account) internal {
        vm.prank(account);
        registry.releaseBatch(aliceId, root);
    }

    function _revokeInBatch(address account, uint32 issuerId, bytes32[] memory list, uint8 reason)
        internal
    {
        vm.prank(account);
        registry.revokeInBatch(issuerId, root, list, reason);
    }

    function _releaseInBatch(address account, uint32 issuerId, bytes32[] memory list) internal {
        vm.prank(account);
        registry.releaseInBatch(issuerId, root, list);
    }

    function _verificationAt(uint32 issuerId, uint256 index)
        internal
        view
        returns (IDocumentRegistry.Verification memory)
    {
        return registry.verificationInBatch(
            issuerId, root, documents[index], EXPIRY, Merkle.proof(tree, index)
        );
    }

    function _statusInBatch(
        uint32 issuerId,
        bytes32 root_,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] memory proof
    ) internal view returns (IDocumentRegistry.Status) {
        return registry.statusInBatch(issuerId, root_, documentHash, validUntil, proof);
    }

    function assertStatusAt(uint32 issuerId, uint256 index, IDocumentRegistry.Status expected)
        internal
        view
    {
        IDocumentRegistry.Status status =
            _statusInBatch(issuerId, root, documents[index], EXPIRY, Merkle.proof(tree, index));
        assertStatus(status, expected);
        assertStatus(_verificationAt(issuerId, index).status, expected);
    }
}

contract IssueBatchTest is BatchBase {
    function test_RevertGiven_CallerLacksIssue() external {
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, ISSUE);
        _issueBatch(alice, aliceId, root, 5);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, ISSUE);
        _issueBatch(bob, aliceId, root, 5);
    }

    function test_RevertGiven_IssuerIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _issueBatch(alice, aliceId, root, 5);
    }

    function test_RevertWhen_RootIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issueBatch(alice, aliceId, 0, 5);
    }

    function test_RevertWhen_SizeIsZero() external {
        expectError(IDocumentRegistry.EmptyBatch.selector, uint256(root));
        _issueBatch(alice, aliceId, root, 0);
    }

    function test_RevertGiven_ItIsIssued() external {
        _issueBatch(alice, aliceId, root, 5);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, root);
        _issueBatch(alice, aliceId, root, 6);
    }

    function test_RevertGiven_ItIsIssuedAndRevoked() external {
        _issueBatch(alice, aliceId, root, 5);
        _revokeBatch(alice, aliceId, 1);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, root);
        _issueBatch(alice, aliceId, root, 5);
    }

    function test_TheSameRootUnderTwoIssuersIsTwoBatches() external {
        _issueBatch(bob, bobId, root, 5);
        _issueBatch(alice, aliceId, root, 5);
        _revokeBatch(bob, bobId, 1);
        _revokeInBatch(bob, bobId, documents, 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        assertStatusAt(bobId, 0, IDocumentRegistry.Status.Revoked);
    }

    /// A root and a document's hash are two keys, even where they are equal.
    function test_ARootIsNotADocument() external {
        _issueBatch(alice, aliceId, root, 5);
        assertStatus(root, IDocumentRegistry.Status.NotIssued);
        _issue(alice, aliceId, root, 0);
        _revoke(alice, aliceId, root, 1);
        assertEq(registry.batchOf(aliceId, root).revokedBlock, 0, "the batch's revocation");
    }

    function test_ADistrustedRootIsIssuedAgain() external {
        _issueBatch(alice, aliceId, root, 4);
        _revokeBatch(alice, aliceId, 6);
        _pass(5);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        _add(aliceRoot, aliceId, carol, ISSUE);
        expectEmit();
        emit IDocumentRegistry.BatchIssued(root, aliceId, carol, 5, MANIFEST);
        _issueBatch(carol, aliceId, root, 5);

        IDocumentRegistry.Batch memory batch = registry.batchOf(aliceId, root);
        assertEq(batch.accountIndex, 2, "accountIndex");
        assertEq(batch.anchoredBlock, BLOCK + 5, "anchoredBlock");
        assertEq(batch.size, 5, "size");
        assertEq(batch.revokedBlock, BLOCK, "revokedBlock");
        assertEq(batch.reason, 6, "reason");
        assertEq(registry.issuerOf(aliceId).batchCount, 1, "count");
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
    }

    function testFuzz_IssueBatch(bytes32 anyRoot, uint40 size, bytes32 manifest) external {
        vm.assume(anyRoot != 0 && size != 0);
        expectEmit();
        emit IDocumentRegistry.BatchIssued(anyRoot, aliceId, alice, size, manifest);
        vm.prank(alice);
        registry.issueBatch(aliceId, anyRoot, size, manifest);

        IDocumentRegistry.Batch memory batch = registry.batchOf(aliceId, anyRoot);
        assertEq(batch.accountIndex, 1, "accountIndex");
        assertEq(batch.anchoredBlock, BLOCK, "anchoredBlock");
        assertEq(batch.anchoredAt, NOW, "anchoredAt");
        assertEq(batch.size, size, "size");
        assertEq(batch.revokerIndex, 0, "revokerIndex");
        assertEq(batch.revokedBlock, 0, "revokedBlock");
        assertEq(batch.revokedAt, 0, "revokedAt");
        assertEq(batch.reason, 0, "reason");
        assertTrue(!batch.setAside, "setAside");
        assertEq(registry.issuerOf(aliceId).batchCount, 1, "count of batches");
        assertEq(registry.issuerOf(aliceId).documentCount, 0, "count of documents");
        assertEq(registry.batchOf(bobId, anyRoot).anchoredBlock, 0, "the other issuer's");
    }
}

contract StatusInBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, aliceId, root, 5);
    }

    function test_EveryDocumentIsValidUntilItsExpiry() external {
        for (uint256 i = 0; i < 5; ++i) {
            assertStatusAt(aliceId, i, IDocumentRegistry.Status.Valid);
        }
        vm.warp(EXPIRY - 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        vm.warp(EXPIRY);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Expired);
    }

    function test_ADocumentWithoutExpiryNeverExpires() external {
        bytes32 leaf = Merkle.leaf(HASH, 0);
        _issueBatch(alice, aliceId, leaf, 1);
        vm.warp(type(uint40).max);
        IDocumentRegistry.Status status =
            _statusInBatch(aliceId, leaf, HASH, 0, new bytes32[](0));
        assertStatus(status, IDocumentRegistry.Status.Valid);
    }

    function test_AnotherIssuersBatchIsNotIssued() external view {
        assertStatusAt(bobId, 0, IDocumentRegistry.Status.NotIssued);
        assertStatusAt(0, 0, IDocumentRegistry.Status.NotIssued);
    }

    function testFuzz_AnythingElseIsNotIssued(
        bytes32 documentHash,
        uint40 validUntil,
        uint256 flip
    ) external view {
        bytes32[] memory proof = Merkle.proof(tree, 0);
        vm.assume(documentHash != documents[0] && validUntil != EXPIRY);
        IDocumentRegistry.Status none = IDocumentRegistry.Status.NotIssued;
        assertStatus(_statusInBatch(aliceId, root, documentHash, EXPIRY, proof), none);
        assertStatus(_statusInBatch(aliceId, root, documents[0], validUntil, proof), none);
        bytes32 otherRoot = bytes32(uint256(root) ^ 1);
        assertStatus(_statusInBatch(aliceId, otherRoot, documents[0], EXPIRY, proof), none);
        proof[flip % proof.length] ^= bytes32(1 << (flip >> 248));
        assertStatus(_statusInBatch(aliceId, root, documents[0], EXPIRY, proof), none);
    }

    /// A leaf is hashed twice, so that no inner node passes for a leaf.
    function test_AnInnerNodeIsNotALeaf() external {
        bytes32 single = keccak256(abi.encode(HASH, EXPIRY));
        _issueBatch(alice, aliceId, single, 1);
        IDocumentRegistry.Status status =
            _statusInBatch(aliceId, single, HASH, EXPIRY, new bytes32[](0));
        assertStatus(status, IDocumentRegistry.Status.NotIssued);
    }

    /// A leaf that is its own root proves nothing until that root is issued.
    function test_WithoutABatchALeafIsNothing() external view {
        bytes32 leaf = Merkle.leaf(HASH, 0);
        assertStatus(
            _statusInBatch(aliceId, leaf, HASH, 0, new bytes32[](0)),
            IDocumentRegistry.Status.NotIssued
        );
    }

    function testFuzz_TreesOfEverySize(uint8 count, uint40 validUntil, uint256 index) external {
        vm.assume(count != 0);
        bytes32[] memory hashes = _hashes(count);
        bytes32[] memory nodes = Merkle.tree(hashes, validUntil);
        index %= count;
        if (nodes[0] != root) _issueBatch(alice, aliceId, nodes[0], count);
        IDocumentRegistry.Record memory record = registry.verificationInBatch(
            aliceId, nodes[0], hashes[index], validUntil, Merkle.proof(nodes, index)
        ).record;
        assertEq(record.anchoredBlock, BLOCK, "anchoredBlock");
        assertEq(record.validUntil, validUntil, "validUntil");
    }

    /// A proof is believed only where a tree of the size that was issued has leaves.
    function testFuzz_SizeAndProofsAgree(uint8 count, uint40 size, uint256 index) external {
        vm.assume(count != 0 && size != 0);
        bytes32[] memory hashes = _hashes(count);
        bytes32[] memory nodes = Merkle.tree(hashes, EXPIRY);
        bytes32[] memory proof = Merkle.proof(nodes, index % count);
        _issueBatch(bob, bobId, nodes[0], size);

        // Levels of a tree with `size` leaves, found by halving.
        uint256 upper = 0;
        for (uint256 left = size; left > 1; left /= 2) {
            ++upper;
        }
        uint256 lower = 2 ** upper < size ? upper + 1 : upper;
        bool possible = proof.length == upper || proof.length == lower;
        assertStatus(
            _statusInBatch(bobId, nodes[0], hashes[index % count], EXPIRY, proof),
            possible ? IDocumentRegistry.Status.Valid : IDocumentRegistry.Status.NotIssued
        );
    }

    function test_SizesAroundAPowerOfTwo() external {
        // Proofs of a tree of four have two hashes: a size of 2 allows one, of 3 one or two, of 4
        // two, of 5 two or three, of 8 three.
        uint40[5] memory sizes = [uint40(2), 3, 4, 5, 8];
        bool[5] memory believed = [false, true, true, true, false];
        bytes32[] memory nodes = Merkle.tree(_hashes(4), EXPIRY);
        for (uint256 i = 0; i < 5; ++i) {
            vm.prank(admin);
            uint32 issuerId = registry.registerIssuer(carol, "An issuer", "");
            _permit(carol, issuerId, carol, ISSUE);
            _issueBatch(carol, issuerId, nodes[0], sizes[i]);
            IDocumentRegistry.Status status =
                _statusInBatch(issuerId, nodes[0], documents[0], EXPIRY, Merkle.proof(nodes, 0));
            assertTrue(believed[i] == (status == IDocumentRegistry.Status.Valid), "believed");
        }
    }

    function test_DistrustedFromTheBlockOfTheBatch() external {
        _pass(1);
        _distrust(aliceRoot, aliceId, alice, BLOCK + 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Distrusted);
        vm.warp(EXPIRY);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Distrusted);
    }

    /// Issued alone and in a batch, a document has two anchorings and one revocation.
    function test_ADocumentOfBothPaths() external {
        _pass(1);
        _issue(alice, aliceId, documents[0], 0);
        assertEq(_record(documents[0]).anchoredBlock, BLOCK + 1, "alone");
        assertEq(_verificationAt(aliceId, 0).record.anchoredBlock, BLOCK, "in the batch");
        _revoke(alice, aliceId, documents[0], 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Revoked);
        _revokeInBatch(alice, aliceId, _list(documents[0]), 1);
        assertStatus(documents[0], IDocumentRegistry.Status.Revoked);
    }

    function test_RevokedInABatchItReadsRevokedAlone() external {
        _issue(alice, aliceId, documents[0], 0);
        _revokeInBatch(alice, aliceId, _list(documents[0]), 5);
        assertStatus(documents[0], IDocumentRegistry.Status.Revoked);
    }

    /// A batch's revocation holds for its root only.
    function test_ARevokedBatchLeavesOtherPaths() external {
        _issue(alice, aliceId, documents[0], 0);
        bytes32 leaf = Merkle.leaf(documents[0], 0);
        _issueBatch(alice, aliceId, leaf, 1);
        _revokeBatch(alice, aliceId, 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Revoked);
        assertStatus(documents[0], IDocumentRegistry.Status.Valid);
        IDocumentRegistry.Status status =
            _statusInBatch(aliceId, leaf, documents[0], 0, new bytes32[](0));
        assertStatus(status, IDocumentRegistry.Status.Valid);
    }

    function test_VerificationInBatch() external {
        _pass(2);
        _add(aliceRoot, aliceId, carol, REVOKE);
        _revokeInBatch(carol, aliceId, _list(documents[3]), 4);

        IDocumentRegistry.Verification memory verification = _verificationAt(aliceId, 1);
        assertStatus(verification.status, IDocumentRegistry.Status.Valid);
        IDocumentRegistry.Record memory expected;
        expected.accountIndex = 1;
        expected.anchoredBlock = BLOCK;
        expected.anchoredAt = NOW;
        expected.validUntil = EXPIRY;
        assertEq(verification.record, expected, "record");
        assertEq(verification.account, registry.accountOf(aliceId, alice), "account");
        IDocumentRegistry.Account memory nobody;
        assertEq(verification.revoker, nobody, "revoker");
        assertEq(verification.issuer.name, "Alice University", "name");
        assertEq(verification.blockNumber, BLOCK + 2, "blockNumber");

        verification = _verificationAt(aliceId, 3);
        assertStatus(verification.status, IDocumentRegistry.Status.Superseded);
        expected.revokerIndex = 2;
        expected.revokedBlock = BLOCK + 2;
        expected.revokedAt = NOW + 24;
        expected.reason = 4;
        assertEq(verification.record, expected, "revoked record");
        assertEq(verification.revoker, registry.accountOf(aliceId, carol), "revoker");
    }

    function test_VerificationOfNothingSaysNothing() external view {
        IDocumentRegistry.Verification memory verification = registry.verificationInBatch(
            aliceId, root, documents[0], EXPIRY + 1, Merkle.proof(tree, 0)
        );
        IDocumentRegistry.Record memory none;
        IDocumentRegistry.Account memory nobody;
        assertStatus(verification.status, IDocumentRegistry.Status.NotIssued);
        assertEq(verification.record, none, "record");
        assertEq(verification.account, nobody, "account");
        assertEq(verification.issuer.accountCount, 0, "issuer");
        assertEq(verification.blockNumber, BLOCK, "blockNumber");
        assertEq(verification.blockTime, NOW, "blockTime");
    }
}

contract RevokeBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, aliceId, root, 5);
        _pass(5);
    }

    function test_RevertGiven_CallerLacksRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _revokeBatch(alice, aliceId, 1);
        expectMissing(aliceId, alice, REVOKE);
        _releaseBatch(alice);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, REVOKE);
        _revokeBatch(bob, aliceId, 1);
        expectMissing(aliceId, bob, REVOKE);
        _releaseBatch(bob);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isFinal(reason) && reason != 6);
        expectError(IDocumentRegistry.UnknownReason.selector, reason);
        _revokeBatch(alice, aliceId, reason);
    }

    function test_RevertGiven_NotIssued() external {
        expectError(IDocumentRegistry.NotIssued.selector, bobId, root);
        _revokeBatch(bob, bobId, 1);
        expectError(IDocumentRegistry.NotIssued.selector, bobId, root);
        vm.prank(bob);
        registry.releaseBatch(bobId, root);
    }

    function test_RevertGiven_ItIsFinallyRevoked() external {
        _revokeBatch(alice, aliceId, 1);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, root);
        _revokeBatch(alice, aliceId, 2);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, root);
        _revokeBatch(alice, aliceId, 6);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, root);
        _releaseBatch(alice);
    }

    function test_RevertGiven_ItIsSuspended_Again() external {
        _revokeBatch(alice, aliceId, 6);
        expectError(IDocumentRegistry.AlreadySuspended.selector, aliceId, root);
        _revokeBatch(alice, aliceId, 6);
    }

    function test_RevertGiven_NothingToRelease() external {
        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, root);
        _releaseBatch(alice);
    }

    function testFuzz_RevokeBatch(uint8 reason) external {
        reason = _finalReason(reason);
        expectEmit();
        emit IDocumentRegistry.BatchRevoked(root, aliceId, alice, reason);
        _revokeBatch(alice, aliceId, reason);

        IDocumentRegistry.Batch memory batch = registry.batchOf(aliceId, root);
        assertEq(batch.accountIndex, 1, "accountIndex");
        assertEq(batch.anchoredBlock, BLOCK, "anchoredBlock");
        assertEq(batch.size, 5, "size");
        assertEq(batch.revokerIndex, 1, "revokerIndex");
        assertEq(batch.revokedBlock, BLOCK + 5, "revokedBlock");
        assertEq(batch.revokedAt, NOW + 60, "revokedAt");
        assertEq(batch.reason, reason, "reason");
        for (uint256 i = 0; i < 5; ++i) {
            assertStatusAt(
                aliceId,
                i,
                reason == 4
                    ? IDocumentRegistry.Status.Superseded
                    : IDocumentRegistry.Status.Revoked
            );
        }
        assertEq(registry.issuerOf(aliceId).batchCount, 1, "count");
    }

    function test_SuspendAndRelease() external {
        _revokeBatch(alice, aliceId, 6);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        _pass(1);
        expectEmit();
        emit IDocumentRegistry.BatchReleased(root, aliceId, alice);
        _releaseBatch(alice);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        assertEq(registry.batchOf(aliceId, root).reason, 8, "reason");
        assertEq(registry.batchOf(aliceId, root).revokedBlock, BLOCK + 6, "revokedBlock");
    }

    /// Releasing a document never lifts its batch's suspension, and the other way round.
    function test_TwoSuspensions() external {
        _revokeBatch(alice, aliceId, 6);
        _revokeInBatch(alice, aliceId, _list(documents[0]), 6);
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        _revokeInBatch(alice, aliceId, _list(documents[0]), 6);
        _releaseBatch(alice);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
    }
}

contract RevokeInBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, aliceId, root, 5);
        _pass(5);
    }

    function test_RevertGiven_CallerLacksRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _revokeInBatch(alice, aliceId, documents, 1);
        expectMissing(aliceId, alice, REVOKE);
        _releaseInBatch(alice, aliceId, documents);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, REVOKE);
        _revokeInBatch(bob, aliceId, documents, 1);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isFinal(reason) && reason != 6);
        expectError(IDocumentRegistry.UnknownReason.selector, reason);
        _revokeInBatch(alice, aliceId, documents, reason);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _revokeInBatch(alice, aliceId, new bytes32[](0), 1);
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _releaseInBatch(alice, aliceId, new bytes32[](0));
    }

    function test_RevertWhen_ListIsTooLong() external {
        expectError(IDocumentRegistry.ListTooLong.selector, 1_001);
        _revokeInBatch(alice, aliceId, _hashes(1_001), 1);
        expectError(IDocumentRegistry.ListTooLong.selector, 1_001);
        _releaseInBatch(alice, aliceId, _hashes(1_001));
    }

    function test_RevertGiven_BatchIsNotIssued() external {
        expectError(IDocumentRegistry.NotIssued.selector, bobId, root);
        _revokeInBatch(bob, bobId, documents, 1);
        expectError(IDocumentRegistry.NotIssued.selector, bobId, root);
        _releaseInBatch(bob, bobId, documents);
    }

    /// A root of zero does not stand for "issued alone" here, not even where the documents are.
    function test_RevertWhen_RootIsZero() external {
        _issue(alice, aliceId, HASH, 0);
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        vm.prank(alice);
        registry.revokeInBatch(aliceId, 0, _list(HASH), 1);
        _revoke(alice, aliceId, HASH, 6);
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        vm.prank(alice);
        registry.releaseInBatch(aliceId, 0, _list(HASH));
    }

    function test_RevertWhen_OneHashIsZero() external {
        documents[4] = 0;
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _revokeInBatch(alice, aliceId, documents, 1);
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _releaseInBatch(alice, aliceId, documents);
    }

    /// Hashes that the issuer never issued: revoking takes them, releasing passes over them.
    function test_UnknownHashes() external {
        bytes32[] memory list = new bytes32[](2);
        (list[0], list[1]) = (HASH, documents[0]);
        vm.recordLogs();
        _releaseInBatch(alice, aliceId, list);
        assertEq(_eventCount(), 0, "events of releasing");
        _revokeInBatch(alice, aliceId, list, 6);
        assertEq(_eventCount(), 2, "events of revoking");
        assertEq(_record(HASH).reason, 6, "reason");
        assertStatus(HASH, IDocumentRegistry.Status.NotIssued);
    }

    function testFuzz_RevokeInBatch(bytes32 documentHash, uint8 reason) external {
        vm.assume(documentHash != 0);
        reason = _finalReason(reason);
        expectEmit();
        emit IDocumentRegistry.DocumentInBatchRevoked(documentHash, aliceId, root, alice, reason);
        _revokeInBatch(alice, aliceId, _list(documentHash), reason);

        IDocumentRegistry.Record memory expected;
        expected.revokerIndex = 1;
        expected.revokedBlock = BLOCK + 5;
        expected.revokedAt = NOW + 60;
        expected.reason = reason;
        assertEq(_record(documentHash), expected, "record");
        assertStatus(documentHash, IDocumentRegistry.Status.NotIssued);
        assertEq(_documentCount(aliceId), 0, "count");
    }

    function test_OthersStayValid() external {
        _revokeInBatch(alice, aliceId, _list(documents[2]), 1);
        assertStatusAt(aliceId, 2, IDocumentRegistry.Status.Revoked);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Valid);
    }

    function test_SkipsWhatIsRevoked() external {
        _revokeInBatch(alice, aliceId, _list(documents[1]), 2);
        vm.recordLogs();
        _revokeInBatch(alice, aliceId, documents, 1);
        assertEq(_eventCount(), 4, "events");
        assertEq(_record(documents[1]).reason, 2, "reason");
    }

    function test_SuspendAndRelease() external {
        _revokeInBatch(alice, aliceId, documents, 6);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        _pass(1);
        expectEmit();
        emit IDocumentRegistry.DocumentInBatchReleased(documents[0], aliceId, root, alice);
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Suspended);
        vm.recordLogs();
        _releaseInBatch(alice, aliceId, documents);
        assertEq(_eventCount(), 4, "events");
    }

    /// It holds in all batches of the issuer, later ones too.
    function test_HoldsInLaterBatches() external {
        _revokeInBatch(alice, aliceId, _list(HASH), 5);
        bytes32 leaf = Merkle.leaf(HASH, 0);
        _issueBatch(alice, aliceId, leaf, 1);
        IDocumentRegistry.Status status =
            _statusInBatch(aliceId, leaf, HASH, 0, new bytes32[](0));
        assertStatus(status, IDocumentRegistry.Status.Revoked);
    }

    function test_InARevokedBatch() external {
        _revokeBatch(alice, aliceId, 1);
        _revokeInBatch(alice, aliceId, _list(documents[0]), 5);
        assertEq(_record(documents[0]).reason, 5, "reason");
    }
}

/// @dev Which of two revocations a document in a batch shows.
contract ChosenRevocationTest is BatchBase {
    /// Issued the batch and revokes nothing, so that distrusting a revoker leaves it issued.
    address private issuing = address(0x155);

    function setUp() public override {
        super.setUp();
        _add(aliceRoot, aliceId, carol, REVOKE);
        _add(aliceRoot, aliceId, issuing, ISSUE);
        _issueBatch(issuing, aliceId, root, 5);
    }

    /// @dev 255 = nothing, 8 = suspended and released.
    function _onDocument(uint8 reason) private {
        if (reason == 255) return;
        _revokeInBatch(carol, aliceId, _list(documents[0]), reason == 8 ? 6 : reason);
        if (reason == 8) _releaseInBatch(carol, aliceId, _list(documents[0]));
    }

    function _onBatch(uint8 reason) private {
        if (reason == 255) return;
        _revokeBatch(alice, aliceId, reason == 8 ? 6 : reason);
        if (reason == 8) _releaseBatch(alice);
    }

    function assertShown(uint256 index, uint8 reason) private view {
        assertShown(index, reason, reason == 6);
    }

    function assertShown(uint256 index, uint8 reason, bool suspended) private view {
        IDocumentRegistry.Verification memory verification = _verificationAt(aliceId, 0);
        assertEq(verification.record.reason, reason, "reason");
        assertEq(verification.record.revokerIndex, index, "revokerIndex");
        bool none = verification.record.revokedBlock == 0;
        address by = none ? address(0) : index == 1 ? alice : carol;
        assertEq(verification.revoker.account, by, "revoker");
        IDocumentRegistry.Status status = suspended
            ? IDocumentRegistry.Status.Suspended
            : none || reason == 8
                ? IDocumentRegistry.Status.Valid
                : reason == 4
                    ? IDocumentRegistry.Status.Superseded
                    : IDocumentRegistry.Status.Revoked;
        assertStatusAt(aliceId, 0, status);
    }

    function test_AFinalOneBeatsASuspension() external {
        _onBatch(6);
        _pass(1);
        _onDocument(4);
        assertShown(2, 4);
    }

    function test_AFinalOneOfTheBatchBeatsAnEarlierSuspension() external {
        _onDocument(6);
        _pass(1);
        _onBatch(4);
        assertShown(1, 4);
    }

    function test_OfTwoFinalOnesTheEarlier_TheDocuments() external {
        _onDocument(1);
        _pass(1);
        _onBatch(4);
        assertShown(2, 1);
    }

    function test_OfTwoFinalOnesTheEarlier_TheBatchs() external {
        _onBatch(4);
        _pass(1);
        _onDocument(1);
        assertShown(1, 4);
    }

    function test_OfTwoFinalOnesInOneBlockTheDocuments() external {
        _onBatch(4);
        _onDocument(1);
        assertShown(2, 1);
    }

    function test_OfTwoSuspensionsTheEarlier() external {
        _onBatch(6);
        _pass(1);
        _onDocument(6);
        assertShown(1, 6);
    }

    function test_OfTwoSuspensionsInOneBlockTheDocuments() external {
        _onBatch(6);
        _onDocument(6);
        assertShown(2, 6);
    }

    function test_ASuspensionBeatsARelease() external {
        _onDocument(8);
        _onBatch(6);
        assertShown(1, 6);
    }

    function test_ASuspensionOfTheDocumentBeatsARelease() external {
        _onBatch(8);
        _pass(1);
        _onDocument(6);
        assertShown(2, 6);
    }

    function test_WhereNeitherHasEffectTheDocuments() external {
        _onBatch(8);
        _pass(1);
        _onDocument(8);
        assertShown(2, 8);
    }

    function test_AReleasedBatchIsNotShown() external {
        _onBatch(8);
        assertShown(0, 0);
    }

    function test_AThiefsReleaseOfTheBatchBeatsARelease() external {
        _onBatch(8);
        _onDocument(8);
        assertShown(2, 8);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertShown(1, 8, true);
    }

    function test_OfTwoThievesReleasesTheEarlier() external {
        _onBatch(8);
        _pass(1);
        _onDocument(8);
        _distrust(aliceRoot, aliceId, carol, BLOCK);
        assertShown(2, 8, true);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertShown(1, 8, true);
    }

    function test_OfTwoThievesReleasesInOneBlockTheDocuments() external {
        _onBatch(8);
        _onDocument(8);
        _distrust(aliceRoot, aliceId, carol, BLOCK);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertShown(2, 8, true);
    }

    /// The rule in the words of the design, against every pair of revocations in either order, with
    /// neither, one or both of the accounts distrusted, from any block.
    function testFuzz_TheRule(
        uint8 own,
        uint8 whole,
        bool documentFirst,
        uint8 between,
        uint8 distrustedOwn,
        uint8 distrustedWhole
    ) external {
        uint8[6] memory reasons = [255, 8, 6, 1, 4, 9];
        (own, whole) = (reasons[own % 6], reasons[whole % 6]);
        if (documentFirst) _onDocument(own);
        else _onBatch(whole);
        _pass(between % 3);
        if (documentFirst) _onBatch(whole);
        else _onDocument(own);
        _pass(1);
        bool ownTheft = _distrustAt(carol, distrustedOwn, _record(documents[0]).revokedBlock);
        bool wholeTheft =
            _distrustAt(alice, distrustedWhole, registry.batchOf(aliceId, root).revokedBlock);

        // A release by a distrusted account counts as a suspension.
        bool ownHeld = own == 6 || own == 8 && ownTheft;
        assertRule(own, whole, ownHeld, whole == 6 || whole == 8 && wholeTheft);
    }

    function assertRule(uint8 own, uint8 whole, bool ownHeld, bool wholeHeld) private view {
        uint256 ownBlock = _record(documents[0]).revokedBlock;
        uint256 wholeBlock = registry.batchOf(aliceId, root).revokedBlock;
        bool ownFinal = _isFinal(own);
        bool wholeFinal = _isFinal(whole);
        bool batchShown;
        if (wholeFinal && !ownFinal) batchShown = true;
        else if (wholeFinal && ownFinal) batchShown = wholeBlock < ownBlock;
        else if (wholeHeld && !ownFinal) batchShown = !ownHeld || wholeBlock < ownBlock;
        if (batchShown) assertShown(1, whole, wholeHeld);
        else if (own == 255) assertShown(0, 0);
        else assertShown(2, own, ownHeld);
    }

    /// @dev Distrusts an account from one of the blocks of the test, or not at all.
    /// @return Whether it is distrusted in the block.
    function _distrustAt(address account, uint8 choice, uint40 inBlock) private returns (bool) {
        uint40 fromBlock = BLOCK + choice % 5;
        if (fromBlock > block.number) return false;
        _distrust(aliceRoot, aliceId, account, fromBlock);
        return inBlock >= fromBlock;
    }

    function test_SetAsideOfEither() external {
        _onDocument(1);
        _onBatch(6);
        _distrust(aliceRoot, aliceId, carol, BLOCK);
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE);
        assertTrue(!_verificationAt(aliceId, 0).record.setAside, "before");
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        // The batch's suspension is shown, with the document's setAside.
        assertShown(1, 6);
        assertTrue(_verificationAt(aliceId, 0).record.setAside, "the document's");
        assertTrue(!_verificationAt(aliceId, 1).record.setAside, "another document's");
    }

    function test_SetAsideOfTheBatch() external {
        _add(aliceRoot, aliceId, stranger, REVOKE | MANAGE);
        _permit(aliceRoot, aliceId, alice, REVOKE);
        _onBatch(1);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        vm.prank(stranger);
        registry.releaseBatch(aliceId, root);
        IDocumentRegistry.Record memory record = _verificationAt(aliceId, 0).record;
        assertTrue(record.setAside, "setAside");
        assertEq(record.revokedBlock, 0, "revokedBlock");
    }
}
