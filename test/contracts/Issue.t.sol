// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract IssueTest is Base {
    function test_RevertGiven_CallerIsAStranger() external {
        expectMissing(aliceId, stranger, ISSUE);
        _issue(stranger, aliceId, HASH, 0);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, ISSUE);
        _issue(bob, aliceId, HASH, 0);
    }

    function test_RevertGiven_CallerIsTheAdmin() external {
        expectMissing(aliceId, admin, ISSUE);
        _issue(admin, aliceId, HASH, 0);
    }

    function test_RevertGiven_CallerHasEveryPermissionButIssue() external {
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, ISSUE);
        _issue(alice, aliceId, HASH, 0);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectMissing(aliceId, alice, ISSUE);
        _issue(alice, aliceId, HASH, 0);
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        expectMissing(issuerId, alice, ISSUE);
        _issue(alice, issuerId, HASH, 0);
    }

    function test_RevertGiven_IssuerIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _issue(alice, aliceId, HASH, 0);
    }

    function test_RevertWhen_HashIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issue(alice, aliceId, 0, 0);
    }

    function test_RevertGiven_ItIsIssued() external {
        _issue(alice, aliceId, HASH, 0);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, HASH);
        _issue(alice, aliceId, HASH, 0);
    }

    function test_RevertGiven_ItIsIssuedAndRevoked() external {
        _issue(alice, aliceId, HASH, 0);
        _revoke(alice, aliceId, HASH, 1);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, HASH);
        _issue(alice, aliceId, HASH, 0);
    }

    function test_RevertGiven_ItIsExpired() external {
        _issue(alice, aliceId, HASH, NOW - 1);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, HASH);
        _issue(alice, aliceId, HASH, 0);
    }

    function test_TheSameHashUnderTwoIssuersIsTwoDocuments() external {
        _issue(bob, bobId, HASH, 5);
        _issue(alice, aliceId, HASH, 0);
        _revoke(bob, bobId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertStatus(registry.statusOf(bobId, HASH), IDocumentRegistry.Status.Revoked);
        assertEq(registry.recordOf(bobId, HASH).validUntil, 5, "the other expiry");
        assertEq(_documentCount(aliceId), 1, "Alice's count");
        assertEq(_documentCount(bobId), 1, "Bob's count");
    }

    function test_OneAddressForTwoIssuers() external {
        _add(bobRoot, bobId, alice, ISSUE);
        _issue(alice, aliceId, HASH, 0);
        assertStatus(registry.statusOf(bobId, HASH), IDocumentRegistry.Status.NotIssued);
        _issue(alice, bobId, HASH, 0);
        assertEq(registry.recordOf(bobId, HASH).accountIndex, 2, "index with the other issuer");
    }

    function test_PastExpiryReadsExpired() external {
        _issue(alice, aliceId, HASH, NOW - 1);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    function test_ExpiresAtTheFirstSecondOfValidUntil() external {
        _issue(alice, aliceId, HASH, NOW + 10);
        vm.warp(NOW + 9);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        vm.warp(NOW + 10);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    function test_IssueIsEnough() external {
        _permit(aliceRoot, aliceId, alice, ISSUE);
        _issue(alice, aliceId, HASH, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_AReopenedIssuerIssuesAgain() external {
        _close(aliceId);
        vm.prank(admin);
        registry.reopenIssuer(aliceId);
        _issue(alice, aliceId, HASH, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function testFuzz_Issue(bytes32 documentHash, uint40 validUntil, uint40 number, uint40 time)
        external
    {
        vm.assume(documentHash != 0 && number != 0);
        vm.roll(number);
        vm.warp(time);

        expectEmit();
        emit IDocumentRegistry.DocumentIssued(documentHash, aliceId, alice, validUntil);
        _issue(alice, aliceId, documentHash, validUntil);

        IDocumentRegistry.Record memory expected;
        expected.accountIndex = 1;
        expected.anchoredBlock = number;
        expected.anchoredAt = time;
        expected.validUntil = validUntil;
        assertEq(_record(documentHash), expected, "record");
        assertEq(_documentCount(aliceId), 1, "count");
        bool expired = validUntil != 0 && validUntil <= time;
        assertStatus(
            documentHash,
            expired ? IDocumentRegistry.Status.Expired : IDocumentRegistry.Status.Valid
        );
    }
}

contract IssueManyTest is Base {
    function test_RevertGiven_CallerLacksIssue() external {
        _permit(aliceRoot, aliceId, alice, REVOKE | MANAGE | DELEGATE);
        expectMissing(aliceId, alice, ISSUE);
        _issueMany(alice, aliceId, _hashes(2), 0);
    }

    function test_RevertGiven_CallerIsOfAnotherIssuer() external {
        expectMissing(aliceId, bob, ISSUE);
        _issueMany(bob, aliceId, _hashes(2), 0);
    }

    function test_RevertGiven_IssuerIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _issueMany(alice, aliceId, _hashes(2), 0);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _issueMany(alice, aliceId, new bytes32[](0), 0);
    }

    function test_RevertWhen_ListIsTooLong() external {
        expectError(IDocumentRegistry.ListTooLong.selector, 1_001);
        _issueMany(alice, aliceId, _hashes(1_001), 0);
    }

    function test_TheLongestList() external {
        assertEq(registry.MAX_LIST(), 1_000, "MAX_LIST");
        _issueMany(alice, aliceId, _hashes(1_000), 0);
        assertStatus(_hashes(1_000)[999], IDocumentRegistry.Status.Valid);
        assertEq(_documentCount(aliceId), 1_000, "count");
    }

    function test_RevertWhen_ExpiriesAreMore() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.LengthMismatch.selector, 2, 3));
        vm.prank(alice);
        registry.issueMany(aliceId, _hashes(2), new uint40[](3));
    }

    function test_RevertWhen_ExpiriesAreFewer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.LengthMismatch.selector, 3, 2));
        vm.prank(alice);
        registry.issueMany(aliceId, _hashes(3), new uint40[](2));
    }

    function test_RevertWhen_OneHashIsZero() external {
        bytes32[] memory hashes = _hashes(3);
        hashes[2] = 0;
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issueMany(alice, aliceId, hashes, 0);
    }

    function test_SkipsWhatTheIssuerHolds() external {
        bytes32[] memory hashes = _hashes(3);
        _issue(alice, aliceId, hashes[1], 5);

        expectEmit();
        emit IDocumentRegistry.DocumentIssued(hashes[0], aliceId, alice, 0);
        expectEmit();
        emit IDocumentRegistry.IssueSkipped(hashes[1], aliceId, alice);
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(hashes[2], aliceId, alice, 0);
        _issueMany(alice, aliceId, hashes, 0);

        assertEq(_record(hashes[1]).validUntil, 5, "the skipped one's expiry");
        assertEq(_documentCount(aliceId), 3, "count");
    }

    function test_SkipsARepeatWithinTheList() external {
        bytes32[] memory hashes = _hashes(2);
        hashes[1] = hashes[0];
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(hashes[0], aliceId, alice, 0);
        expectEmit();
        emit IDocumentRegistry.IssueSkipped(hashes[0], aliceId, alice);
        _issueMany(alice, aliceId, hashes, 0);
        assertEq(_documentCount(aliceId), 1, "count");
    }

    function test_DoesNotSkipWhatAnotherIssuerHolds() external {
        bytes32[] memory hashes = _hashes(2);
        _issueMany(bob, bobId, hashes, 5);
        _issueMany(alice, aliceId, hashes, 7);
        assertEq(_record(hashes[0]).validUntil, 7, "Alice's");
        assertEq(registry.recordOf(bobId, hashes[0]).validUntil, 5, "Bob's");
    }

    function testFuzz_IssueMany(bytes32[] calldata hashes, uint40[] calldata expiries, uint256 seed)
        external
    {
        vm.assume(hashes.length != 0);
        uint40[] memory validUntils = new uint40[](hashes.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            vm.assume(hashes[i] != 0);
            validUntils[i] = expiries.length == 0 ? 0 : expiries[i % expiries.length];
        }
        bytes32 held = hashes[seed % hashes.length];
        _issue(alice, aliceId, held, 9);
        vm.prank(alice);
        registry.issueMany(aliceId, hashes, validUntils);

        uint256 distinct = 0;
        for (uint256 i = 0; i < hashes.length; ++i) {
            uint256 first = 0;
            while (hashes[first] != hashes[i]) ++first;
            if (first == i) ++distinct;
            uint40 expected = hashes[i] == held ? 9 : validUntils[first];
            assertEq(_record(hashes[i]).validUntil, expected, "validUntil");
            assertEq(_record(hashes[i]).anchoredBlock, BLOCK, "anchoredBlock");
        }
        assertEq(_documentCount(aliceId), distinct, "count");
    }
}

/// @dev Issuing over a Distrusted record.
contract IssueAgainTest is Base {
    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, 5);
        _pass(5);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        _add(aliceRoot, aliceId, carol, ISSUE);
    }

    function test_RevertGiven_TheRecordIsFromBeforeTheDistrust() external {
        _add(aliceRoot, aliceId, stranger, ISSUE | REVOKE);
        _issue(stranger, aliceId, OTHER, 0);
        _pass(1);
        _distrust(aliceRoot, aliceId, stranger, BLOCK + 6);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, OTHER);
        _issue(carol, aliceId, OTHER, 0);
    }

    function test_RevertGiven_TheDistrustedAccountCalls() external {
        expectMissing(aliceId, alice, ISSUE);
        _issue(alice, aliceId, HASH, 5);
    }

    function test_RevertGiven_IssuerIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _issue(carol, aliceId, HASH, 0);
    }

    function test_RevertGiven_ItIsIssuedAgain() external {
        _issue(carol, aliceId, HASH, 0);
        expectError(IDocumentRegistry.AlreadyIssued.selector, aliceId, HASH);
        _issue(carol, aliceId, HASH, 0);
    }

    function testFuzz_TheAnchoringPartIsNew(uint40 validUntil) external {
        vm.assume(validUntil == 0 || validUntil > NOW + 60);
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(HASH, aliceId, carol, validUntil);
        _issue(carol, aliceId, HASH, validUntil);

        IDocumentRegistry.Record memory expected;
        expected.accountIndex = 2;
        expected.anchoredBlock = BLOCK + 5;
        expected.anchoredAt = NOW + 60;
        expected.validUntil = validUntil;
        assertEq(_record(HASH), expected, "record");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(_documentCount(aliceId), 1, "count");
    }

    function test_TheRevocationPartStays() external {
        _add(aliceRoot, aliceId, stranger, REVOKE);
        _revoke(stranger, aliceId, HASH, 9);
        IDocumentRegistry.Record memory expected = _record(HASH);
        _pass(1);
        _issue(carol, aliceId, HASH, 0);
        expected.accountIndex = 2;
        expected.anchoredBlock = BLOCK + 6;
        expected.anchoredAt = NOW + 72;
        expected.validUntil = 0;
        assertEq(_record(HASH), expected, "record");
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_SetAsideStays() external {
        _add(aliceRoot, aliceId, stranger, REVOKE | MANAGE);
        _issue(carol, aliceId, OTHER, 0);
        _add(aliceRoot, aliceId, bob, REVOKE);
        _revoke(bob, aliceId, OTHER, 1);
        _distrust(aliceRoot, aliceId, bob, BLOCK + 5);
        _release(stranger, aliceId, OTHER);
        _distrust(aliceRoot, aliceId, carol, BLOCK + 5);
        _add(aliceRoot, aliceId, bobRoot, ISSUE);
        _issue(bobRoot, aliceId, OTHER, 0);
        assertTrue(_record(OTHER).setAside, "setAside");
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_IssueManyIssuesAgain() external {
        bytes32[] memory hashes = new bytes32[](3);
        hashes[0] = OTHER;
        hashes[1] = HASH;
        hashes[2] = HASH;
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(OTHER, aliceId, carol, 8);
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(HASH, aliceId, carol, 8);
        expectEmit();
        emit IDocumentRegistry.IssueSkipped(HASH, aliceId, carol);
        _issueMany(carol, aliceId, hashes, 8);
        assertEq(_record(HASH).validUntil, 8, "validUntil");
        assertEq(_record(HASH).accountIndex, 2, "accountIndex");
        assertEq(_documentCount(aliceId), 2, "count");
    }

    function test_RevertGiven_IssuerIsClosed_Many() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _issueMany(carol, aliceId, _list(HASH), 0);
    }
}

/// @dev A slot with a revocation part alone: the document was revoked in a batch.
contract IssueOverARevocationTest is Base {
    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        vm.prank(alice);
        registry.revokeInBatch(aliceId, OTHER, _list(HASH), 5);
        _pass(1);
    }

    function test_ItIsNotIssued() external view {
        assertStatus(HASH, IDocumentRegistry.Status.NotIssued);
        assertEq(_record(HASH).revokedBlock, BLOCK, "revokedBlock");
        assertEq(_documentCount(aliceId), 0, "count");
    }

    function test_IssuedItReadsRevoked() external {
        _issue(alice, aliceId, HASH, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertEq(_record(HASH).revokedBlock, BLOCK, "revokedBlock");
        assertEq(_record(HASH).reason, 5, "reason");
        assertEq(_record(HASH).anchoredBlock, BLOCK + 1, "anchoredBlock");
        assertEq(_documentCount(aliceId), 1, "count");
    }

    function test_IssueManyIssuesItToo() external {
        _issueMany(alice, aliceId, _list(HASH), 0);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertEq(_documentCount(aliceId), 1, "count");
    }
}
