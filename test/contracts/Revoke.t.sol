// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract RevokeTest is Base {
    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, NOW + 1_000);
        _pass(5);
    }

    function test_RevertGiven_CallerIsAStranger() external {
        expectMissing(aliceId, stranger, REVOKE);
        _revoke(stranger, aliceId, HASH, 1);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, REVOKE);
        _revoke(bob, aliceId, HASH, 1);
    }

    function test_RevertGiven_CallerIsTheAdmin() external {
        expectMissing(aliceId, admin, REVOKE);
        _revoke(admin, aliceId, HASH, 1);
    }

    function test_RevertGiven_CallerHasEveryPermissionButRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _revoke(alice, aliceId, HASH, 1);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectMissing(aliceId, alice, REVOKE);
        _revoke(alice, aliceId, HASH, 1);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isFinal(reason) && reason != 6);
        expectError(IDocumentRegistry.UnknownReason.selector, reason);
        _revoke(alice, aliceId, HASH, reason);
    }

    function testFuzz_RevertGiven_NotIssued(bytes32 documentHash) external {
        vm.assume(documentHash != HASH);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, documentHash);
        _revoke(alice, aliceId, documentHash, 1);
    }

    function test_RevertGiven_IssuedByAnotherIssuerOnly() external {
        expectError(IDocumentRegistry.NotIssued.selector, bobId, HASH);
        _revoke(bob, bobId, HASH, 1);
    }

    function test_RevertGiven_OnlyRevokedInABatch() external {
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        vm.prank(alice);
        registry.revokeInBatch(aliceId, OTHER, _list(OTHER), 6);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _revoke(alice, aliceId, OTHER, 1);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _release(alice, aliceId, OTHER);
    }

    function testFuzz_RevertGiven_ItIsFinallyRevoked(uint8 first, uint8 second) external {
        (first, second) = (_finalReason(first), second % 2 == 0 ? 6 : _finalReason(second));
        _revoke(alice, aliceId, HASH, first);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _revoke(alice, aliceId, HASH, second);
    }

    /// MANAGE alone lifts nothing: the revoker must be distrusted.
    function test_RevertGiven_ItIsFinallyRevokedAndCallerManages() external {
        _revoke(alice, aliceId, HASH, 1);
        _add(aliceRoot, aliceId, carol, REVOKE | MANAGE);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _revoke(carol, aliceId, HASH, 2);
    }

    function test_RevertGiven_ItIsSuspended_Again() external {
        _revoke(alice, aliceId, HASH, 6);
        expectError(IDocumentRegistry.AlreadySuspended.selector, aliceId, HASH);
        _revoke(alice, aliceId, HASH, 6);
    }

    function testFuzz_Revoke(uint8 reason) external {
        reason = _finalReason(reason);
        IDocumentRegistry.Record memory expected = _record(HASH);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice, reason);
        _revoke(alice, aliceId, HASH, reason);

        expected.revokerIndex = 1;
        expected.revokedBlock = BLOCK + 5;
        expected.revokedAt = NOW + 60;
        expected.reason = reason;
        assertEq(_record(HASH), expected, "record");
        assertStatus(
            HASH,
            reason == 4 ? IDocumentRegistry.Status.Superseded : IDocumentRegistry.Status.Revoked
        );
        assertEq(_documentCount(aliceId), 1, "count");
    }

    function test_Suspend() external {
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice, 6);
        _revoke(alice, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        assertEq(_record(HASH).reason, 6, "reason");
    }

    function testFuzz_ASuspensionBecomesFinal(uint8 reason) external {
        reason = _finalReason(reason);
        _revoke(alice, aliceId, HASH, 6);
        _pass(1);
        _add(aliceRoot, aliceId, carol, REVOKE);
        _revoke(carol, aliceId, HASH, reason);
        IDocumentRegistry.Record memory record = _record(HASH);
        assertEq(record.revokerIndex, 2, "revokerIndex");
        assertEq(record.revokedBlock, BLOCK + 6, "revokedBlock");
        assertEq(record.reason, reason, "reason");
        assertTrue(!record.setAside, "setAside");
    }

    function test_RevokedBeforeSuspendedBeforeExpired() external {
        vm.warp(NOW + 1_000);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
        _revoke(alice, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        _revoke(alice, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_DistrustedBeforeSuperseded() external {
        _revoke(alice, aliceId, HASH, 4);
        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
    }

    function test_AClosedIssuerRevokes() external {
        _close(aliceId);
        _revoke(alice, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_RevokeIsEnough() external {
        _permit(aliceRoot, aliceId, alice, REVOKE);
        _revoke(alice, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }
}

contract RevokeManyTest is Base {
    bytes32[] private hashes = _hashes(4);

    function setUp() public override {
        super.setUp();
        _issueMany(alice, aliceId, hashes, 0);
        _pass(5);
    }

    function _revokeMany(address account, bytes32[] memory list, uint8 reason) private {
        vm.prank(account);
        registry.revokeMany(aliceId, list, reason);
    }

    function test_RevertGiven_CallerLacksRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _revokeMany(alice, hashes, 1);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, REVOKE);
        _revokeMany(bob, hashes, 1);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _revokeMany(alice, new bytes32[](0), 1);
    }

    function test_RevertWhen_ListIsTooLong() external {
        expectError(IDocumentRegistry.ListTooLong.selector, 1_001);
        _revokeMany(alice, _hashes(1_001), 1);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isFinal(reason) && reason != 6);
        expectError(IDocumentRegistry.UnknownReason.selector, reason);
        _revokeMany(alice, hashes, reason);
    }

    function test_RevertWhen_OneIsNotIssued() external {
        bytes32[] memory list = _hashes(5);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, list[4]);
        _revokeMany(alice, list, 1);
    }

    function test_SkipsWhatIsRevoked() external {
        _revoke(alice, aliceId, hashes[1], 2);
        IDocumentRegistry.Record memory standing = _record(hashes[1]);
        _pass(1);
        vm.recordLogs();
        _revokeMany(alice, hashes, 1);
        assertEq(_eventCount(), 3, "events");
        assertEq(_record(hashes[1]), standing, "the skipped one");
        assertEq(_record(hashes[0]).reason, 1, "reason");
        assertEq(_record(hashes[3]).revokedBlock, BLOCK + 6, "revokedBlock");
    }

    function test_SuspendingSkipsWhatIsSuspendedOrRevoked() external {
        _revoke(alice, aliceId, hashes[1], 2);
        _revoke(alice, aliceId, hashes[2], 6);
        IDocumentRegistry.Record memory suspended = _record(hashes[2]);
        _pass(1);
        vm.recordLogs();
        _revokeMany(alice, hashes, 6);
        assertEq(_eventCount(), 2, "events");
        assertEq(_record(hashes[2]), suspended, "the suspended one");
        assertStatus(hashes[1], IDocumentRegistry.Status.Revoked);
        assertStatus(hashes[0], IDocumentRegistry.Status.Suspended);
    }

    function test_RevokingTakesWhatIsSuspendedOrReleased() external {
        _revoke(alice, aliceId, hashes[1], 6);
        _revoke(alice, aliceId, hashes[2], 6);
        _release(alice, aliceId, hashes[2]);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(hashes[0], aliceId, alice, 3);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(hashes[1], aliceId, alice, 3);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(hashes[2], aliceId, alice, 3);
        _revokeMany(alice, hashes, 3);
        for (uint256 i = 0; i < 4; ++i) {
            assertStatus(hashes[i], IDocumentRegistry.Status.Revoked);
        }
    }

    function test_SkipsARepeatWithinTheList() external {
        bytes32[] memory list = new bytes32[](2);
        (list[0], list[1]) = (hashes[0], hashes[0]);
        vm.recordLogs();
        _revokeMany(alice, list, 1);
        assertEq(_eventCount(), 1, "events");
    }

    function test_ChangesNothingElsewhere() external {
        _issueMany(bob, bobId, hashes, 0);
        _revokeMany(alice, hashes, 1);
        assertStatus(registry.statusOf(bobId, hashes[0]), IDocumentRegistry.Status.Valid);
    }
}

contract ReleaseTest is Base {
    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, 0);
        _revoke(alice, aliceId, HASH, 6);
        _pass(5);
    }

    function test_RevertGiven_CallerHasEveryPermissionButRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _release(alice, aliceId, HASH);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, REVOKE);
        _release(bob, aliceId, HASH);
    }

    function test_RevertGiven_NotIssued() external {
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _release(alice, aliceId, OTHER);
    }

    function test_RevertGiven_NeverSuspended() external {
        _issue(alice, aliceId, OTHER, 0);
        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, OTHER);
        _release(alice, aliceId, OTHER);
    }

    function test_RevertGiven_ItIsReleased() external {
        _release(alice, aliceId, HASH);
        expectError(IDocumentRegistry.NotSuspended.selector, aliceId, HASH);
        _release(alice, aliceId, HASH);
    }

    function testFuzz_RevertGiven_ItIsFinallyRevoked(uint8 reason) external {
        _revoke(alice, aliceId, HASH, _finalReason(reason));
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(alice, aliceId, HASH);
    }

    function test_RevertGiven_ItIsFinallyRevokedAndCallerManages() external {
        _revoke(alice, aliceId, HASH, 1);
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(alice, aliceId, HASH);
    }

    function test_Release() external {
        _add(aliceRoot, aliceId, carol, REVOKE);
        IDocumentRegistry.Record memory expected = _record(HASH);
        expectEmit();
        emit IDocumentRegistry.DocumentReleased(HASH, aliceId, carol);
        _release(carol, aliceId, HASH);

        expected.revokerIndex = 2;
        expected.revokedBlock = BLOCK + 5;
        expected.revokedAt = NOW + 60;
        expected.reason = 8;
        assertEq(_record(HASH), expected, "record");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_SuspendedAgainAfterRelease() external {
        _release(alice, aliceId, HASH);
        _revoke(alice, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
    }

    function test_RevokedAfterRelease() external {
        _release(alice, aliceId, HASH);
        _revoke(alice, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertTrue(!_record(HASH).setAside, "setAside");
    }

    function test_AReleasedDocumentExpires() external {
        _issue(alice, aliceId, OTHER, NOW + 100);
        _revoke(alice, aliceId, OTHER, 6);
        _release(alice, aliceId, OTHER);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
        vm.warp(NOW + 100);
        assertStatus(OTHER, IDocumentRegistry.Status.Expired);
    }

    function test_AClosedIssuerReleases() external {
        _close(aliceId);
        _release(alice, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }
}

contract ReleaseManyTest is Base {
    bytes32[] private hashes = _hashes(4);

    function setUp() public override {
        super.setUp();
        _issueMany(alice, aliceId, hashes, 0);
        vm.prank(alice);
        registry.revokeMany(aliceId, hashes, 6);
        _pass(5);
    }

    function _releaseMany(address account, bytes32[] memory list) private {
        vm.prank(account);
        registry.releaseMany(aliceId, list);
    }

    function test_RevertGiven_CallerLacksRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _releaseMany(alice, hashes);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _releaseMany(alice, new bytes32[](0));
    }

    function test_RevertWhen_ListIsTooLong() external {
        expectError(IDocumentRegistry.ListTooLong.selector, 1_001);
        _releaseMany(alice, _hashes(1_001));
    }

    function test_RevertWhen_OneIsNotIssued() external {
        bytes32[] memory list = _hashes(5);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, list[4]);
        _releaseMany(alice, list);
    }

    function test_SkipsWhatIsNotSuspended() external {
        _release(alice, aliceId, hashes[1]);
        IDocumentRegistry.Record memory released = _record(hashes[1]);
        _revoke(alice, aliceId, hashes[2], 1);
        IDocumentRegistry.Record memory revoked = _record(hashes[2]);
        _pass(1);
        expectEmit();
        emit IDocumentRegistry.DocumentReleased(hashes[0], aliceId, alice);
        expectEmit();
        emit IDocumentRegistry.DocumentReleased(hashes[3], aliceId, alice);
        vm.recordLogs();
        _releaseMany(alice, hashes);
        assertEq(_eventCount(), 2, "events");
        assertEq(_record(hashes[1]), released, "the released one");
        assertEq(_record(hashes[2]), revoked, "the revoked one");
        assertStatus(hashes[0], IDocumentRegistry.Status.Valid);
        assertStatus(hashes[3], IDocumentRegistry.Status.Valid);
    }
}

contract SupersedeTest is Base {
    bytes32 private constant NEXT = keccak256("the successor");

    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, 7);
        _pass(5);
    }

    function _supersede(address account, bytes32 root, bytes32 old, bytes32 next) private {
        vm.prank(account);
        registry.supersede(aliceId, root, old, next, NOW + 1_000);
    }

    function test_RevertGiven_CallerLacksIssue() external {
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, ISSUE);
        _supersede(alice, 0, HASH, NEXT);
    }

    function test_RevertGiven_CallerLacksRevoke() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, REVOKE);
        _supersede(alice, 0, HASH, NEXT);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, ISSUE | REVOKE);
        _supersede(bob, 0, HASH, NEXT);
    }

    function test_RevertWhen_ItSupersedesItself() external {
        expectError(IDocumentRegistry.SameDocument.selector, uint256(HASH));
        _supersede(alice, 0, HASH, HASH);
    }

    function test_RevertGiven_TheOldOneIsNotIssued() external {
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _supersede(alice, 0, OTHER, NEXT);
    }

    function test_RevertGiven_TheOldOneIsRevoked() external {
        _revoke(alice, aliceId, HASH, 1);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _supersede(alice, 0, HASH, NEXT);
    }

    function test_RevertGiven_TheSuccessorIsIssued() external {
        _issue(alice, aliceId, NEXT, 0);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, NEXT);
        _supersede(alice, 0, HASH, NEXT);
    }

    function test_RevertWhen_TheSuccessorIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _supersede(alice, 0, HASH, 0);
    }

    function test_RevertGiven_IssuerIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _supersede(alice, 0, HASH, NEXT);
    }

    function test_RevertGiven_TheRootIsNotIssued() external {
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _supersede(alice, OTHER, HASH, NEXT);
    }

    function test_RevertGiven_TheRootIsAnotherIssuers() external {
        vm.prank(bob);
        registry.issueBatch(bobId, OTHER, 1, 0);
        expectError(IDocumentRegistry.NotIssued.selector, aliceId, OTHER);
        _supersede(alice, OTHER, HASH, NEXT);
    }

    function test_Supersede() external {
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice, 4);
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(NEXT, aliceId, alice, NOW + 1_000);
        expectEmit();
        emit IDocumentRegistry.DocumentSuperseded(HASH, NEXT, aliceId, alice);
        _supersede(alice, 0, HASH, NEXT);

        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        assertStatus(NEXT, IDocumentRegistry.Status.Valid);
        assertEq(_record(HASH).revokedBlock, BLOCK + 5, "revokedBlock");
        assertEq(_record(HASH).revokerIndex, 1, "revokerIndex");
        assertEq(_record(NEXT).anchoredBlock, BLOCK + 5, "anchoredBlock");
        assertEq(_record(NEXT).validUntil, NOW + 1_000, "validUntil");
        assertEq(_documentCount(aliceId), 2, "count");
    }

    function test_ASuspendedDocumentIsSuperseded() external {
        _revoke(alice, aliceId, HASH, 6);
        _supersede(alice, 0, HASH, NEXT);
        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
    }

    function test_ADocumentOfABatchIsSuperseded() external {
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        bytes32 inBatch = keccak256("in a batch");
        expectEmit();
        emit IDocumentRegistry.DocumentInBatchRevoked(inBatch, aliceId, OTHER, alice, 4);
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(NEXT, aliceId, alice, NOW + 1_000);
        expectEmit();
        emit IDocumentRegistry.DocumentSuperseded(inBatch, NEXT, aliceId, alice);
        _supersede(alice, OTHER, inBatch, NEXT);
        assertEq(_record(inBatch).reason, 4, "reason");
        assertEq(_record(inBatch).anchoredBlock, 0, "anchoredBlock");
        assertStatus(NEXT, IDocumentRegistry.Status.Valid);
        assertEq(_documentCount(aliceId), 2, "count");
    }

    function test_RevertWhen_ADocumentOfABatchIsZero() external {
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _supersede(alice, OTHER, 0, NEXT);
    }

    /// The successor may stand Distrusted: it is issued again.
    function test_OverADistrustedSuccessor() external {
        _add(aliceRoot, aliceId, carol, ISSUE);
        _issue(carol, aliceId, NEXT, 0);
        _distrust(aliceRoot, aliceId, carol, 1);
        _supersede(alice, 0, HASH, NEXT);
        assertStatus(NEXT, IDocumentRegistry.Status.Valid);
        assertEq(_record(NEXT).accountIndex, 1, "accountIndex");
        assertEq(_documentCount(aliceId), 2, "count");
    }
}

/// @dev A thief had Alice's key from block 1,005 on and revoked with it.
contract SetAsideTest is Base {
    address private keeper = address(0xC0DE);
    bytes32 private constant BATCH = keccak256("a root");
    bytes32 private constant IN_BATCH = keccak256("in a batch");
    bytes32 private constant BEFORE = keccak256("revoked before the theft");
    bytes32 private constant NEXT = keccak256("the successor");

    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, 0);
        _issue(alice, aliceId, BEFORE, 0);
        _issue(alice, aliceId, OTHER, 0);
        vm.prank(alice);
        registry.issueBatch(aliceId, BATCH, 3, 0);
        _pass(4);
        _revoke(alice, aliceId, BEFORE, 1);
        _pass(1);
        _revoke(alice, aliceId, HASH, 1);
        vm.prank(alice);
        registry.revokeBatch(aliceId, BATCH, 2);
        vm.prank(alice);
        registry.revokeInBatch(aliceId, BATCH, _list(IN_BATCH), 3);
        _pass(5);
        _add(aliceRoot, aliceId, keeper, ISSUE | REVOKE | MANAGE);
    }

    function _distrustTheThief() private {
        _distrust(aliceRoot, aliceId, alice, BLOCK + 5);
    }

    function test_DistrustAloneLeavesTheRevocation() external {
        IDocumentRegistry.Record memory record = _record(HASH);
        _distrustTheThief();
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertEq(_record(HASH), record, "record");
    }

    function test_RevertGiven_CallerOnlyRevokes() external {
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, ISSUE | REVOKE | DELEGATE);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _revoke(keeper, aliceId, HASH, 5);
    }

    function test_RevertGiven_CallerOnlyManages() external {
        _distrustTheThief();
        expectMissing(aliceId, aliceRoot, REVOKE);
        _release(aliceRoot, aliceId, HASH);
    }

    function test_RevertGiven_TheRevocationIsFromBeforeTheTheft() external {
        _distrustTheThief();
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, BEFORE);
        _release(keeper, aliceId, BEFORE);
    }

    function test_RevertGiven_TheRevokerIsOnlyRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    function test_RevertGiven_TheIssuersOtherAccountIsDistrusted() external {
        _add(aliceRoot, aliceId, carol, REVOKE);
        _distrust(aliceRoot, aliceId, carol, 1);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    function test_Release() external {
        _distrustTheThief();
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(HASH, aliceId, keeper);
        expectEmit();
        emit IDocumentRegistry.DocumentReleased(HASH, aliceId, keeper);
        _release(keeper, aliceId, HASH);

        IDocumentRegistry.Record memory record = _record(HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(record.revokerIndex, 2, "revokerIndex");
        assertEq(record.revokedBlock, BLOCK + 10, "revokedBlock");
        assertEq(record.revokedAt, NOW + 120, "revokedAt");
        assertEq(record.reason, 8, "reason");
        assertTrue(record.setAside, "setAside");
    }

    function testFuzz_Replace(uint8 reason) external {
        reason = _finalReason(reason);
        _distrustTheThief();
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(HASH, aliceId, keeper);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, keeper, reason);
        _revoke(keeper, aliceId, HASH, reason);
        assertEq(_record(HASH).reason, reason, "reason");
        assertEq(_record(HASH).revokerIndex, 2, "revokerIndex");
        assertTrue(_record(HASH).setAside, "setAside");

        // The new one is final too.
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        _release(keeper, aliceId, HASH);
    }

    /// A thief's successor reads Distrusted, and the old document stays Superseded until released.
    function test_SupersededByTheThief() external {
        vm.prank(alice);
        registry.supersede(aliceId, 0, OTHER, NEXT, 0);
        _distrustTheThief();
        assertStatus(NEXT, IDocumentRegistry.Status.Distrusted);
        assertStatus(OTHER, IDocumentRegistry.Status.Superseded);
        _release(keeper, aliceId, OTHER);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_ReplaceByASuspension() external {
        _distrustTheThief();
        _revoke(keeper, aliceId, HASH, 6);
        assertStatus(HASH, IDocumentRegistry.Status.Suspended);
        assertTrue(_record(HASH).setAside, "setAside");
    }

    function test_NothingClearsSetAside() external {
        _distrustTheThief();
        _release(keeper, aliceId, HASH);
        vm.recordLogs();
        _revoke(keeper, aliceId, HASH, 6);
        assertEq(_eventCount(), 1, "events");
        assertTrue(_record(HASH).setAside, "suspended");
        _release(keeper, aliceId, HASH);
        assertTrue(_record(HASH).setAside, "released");
        _revoke(keeper, aliceId, HASH, 1);
        assertTrue(_record(HASH).setAside, "revoked");
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_ASuspensionByTheThiefIsReleasedAsAnyOther() external {
        _revoke(alice, aliceId, OTHER, 6);
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, REVOKE);
        _release(keeper, aliceId, OTHER);
        assertTrue(!_record(OTHER).setAside, "setAside");
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_Lists() external {
        _distrustTheThief();
        bytes32[] memory list = new bytes32[](2);
        (list[0], list[1]) = (BEFORE, HASH);
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(HASH, aliceId, keeper);
        vm.recordLogs();
        vm.prank(keeper);
        registry.releaseMany(aliceId, list);
        assertEq(_eventCount(), 2, "events");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertStatus(BEFORE, IDocumentRegistry.Status.Revoked);
        assertTrue(!_record(BEFORE).setAside, "setAside");
    }

    /// A list skips what the caller may not change.
    function test_AListOfACallerWhoOnlyRevokesSkipsThem() external {
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, REVOKE);
        vm.recordLogs();
        vm.prank(keeper);
        registry.releaseMany(aliceId, _list(HASH));
        vm.prank(keeper);
        registry.revokeMany(aliceId, _list(HASH), 5);
        vm.prank(keeper);
        registry.releaseInBatch(aliceId, BATCH, _list(IN_BATCH));
        assertEq(_eventCount(), 0, "events");
        assertEq(_record(HASH).reason, 1, "reason");
        assertEq(_record(IN_BATCH).reason, 3, "reason in the batch");
    }

    function test_RevokeManyReplaces() external {
        _distrustTheThief();
        vm.prank(keeper);
        registry.revokeMany(aliceId, _list(HASH), 9);
        assertEq(_record(HASH).reason, 9, "reason");
        assertTrue(_record(HASH).setAside, "setAside");
    }

    function test_Batch() external {
        _distrustTheThief();
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(BATCH, aliceId, keeper);
        expectEmit();
        emit IDocumentRegistry.BatchReleased(BATCH, aliceId, keeper);
        vm.prank(keeper);
        registry.releaseBatch(aliceId, BATCH);
        assertEq(registry.batchOf(aliceId, BATCH).reason, 8, "reason");
        assertTrue(registry.batchOf(aliceId, BATCH).setAside, "setAside");
    }

    function test_RevertGiven_ABatchAndCallerOnlyRevokes() external {
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, ISSUE | REVOKE);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, BATCH);
        vm.prank(keeper);
        registry.releaseBatch(aliceId, BATCH);
    }

    function test_InBatch() external {
        _distrustTheThief();
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(IN_BATCH, aliceId, keeper);
        expectEmit();
        emit IDocumentRegistry.DocumentInBatchReleased(IN_BATCH, aliceId, BATCH, keeper);
        vm.prank(keeper);
        registry.releaseInBatch(aliceId, BATCH, _list(IN_BATCH));
        assertTrue(_record(IN_BATCH).setAside, "setAside");
    }

    function test_Supersede() external {
        _distrustTheThief();
        expectEmit();
        emit IDocumentRegistry.RevocationSetAside(HASH, aliceId, keeper);
        vm.prank(keeper);
        registry.supersede(aliceId, 0, HASH, NEXT, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        assertTrue(_record(HASH).setAside, "setAside");
    }

    function test_RevertGiven_SupersedeAndCallerDoesNotManage() external {
        _distrustTheThief();
        _permit(aliceRoot, aliceId, keeper, ISSUE | REVOKE);
        expectError(IDocumentRegistry.AlreadyRevoked.selector, aliceId, HASH);
        vm.prank(keeper);
        registry.supersede(aliceId, 0, HASH, NEXT, 0);
    }

    /// A replacement by an account that is distrusted later can be set aside in turn.
    function test_TwoThefts() external {
        _distrustTheThief();
        _revoke(keeper, aliceId, HASH, 9);
        _add(aliceRoot, aliceId, carol, REVOKE | MANAGE);
        _distrust(aliceRoot, aliceId, keeper, BLOCK + 10);
        _release(carol, aliceId, HASH);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(_record(HASH).revokerIndex, 3, "revokerIndex");
    }
}
