// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {BatchBase} from "./Batches.t.sol";
import {vm} from "./Vm.sol";

/// @dev Carol issues, the keeper suspends, and a thief has Alice's key from block 1,005 on. What
/// the thief released counts as suspended once Alice's account is distrusted.
contract DistrustedReleaseTest is BatchBase {
    uint40 private constant THEFT = BLOCK + 5;
    address private keeper = address(0xC0DE);

    function setUp() public override {
        super.setUp();
        _add(aliceRoot, aliceId, carol, ISSUE);
        _add(aliceRoot, aliceId, keeper, REVOKE);
        _issue(carol, aliceId, HASH, NOW + 1_000);
        _issueBatch(carol, aliceId, root, 5);
        _revoke(keeper, aliceId, HASH, 6);
        _pass(5);
    }

    function _distrustTheThief() private {
        _pass(1);
        _distrust(aliceRoot, aliceId, alice, THEFT);
    }

    /// @dev The thief releases HASH and is distrusted.
    function _theft() private {
        _release(alice, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        _distrustTheThief();
    }

    // ---- a document issued alone ----------------------------------------------------------------

    function test_AThiefsReleaseReadsSuspended() external {
        _release(alice, aliceId, HASH);
        IDocumentRegistry.Record memory record = _record(HASH);
        _distrustTheThief();
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        assertEq(_record(HASH), record, "record");
        assertEq(record.reason, 8, "reason");
        assertEq(
            registry.verificationOf(aliceId, HASH).revoker.distrustedFrom, THEFT, "distrustedFrom"
        );
    }

    function test_ATrustedAccountReleasesIt() external {
        _theft();
        expectEmit();
        emit IDocumentRegistry.DocumentReleased(HASH, aliceId, keeper);
        vm.recordLogs();
        _release(keeper, aliceId, HASH);
        assertEq(_eventCount(), 1, "events");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(_record(HASH).revokerIndex, 3, "revokerIndex");
        assertEq(_record(HASH).revokedBlock, THEFT + 1, "revokedBlock");
        assertTrue(!_record(HASH).setAside, "setAside");

        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    /// The status and what a release may do follow the block of the release, not of the distrust.
    function testFuzz_FromTheBlockOn(uint40 releasedBlock, uint40 fromBlock) external {
        releasedBlock = THEFT + releasedBlock % 100;
        fromBlock = BLOCK + 1 + fromBlock % 120;
        vm.roll(releasedBlock);
        _release(alice, aliceId, HASH);
        vm.roll(BLOCK + 200);
        _distrust(aliceRoot, aliceId, alice, fromBlock);
        bool counts = releasedBlock < fromBlock;
        assertStatus(
            HASH, counts ? IDocumentRegistry.Status.Valid : IDocumentRegistry.Status.Suspended
        );
        if (counts) expectError(IDocumentRegistry.NotSuspended.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    function test_AnHonestReleaseBeforeTheTheftCounts() external {
        vm.roll(THEFT - 1);
        _release(alice, aliceId, HASH);
        vm.roll(THEFT);
        _distrustTheThief();
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
        _revoke(keeper, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
    }

    function test_ALowerBlockTakesAnEarlierReleaseToo() external {
        vm.roll(THEFT - 1);
        _release(alice, aliceId, HASH);
        vm.roll(THEFT);
        _distrustTheThief();
        _distrust(aliceRoot, aliceId, alice, THEFT - 1);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
    }

    /// Retiring alone takes nothing back.
    function test_AReleaseByARetiredAccountCounts() external {
        _release(alice, aliceId, HASH);
        _retire(aliceRoot, aliceId, alice);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_RevertGiven_ItIsSuspendedAgain() external {
        _theft();
        expectError(IDocumentRegistry.AlreadySuspended.selector, aliceId, HASH);
        _revoke(keeper, aliceId, HASH, 6);
    }

    function testFuzz_ItBecomesFinal(uint8 reason) external {
        reason = _finalReason(reason);
        _theft();
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, keeper, reason);
        vm.recordLogs();
        _revoke(keeper, aliceId, HASH, reason);
        assertEq(_eventCount(), 1, "events");
        assertStatus(
            HASH,
            reason == 4 ? IDocumentRegistry.Status.Superseded : IDocumentRegistry.Status.Revoked
        );
        assertTrue(!_record(HASH).setAside, "setAside");
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    function test_ItIsSuperseded() external {
        _theft();
        _permit(aliceRoot, aliceId, keeper, ISSUE | REVOKE);
        vm.prank(keeper);
        registry.supersede(aliceId, 0, HASH, OTHER, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_SuspendedBeforeExpired() external {
        _theft();
        vm.warp(NOW + 1_000);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        _release(keeper, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    /// The second release counts no more than the first if its account is distrusted as well.
    function test_TwoThefts() external {
        _theft();
        _release(keeper, aliceId, HASH);
        _distrust(aliceRoot, aliceId, keeper, THEFT + 1);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        _add(aliceRoot, aliceId, stranger, REVOKE);
        _release(stranger, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_AnAccountOfTheSameIndexOfAnotherIssuer() external {
        _issue(bob, bobId, HASH, 0);
        _revoke(bob, bobId, HASH, 6);
        _release(bob, bobId, HASH);
        _theft();
        assertStatus(registry.statusOf(bobId, HASH), IDocumentRegistry.Status.Valid);
    }

    function test_Lists() external {
        bytes32[] memory list = _hashes(3);
        _issueMany(carol, aliceId, list, 0);
        vm.prank(keeper);
        registry.revokeMany(aliceId, list, 6);
        _release(keeper, aliceId, list[1]);
        _release(alice, aliceId, list[0]);
        _release(alice, aliceId, list[2]);
        _distrustTheThief();
        IDocumentRegistry.Record memory thiefs = _record(list[0]);

        // Suspending skips the two that are suspended in effect.
        vm.recordLogs();
        vm.prank(keeper);
        registry.revokeMany(aliceId, list, 6);
        assertEq(_eventCount(), 1, "events of suspending");
        assertEq(_record(list[0]), thiefs, "record");
        _release(keeper, aliceId, list[1]);

        // Releasing takes them, and skips the one that is released.
        _eventCount();
        vm.prank(keeper);
        registry.releaseMany(aliceId, list);
        assertEq(_eventCount(), 2, "events of releasing");
        for (uint256 i = 0; i < 3; ++i) {
            assertStatus(list[i], IDocumentRegistry.Status.Valid);
        }
    }

    function test_AListMakesItFinal() external {
        _theft();
        vm.prank(keeper);
        registry.revokeMany(aliceId, _list(HASH), 9);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertTrue(!_record(HASH).setAside, "setAside");
    }

    // ---- final revocations ----------------------------------------------------------------------

    /// A release that set a final revocation aside is no better: suspended, and not revoked again.
    function test_AReleaseThatSetsAside() external {
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE);
        _revoke(keeper, aliceId, HASH, 1);
        _distrust(aliceRoot, aliceId, keeper, THEFT);
        _theft();
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        assertTrue(_record(HASH).setAside, "setAside");

        _add(aliceRoot, aliceId, stranger, REVOKE);
        vm.recordLogs();
        _release(stranger, aliceId, HASH);
        assertEq(_eventCount(), 1, "events");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertTrue(_record(HASH).setAside, "setAside stays");
    }

    /// Whoever revoked, and whatever they were: distrust alone makes nothing valid.
    function testFuzz_DistrustNeverRevives(uint8 reason, uint8 permissions, uint40 fromBlock)
        external
    {
        reason = _finalReason(reason);
        _permit(aliceRoot, aliceId, alice, permissions % 16 | REVOKE);
        _revoke(alice, aliceId, HASH, reason);
        IDocumentRegistry.Status before = registry.statusOf(aliceId, HASH);
        _distrust(aliceRoot, aliceId, alice, 1 + fromBlock % THEFT);
        assertStatus(HASH, before);
        assertTrue(before != IDocumentRegistry.Status.Valid, "revoked");
    }

    /// What a thief with MANAGE can revive: they distrust the honest revoker, and release.
    function test_WhatAManagingThiefRevives() external {
        _revoke(keeper, aliceId, HASH, 1);
        _permit(aliceRoot, aliceId, alice, MANAGE);
        _permit(alice, aliceId, alice, ISSUE | REVOKE | MANAGE);
        _distrust(alice, aliceId, keeper, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        _release(alice, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);

        // Distrusted themselves, what they released counts as suspended, and can be made final.
        _distrustTheThief();
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        _add(aliceRoot, aliceId, stranger, REVOKE);
        _revoke(stranger, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertTrue(_record(HASH).setAside, "setAside");
    }

    /// A thief's final revocation hides the suspension under it: releasing makes the document
    /// valid, suspending it again does not.
    function test_AFinalRevocationOverAHold() external {
        _issue(carol, aliceId, OTHER, 0);
        _revoke(keeper, aliceId, OTHER, 6);
        _revoke(alice, aliceId, HASH, 1);
        _revoke(alice, aliceId, OTHER, 1);
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, REVOKE | MANAGE);
        _revoke(keeper, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        _release(keeper, aliceId, OTHER);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    // ---- issued again ---------------------------------------------------------------------------

    /// Forged and released by the thief: Distrusted, issued again Suspended, released Valid.
    function test_IssuedAgain() external {
        _issue(alice, aliceId, OTHER, 0);
        _revoke(keeper, aliceId, OTHER, 6);
        _release(alice, aliceId, OTHER);
        _distrustTheThief();
        assertStatus(OTHER, IDocumentRegistry.Status.Distrusted);
        _issue(carol, aliceId, OTHER, 0);
        assertStatus(OTHER, IDocumentRegistry.Status.Suspended);
        _release(keeper, aliceId, OTHER);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    /// In the other order: a Distrusted document can be released before it is issued again.
    function test_ReleasedBeforeItIsIssuedAgain() external {
        _issue(alice, aliceId, OTHER, 0);
        _revoke(keeper, aliceId, OTHER, 6);
        _release(alice, aliceId, OTHER);
        _distrustTheThief();
        _release(keeper, aliceId, OTHER);
        assertStatus(OTHER, IDocumentRegistry.Status.Distrusted);
        _issue(carol, aliceId, OTHER, 0);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_ABatchIsIssuedAgain() external {
        bytes32 forged = keccak256("a root of the thief's");
        _permit(aliceRoot, aliceId, carol, ISSUE | REVOKE);
        _issueBatch(alice, aliceId, forged, 1);
        vm.prank(carol);
        registry.revokeBatch(aliceId, forged, 6);
        vm.prank(alice);
        registry.releaseBatch(aliceId, forged);
        _distrustTheThief();
        _issueBatch(carol, aliceId, forged, 1);
        expectError(IDocumentRegistry.AlreadySuspended.selector, aliceId, forged);
        vm.prank(carol);
        registry.revokeBatch(aliceId, forged, 6);
        vm.prank(carol);
        registry.releaseBatch(aliceId, forged);
        assertEq(registry.batchOf(aliceId, forged).revokerIndex, 2, "revokerIndex");
    }

    // ---- batches --------------------------------------------------------------------------------

    function test_AWholeBatch() external {
        _revokeBatch(keeper, aliceId, 6);
        _releaseBatch(alice);
        for (uint256 i = 0; i < 5; ++i) {
            assertStatusAt(aliceId, i, IDocumentRegistry.Status.Valid);
        }
        _distrustTheThief();
        for (uint256 i = 0; i < 5; ++i) {
            assertStatusAt(aliceId, i, IDocumentRegistry.Status.Suspended);
        }
        assertEq(_verificationAt(aliceId, 0).revoker.account, alice, "revoker");
        expectError(IDocumentRegistry.AlreadySuspended.selector, aliceId, root);
        _revokeBatch(keeper, aliceId, 6);

        expectEmit();
        emit IDocumentRegistry.BatchReleased(root, aliceId, keeper);
        _releaseBatch(keeper);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, root);
        _releaseBatch(keeper);
    }

    function test_AWholeBatchBecomesFinal() external {
        _revokeBatch(keeper, aliceId, 6);
        _releaseBatch(alice);
        _distrustTheThief();
        _revokeBatch(keeper, aliceId, 5);
        assertStatusAt(aliceId, 4, IDocumentRegistry.Status.Revoked);
        assertTrue(!registry.batchOf(aliceId, root).setAside, "setAside");
    }

    function test_ADocumentInABatch() external {
        _revokeInBatch(keeper, aliceId, documents, 6);
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        _releaseInBatch(keeper, aliceId, _list(documents[1]));
        _distrustTheThief();
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Valid);

        // Suspending skips all but the one that is released.
        vm.recordLogs();
        _revokeInBatch(keeper, aliceId, documents, 6);
        assertEq(_eventCount(), 1, "events of suspending");
        expectEmit();
        emit IDocumentRegistry.DocumentInBatchReleased(documents[0], aliceId, root, keeper);
        _releaseInBatch(keeper, aliceId, _list(documents[0]));
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
        _releaseInBatch(keeper, aliceId, documents);
        assertEq(_eventCount(), 5, "events of releasing");
        assertStatusAt(aliceId, 4, IDocumentRegistry.Status.Valid);
    }

    /// A thief's release of the batch holds down what a trusted account released alone, and the
    /// other way round.
    function test_ABatchAndItsDocument() external {
        _revokeBatch(keeper, aliceId, 6);
        _revokeInBatch(keeper, aliceId, documents, 6);
        _releaseBatch(alice);
        _releaseInBatch(alice, aliceId, _list(documents[0]));
        _releaseInBatch(keeper, aliceId, _list(documents[1]));
        _distrustTheThief();
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Suspended);
        _releaseBatch(keeper);
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Suspended);
        assertStatusAt(aliceId, 1, IDocumentRegistry.Status.Valid);
        _releaseInBatch(keeper, aliceId, _list(documents[0]));
        assertStatusAt(aliceId, 0, IDocumentRegistry.Status.Valid);
    }
}
