// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract IssueTest is Base {
    function test_RevertGiven_CallerIsNoIssuer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, stranger));
        _issue(stranger, HASH, 0);
    }

    function test_RevertGiven_CallerIsOnlyAdmin() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, admin));
        _issue(admin, HASH, 0);
    }

    function test_RevertWhen_HashIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issue(alice, 0, 0);
    }

    function test_RevertGiven_IssuedByTheSameIssuer() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, aliceId));
        _issue(alice, HASH, 0);
    }

    function test_RevertGiven_IssuedByAnotherIssuer() external {
        _issue(bob, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, bobId));
        _issue(alice, HASH, 0);
    }

    function test_RevertGiven_RevokedDocument() external {
        _issue(alice, HASH, 0);
        vm.prank(alice);
        registry.revoke(HASH, 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, aliceId));
        _issue(alice, HASH, 0);
    }

    function test_RevertGiven_AccountIsRetired() external {
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _issue(alice, HASH, 0);
    }

    function test_PastExpiryReadsExpired() external {
        _issue(alice, HASH, NOW - 1);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    function test_ExpiresAtTheFirstSecondOfValidUntil() external {
        _issue(alice, HASH, NOW + 10);
        vm.warp(NOW + 9);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        vm.warp(NOW + 10);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    function testFuzz_Issue(bytes32 documentHash, uint40 validUntil, uint40 blockNumber, uint40 timestamp) external {
        vm.assume(documentHash != 0 && blockNumber != 0 && timestamp != 0);
        vm.roll(blockNumber);
        vm.warp(timestamp);

        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(documentHash, bobId, bob, validUntil);
        _issue(bob, documentHash, validUntil);

        IDocumentRegistry.Record memory record = _record(documentHash);
        assertEq(record.issuerId, bobId, "issuerId");
        assertEq(record.accountIndex, 0, "accountIndex");
        assertEq(record.anchoredBlock, blockNumber, "anchoredBlock");
        assertEq(record.anchoredAt, timestamp, "anchoredAt");
        assertEq(record.validUntil, validUntil, "validUntil");
        assertEq(record.revokedBlock, 0, "revokedBlock");
        assertEq(record.revokedAt, 0, "revokedAt");
        assertEq(record.reason, 0, "reason");
        bool expired = validUntil != 0 && validUntil <= timestamp;
        assertStatus(documentHash, expired ? IDocumentRegistry.Status.Expired : IDocumentRegistry.Status.Valid);
    }
}

contract IssueManyTest is Base {
    function test_RevertGiven_CallerIsNoIssuer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, stranger));
        _issueMany(stranger, _hashes(2), 0);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _issueMany(alice, new bytes32[](0), 0);
    }

    function test_RevertWhen_ListIsTooLong() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.ListTooLong.selector, 1_001));
        _issueMany(alice, _hashes(1_001), 0);
    }

    function test_TheLongestList() external {
        _issueMany(alice, _hashes(1_000), 0);
        assertStatus(_hashes(1_000)[999], IDocumentRegistry.Status.Valid);
    }

    function test_RevertGiven_AccountIsRetired() external {
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _issueMany(alice, _hashes(2), 0);
    }

    function test_RevertWhen_LengthsDiffer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.LengthMismatch.selector, 2, 3));
        vm.prank(alice);
        registry.issueMany(_hashes(2), new uint40[](3));
    }

    function test_RevertWhen_ExpiriesAreFewer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.LengthMismatch.selector, 3, 2));
        vm.prank(alice);
        registry.issueMany(_hashes(3), new uint40[](2));
    }

    function test_RevertWhen_OneHashIsZero() external {
        bytes32[] memory hashes = _hashes(3);
        hashes[2] = 0;
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _issueMany(alice, hashes, 0);
    }

    function test_SkipsWhatAnotherIssuerHolds() external {
        bytes32[] memory hashes = _hashes(3);
        _issue(bob, hashes[1], 5);

        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(hashes[0], aliceId, alice, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.IssueSkipped(hashes[1], bobId);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(hashes[2], aliceId, alice, 0);
        _issueMany(alice, hashes, 0);

        assertEq(_record(hashes[0]).issuerId, aliceId, "first");
        assertEq(_record(hashes[1]).issuerId, bobId, "second");
        assertEq(_record(hashes[1]).validUntil, 5, "second, untouched");
        assertEq(_record(hashes[2]).issuerId, aliceId, "third");
    }

    function test_SkipsARepeatWithinTheList() external {
        bytes32[] memory hashes = _hashes(2);
        hashes[1] = hashes[0];
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(hashes[0], aliceId, alice, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.IssueSkipped(hashes[0], aliceId);
        _issueMany(alice, hashes, 0);
    }

    function testFuzz_IssueMany(bytes32[] calldata hashes, uint40 validUntil, uint256 taken) external {
        vm.assume(hashes.length != 0);
        for (uint256 i = 0; i < hashes.length; ++i) {
            vm.assume(hashes[i] != 0);
        }
        bytes32 bobs = hashes[taken % hashes.length];
        _issue(bob, bobs, 0);
        _issueMany(alice, hashes, validUntil);
        for (uint256 i = 0; i < hashes.length; ++i) {
            IDocumentRegistry.Record memory record = _record(hashes[i]);
            assertEq(record.issuerId, hashes[i] == bobs ? bobId : aliceId, "issuerId");
            assertEq(record.validUntil, hashes[i] == bobs ? 0 : validUntil, "validUntil");
        }
    }
}
