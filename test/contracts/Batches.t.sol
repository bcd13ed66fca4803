// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

abstract contract BatchBase is Base {
    bytes32 internal constant MANIFEST = keccak256("a manifest");
    uint40 internal constant EXPIRY = NOW + 100;

    bytes32[] internal documents = _hashes(5);
    bytes32[] internal tree = Merkle.tree(_hashes(5), EXPIRY);
    bytes32 internal root = tree[0];

    function _issueBatch(address account, bytes32 root_, uint40 size) internal {
        vm.prank(account);
        registry.issueBatch(root_, size, MANIFEST);
    }

    function _revokeInBatch(address account, uint32 issuerId, bytes32[] memory hashes, uint8 reason) internal {
        vm.prank(account);
        registry.revokeInBatch(issuerId, root, hashes, reason);
    }

    function _revokeBatch(address account, uint32 issuerId, uint8 reason) internal {
        vm.prank(account);
        registry.revokeBatch(issuerId, root, reason);
    }

    function _one(bytes32 documentHash) internal pure returns (bytes32[] memory list) {
        list = new bytes32[](1);
        list[0] = documentHash;
    }

    function _statusAt(uint32 issuerId, uint256 index) internal view returns (IDocumentRegistry.Status) {
        return registry.statusInBatch(issuerId, documents[index], EXPIRY, root, Merkle.proof(tree, index));
    }

    function assertStatusAt(uint32 issuerId, uint256 index, IDocumentRegistry.Status expected) internal view {
        assertEq(uint8(_statusAt(issuerId, index)), uint8(expected), "status in batch");
    }
}

contract IssueBatchTest is BatchBase {
    function test_RevertGiven_CallerIsNoIssuer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, stranger));
        _issueBatch(stranger, root, 5);
    }

    function test_RevertGiven_AccountIsRetired() external {
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _issueBatch(alice, root, 5);
    }

    function test_RevertWhen_RootIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issueBatch(alice, 0, 5);
    }

    function test_RevertWhen_SizeIsZero() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.EmptyBatch.selector, root));
        _issueBatch(alice, root, 0);
    }

    function test_RevertGiven_IssuedByTheSameIssuer() external {
        _issueBatch(alice, root, 5);
        _addAccount(aliceId, alice2);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchAlreadyIssued.selector, aliceId, root));
        _issueBatch(alice2, root, 6);
    }

    function test_RevertGiven_RevokedBatch() external {
        _issueBatch(alice, root, 5);
        _revokeBatch(alice, aliceId, 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchAlreadyIssued.selector, aliceId, root));
        _issueBatch(alice, root, 5);
    }

    function test_AnotherIssuersRootIsNotTaken() external {
        _issueBatch(bob, root, 5);
        _issueBatch(alice, root, 5);
        _revokeBatch(bob, bobId, 1);
        _revokeInBatch(bob, bobId, documents, 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        assertStatusAt(bobId, 0, IDocumentRegistry.Status.Revoked);
    }

    function testFuzz_IssueBatch(bytes32 anyRoot, uint40 size, bytes32 manifest) external {
        vm.assume(anyRoot != 0 && size != 0);
        _addAccount(aliceId, alice2);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.BatchIssued(anyRoot, aliceId, alice2, size, manifest);
        vm.prank(alice2);
        registry.issueBatch(anyRoot, size, manifest);

        IDocumentRegistry.Batch memory batch = registry.batchOf(aliceId, anyRoot);
        assertEq(batch.issuerId, aliceId, "issuerId");
        assertEq(batch.accountIndex, 1, "accountIndex");
        assertEq(batch.anchoredBlock, BLOCK, "anchoredBlock");
        assertEq(batch.anchoredAt, NOW, "anchoredAt");
        assertEq(batch.size, size, "size");
        assertEq(batch.revokedBlock, 0, "revokedBlock");
        assertEq(batch.revokedAt, 0, "revokedAt");
        assertEq(batch.reason, 0, "reason");
        assertEq(registry.batchOf(bobId, anyRoot).issuerId, 0, "the other issuer's");
    }
}

contract StatusInBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, root, 5);
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
        _issueBatch(alice, leaf, 1);
        vm.warp(type(uint40).max);
        IDocumentRegistry.Status status = registry.statusInBatch(aliceId, HASH, 0, leaf, new bytes32[](0));
        assertEq(uint8(status), uint8(IDocumentRegistry.Status.Valid), "status");
    }

    function test_AnotherIssuersBatchIsNotIssued() external view {
        assertStatusAt(bobId, 0, IDocumentRegistry.Status.NotIssued);
        assertStatusAt(0, 0, IDocumentRegistry.Status.NotIssued);
    }

    function testFuzz_AnythingElseIsNotIssued(bytes32 documentHash, uint40 validUntil, uint256 flip) external view {
        bytes32[] memory proof = Merkle.proof(tree, 0);
        vm.assume(documentHash != documents[0] && validUntil != EXPIRY);
        IDocumentRegistry.Status status = registry.statusInBatch(aliceId, documentHash, EXPIRY, root, proof);
        assertEq(uint8(status), 0, "another hash");
        status = registry.statusInBatch(aliceId, documents[0], validUntil, root, proof);
        assertEq(uint8(status), 0, "another expiry");
        status = registry.statusInBatch(aliceId, documents[0], EXPIRY, bytes32(uint256(root) ^ 1), proof);
        assertEq(uint8(status), 0, "another root");
        proof[flip % proof.length] ^= bytes32(1 << (flip >> 248));
        status = registry.statusInBatch(aliceId, documents[0], EXPIRY, root, proof);
        assertEq(uint8(status), 0, "another path");
    }

    /// A leaf is hashed twice, so that no inner node passes for a leaf.
    function test_AnInnerNodeIsNoLeaf() external {
        bytes32[] memory pair = _hashes(2);
        bytes32 single = keccak256(abi.encode(pair[0], EXPIRY));
        _issueBatch(alice, single, 1);
        IDocumentRegistry.Status status =
            registry.statusInBatch(aliceId, pair[0], EXPIRY, single, new bytes32[](0));
        assertEq(uint8(status), 0, "status");
    }

    function testFuzz_TreesOfEverySize(uint8 count, uint40 validUntil, uint256 index) external {
        vm.assume(count != 0);
        bytes32[] memory hashes = _hashes(count);
        bytes32[] memory nodes = Merkle.tree(hashes, validUntil);
        index %= count;
        if (nodes[0] != root) _issueBatch(alice, nodes[0], count);
        IDocumentRegistry.Record memory record = registry.verificationInBatch(
            aliceId, hashes[index], validUntil, nodes[0], Merkle.proof(nodes, index)
        ).record;
        assertEq(record.issuerId, aliceId, "issuerId");
        assertEq(record.validUntil, validUntil, "validUntil");
    }

    /// A proof is believed only where a tree of the size that was issued has leaves: with the wrong size the same proof fails.
    function testFuzz_SizeAndProofsAgree(uint8 count, uint40 size, uint256 index) external {
        vm.assume(count != 0 && size != 0);
        bytes32[] memory hashes = _hashes(count);
        bytes32[] memory nodes = Merkle.tree(hashes, EXPIRY);
        bytes32[] memory proof = Merkle.proof(nodes, index % count);
        _issueBatch(bob, nodes[0], size);

        // Levels of a tree with `size` leaves, found by halving.
        uint256 upper = 0;
        for (uint256 left = size; left > 1; left /= 2) {
            ++upper;
        }
        uint256 lower = 2 ** upper < size ? upper + 1 : upper;
        bool possible = proof.length == upper || proof.length == lower;
        IDocumentRegistry.Status status =
            registry.statusInBatch(bobId, hashes[index % count], EXPIRY, nodes[0], proof);
        assertEq(uint8(status), uint8(possible ? IDocumentRegistry.Status.Valid : IDocumentRegistry.Status.NotIssued), "status");
    }

    function test_SizesAroundAPowerOfTwo() external {
        // Proofs of a tree of four have two hashes: a size of 2 allows one, of 3 one or two, of 4 two, of 5 two or three, of 8 three.
        uint40[5] memory sizes = [uint40(2), 3, 4, 5, 8];
        bool[5] memory believed = [false, true, true, true, false];
        bytes32[] memory nodes = Merkle.tree(_hashes(4), EXPIRY);
        for (uint256 i = 0; i < 5; ++i) {
            address account = address(uint160(0xC0 + i));
            vm.prank(admin);
            uint32 issuerId = registry.registerIssuer(account, "An issuer", "");
            _issueBatch(account, nodes[0], sizes[i]);
            IDocumentRegistry.Status status =
                registry.statusInBatch(issuerId, documents[0], EXPIRY, nodes[0], Merkle.proof(nodes, 0));
            assertTrue(believed[i] == (status == IDocumentRegistry.Status.Valid), "believed");
        }
    }

    function test_DistrustedFromTheBlockOfTheBatch() external {
        vm.roll(BLOCK + 1);
        _distrust(alice, BLOCK + 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        _distrust(alice, BLOCK);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Distrusted);
        vm.warp(EXPIRY);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Distrusted);
        _revokeBatch(revoker, aliceId, 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Revoked);
    }

    function test_VerificationInBatch() external {
        vm.roll(BLOCK + 2);
        vm.warp(NOW + 2);
        _revokeInBatch(alice, aliceId, _one(documents[3]), 4);

        IDocumentRegistry.Verification memory verification =
            registry.verificationInBatch(aliceId, documents[1], EXPIRY, root, Merkle.proof(tree, 1));
        assertEq(uint8(verification.status), uint8(IDocumentRegistry.Status.Valid), "status");
        assertEq(verification.account, alice, "account");
        assertEq(verification.issuerName, "Alice University", "name");
        assertEq(verification.issuerUri, "https://alice.example", "uri");
        assertEq(verification.distrustedFrom, 0, "distrustedFrom");
        assertEq(verification.record.issuerId, aliceId, "issuerId");
        assertEq(verification.record.accountIndex, 0, "accountIndex");
        assertEq(verification.record.anchoredBlock, BLOCK, "anchoredBlock");
        assertEq(verification.record.anchoredAt, NOW, "anchoredAt");
        assertEq(verification.record.validUntil, EXPIRY, "validUntil");
        assertEq(verification.record.revokedBlock, 0, "revokedBlock");

        verification = registry.verificationInBatch(aliceId, documents[3], EXPIRY, root, Merkle.proof(tree, 3));
        assertEq(uint8(verification.status), uint8(IDocumentRegistry.Status.Superseded), "status");
        assertEq(verification.record.validUntil, EXPIRY, "validUntil");
        assertEq(verification.record.revokedBlock, BLOCK + 2, "revokedBlock");
        assertEq(verification.record.revokedAt, NOW + 2, "revokedAt");
        assertEq(verification.record.reason, 4, "reason");

        verification = registry.verificationInBatch(aliceId, HASH, EXPIRY, root, Merkle.proof(tree, 3));
        assertEq(uint8(verification.status), uint8(IDocumentRegistry.Status.NotIssued), "status");
        assertEq(verification.account, address(0), "account");
        assertEq(verification.record.issuerId, 0, "issuerId");
        assertEq(verification.record.validUntil, 0, "validUntil");
    }

    function test_ASingleRecordAndABatchAreApart() external {
        _issue(bob, documents[0], 0);
        vm.prank(bob);
        registry.revoke(documents[0], 1);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        _revokeInBatch(alice, aliceId, _one(documents[1]), 1);
        assertStatus(documents[1], IDocumentRegistry.Status.NotIssued);
    }
}

contract RevokeInBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, root, 5);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _revokeInBatch(alice, aliceId, new bytes32[](0), 1);
    }

    function test_RevertWhen_ListIsTooLong() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.ListTooLong.selector, 1_001));
        _revokeInBatch(alice, aliceId, new bytes32[](1_001), 1);
    }

    function test_RevertWhen_OneHashIsZero() external {
        bytes32[] memory hashes = _hashes(2);
        hashes[1] = 0;
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _revokeInBatch(alice, aliceId, hashes, 1);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isReason(reason));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, reason));
        _revokeInBatch(alice, aliceId, documents, reason);
    }

    function test_RevertGiven_BatchWasNeverIssued() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchNotIssued.selector, bobId, root));
        _revokeInBatch(bob, bobId, documents, 1);
    }

    function test_RevertGiven_AnotherIssuersBatch() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, bob));
        _revokeInBatch(bob, aliceId, documents, 1);
    }

    function test_RevertGiven_AccountIsRetired() external {
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, alice));
        _revokeInBatch(alice, aliceId, documents, 1);
    }

    function test_RevertGiven_CallerIsOnlyAdmin() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, admin));
        _revokeInBatch(admin, aliceId, documents, 1);
    }

    function test_RevokerMayRevoke() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentInBatchRevoked(documents[2], aliceId, root, revoker, 5);
        _revokeInBatch(revoker, aliceId, _one(documents[2]), 5);
        assertStatusAt(aliceId, 2, IDocumentRegistry.Status.Revoked);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Valid);
    }

    function test_SkipsWhatIsRevokedAlready() external {
        _revokeInBatch(alice, aliceId, _one(documents[1]), 1);
        vm.roll(BLOCK + 3);
        vm.recordLogs();
        _revokeInBatch(alice, aliceId, documents, 5);
        assertEq(_eventCount(), 4, "events");
        assertEq(registry.revocationOf(aliceId, documents[1]).reason, 1, "reason, untouched");
        assertEq(registry.revocationOf(aliceId, documents[1]).revokedBlock, BLOCK, "block, untouched");
        assertEq(registry.revocationOf(aliceId, documents[4]).reason, 5, "reason");
    }

    function testFuzz_RevokeInBatch(uint40 revokedBlock, uint40 revokedAt, uint8 reason) external {
        vm.assume(revokedBlock != 0 && _isReason(reason));
        _addAccount(aliceId, alice2);
        vm.roll(revokedBlock);
        vm.warp(revokedAt);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentInBatchRevoked(documents[0], aliceId, root, alice2, reason);
        _revokeInBatch(alice2, aliceId, _one(documents[0]), reason);

        IDocumentRegistry.Revocation memory revocation = registry.revocationOf(aliceId, documents[0]);
        assertEq(revocation.revokedBlock, revokedBlock, "revokedBlock");
        assertEq(revocation.revokedAt, revokedAt, "revokedAt");
        assertEq(revocation.reason, reason, "reason");
        assertEq(registry.revocationOf(bobId, documents[0]).revokedBlock, 0, "the other issuer's");
        assertStatusAt(
            aliceId, 0, reason == 4 ? IDocumentRegistry.Status.Superseded : IDocumentRegistry.Status.Revoked
        );
    }
}

contract RevokeBatchTest is BatchBase {
    function setUp() public override {
        super.setUp();
        _issueBatch(alice, root, 5);
    }

    function test_RevertGiven_NeverIssued() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchNotIssued.selector, bobId, root));
        _revokeBatch(bob, bobId, 1);
    }

    function test_RevertGiven_AnotherIssuersBatch() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, bob));
        _revokeBatch(bob, aliceId, 1);
    }

    function test_RevertGiven_AccountIsRetired() external {
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, alice));
        _revokeBatch(alice, aliceId, 1);
    }

    function test_RevertGiven_RevokedAlready() external {
        _revokeBatch(alice, aliceId, 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchAlreadyRevoked.selector, aliceId, root));
        _revokeBatch(alice, aliceId, 1);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isReason(reason));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, reason));
        _revokeBatch(alice, aliceId, reason);
    }

    function test_RevokerMayRevoke() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.BatchRevoked(root, aliceId, revoker, 5);
        _revokeBatch(revoker, aliceId, 5);
        assertStatusAt(aliceId, 4, IDocumentRegistry.Status.Revoked);
    }

    function testFuzz_RevokeBatch(uint40 revokedBlock, uint40 revokedAt, uint8 reason) external {
        vm.assume(revokedBlock != 0 && _isReason(reason));
        IDocumentRegistry.Batch memory issued = registry.batchOf(aliceId, root);
        vm.roll(revokedBlock);
        vm.warp(revokedAt);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.BatchRevoked(root, aliceId, alice, reason);
        _revokeBatch(alice, aliceId, reason);

        issued.revokedBlock = revokedBlock;
        issued.revokedAt = revokedAt;
        issued.reason = reason;
        assertEq(keccak256(abi.encode(registry.batchOf(aliceId, root))), keccak256(abi.encode(issued)), "batch");
        IDocumentRegistry.Record memory record =
            registry.verificationInBatch(aliceId, documents[0], EXPIRY, root, Merkle.proof(tree, 0)).record;
        assertEq(record.revokedBlock, revokedBlock, "revokedBlock");
        assertEq(record.revokedAt, revokedAt, "revokedAt");
        assertEq(record.reason, reason, "reason");
        assertEq(record.validUntil, EXPIRY, "validUntil");
    }

    function test_ADocumentsOwnRevocationIsShown() external {
        _revokeInBatch(alice, aliceId, _one(documents[0]), 1);
        _revokeBatch(alice, aliceId, 4);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Revoked);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Superseded);
    }
}
