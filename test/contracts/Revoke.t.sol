// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract RevokeTest is Base {
    function _revoke(address account, bytes32 documentHash, uint8 reason) private {
        vm.prank(account);
        registry.revoke(documentHash, reason);
    }

    function test_RevertGiven_NeverIssued() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotIssued.selector, HASH));
        _revoke(alice, HASH, 0);
    }

    function test_RevertGiven_AnotherIssuersDocument() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, bob));
        _revoke(bob, HASH, 0);
    }

    function test_RevertGiven_CallerIsNobody() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, stranger));
        _revoke(stranger, HASH, 0);
    }

    function test_RevertGiven_CallerIsOnlyAdmin() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, admin));
        _revoke(admin, HASH, 0);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _issue(alice, HASH, 0);
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, alice));
        _revoke(alice, HASH, 0);
    }

    function test_AnotherAccountOfTheIssuerMayRevoke() external {
        _issue(alice, HASH, 0);
        _addAccount(aliceId, alice2);
        _revoke(alice2, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertEq(_record(HASH).accountIndex, 0, "who issued it");
    }

    function test_RevertGiven_RevokedAlready() external {
        _issue(alice, HASH, 0);
        _revoke(alice, HASH, 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyRevoked.selector, HASH));
        _revoke(alice, HASH, 2);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isReason(reason));
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, reason));
        _revoke(alice, HASH, reason);
    }

    function test_AcceptsEveryFinalReasonOfRfc5280() external {
        bytes32[] memory hashes = _hashes(11);
        for (uint8 reason = 0; reason <= 10; ++reason) {
            if (!_isReason(reason)) continue;
            _issue(alice, hashes[reason], 0);
            _revoke(alice, hashes[reason], reason);
            assertStatus(
                hashes[reason], reason == 4 ? IDocumentRegistry.Status.Superseded : IDocumentRegistry.Status.Revoked
            );
        }
    }

    function test_RevokerMayRevokeForAnyIssuer() external {
        _issue(alice, HASH, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, revoker, 5);
        _revoke(revoker, HASH, 5);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_RevertGiven_RevokerRoleIsWithdrawn() external {
        _issue(alice, HASH, 0);
        vm.prank(admin);
        registry.revokeRole(REVOKER_ROLE, revoker);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, revoker));
        _revoke(revoker, HASH, 5);
    }

    function test_RevokedStaysRevokedAfterExpiry() external {
        _issue(alice, HASH, NOW + 1);
        _revoke(alice, HASH, 1);
        vm.warp(NOW + 2);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function testFuzz_Revoke(uint40 validUntil, uint40 revokedBlock, uint40 revokedAt, uint8 reason) external {
        vm.assume(revokedBlock != 0 && _isReason(reason));
        _issue(bob, HASH, validUntil);
        IDocumentRegistry.Record memory issued = _record(HASH);
        vm.roll(revokedBlock);
        vm.warp(revokedAt);

        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(HASH, bobId, bob, reason);
        _revoke(bob, HASH, reason);

        issued.revokedBlock = revokedBlock;
        issued.revokedAt = revokedAt;
        issued.reason = reason;
        assertEq(keccak256(abi.encode(_record(HASH))), keccak256(abi.encode(issued)), "record");
    }
}

contract RevokeManyTest is Base {
    function _revokeMany(address account, bytes32[] memory hashes, uint8 reason) private {
        vm.prank(account);
        registry.revokeMany(hashes, reason);
    }

    function test_RevertWhen_ListIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyList.selector);
        _revokeMany(alice, new bytes32[](0), 0);
    }

    function test_RevertWhen_ListIsTooLong() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.ListTooLong.selector, 1_001));
        _revokeMany(alice, _hashes(1_001), 0);
    }

    function test_RevertGiven_OneWasNeverIssued() external {
        bytes32[] memory hashes = _hashes(2);
        _issue(alice, hashes[0], 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotIssued.selector, hashes[1]));
        _revokeMany(alice, hashes, 0);
    }

    function test_RevertGiven_OneIsAnotherIssuers() external {
        bytes32[] memory hashes = _hashes(2);
        _issue(alice, hashes[0], 0);
        _issue(bob, hashes[1], 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, hashes[1], alice));
        _revokeMany(alice, hashes, 0);
    }

    function test_RevertGiven_CallerIsNobody() external {
        _issueMany(alice, _hashes(2), 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, _hashes(2)[0], stranger));
        _revokeMany(stranger, _hashes(2), 0);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _issueMany(alice, _hashes(2), 0);
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, _hashes(2)[0], alice));
        _revokeMany(alice, _hashes(2), 0);
    }

    function testFuzz_RevertWhen_ReasonIsUnknown(uint8 reason) external {
        vm.assume(!_isReason(reason));
        _issueMany(alice, _hashes(2), 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, reason));
        _revokeMany(alice, _hashes(2), reason);
    }

    function test_SkipsWhatIsRevokedAlready() external {
        bytes32[] memory hashes = _hashes(3);
        _issueMany(alice, hashes, 0);
        vm.prank(alice);
        registry.revoke(hashes[1], 1);
        vm.roll(BLOCK + 1);

        vm.recordLogs();
        _revokeMany(alice, hashes, 5);
        assertEq(_eventCount(), 2, "events");
        assertEq(_record(hashes[0]).reason, 5, "first");
        assertEq(_record(hashes[1]).reason, 1, "second, untouched");
        assertEq(_record(hashes[1]).revokedBlock, BLOCK, "second's block, untouched");
        assertEq(_record(hashes[2]).reason, 5, "third");
    }

    function test_RevokerMayRevokeOfSeveralIssuers() external {
        bytes32[] memory hashes = _hashes(2);
        _issue(alice, hashes[0], 0);
        _issue(bob, hashes[1], 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(hashes[0], aliceId, revoker, 2);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(hashes[1], bobId, revoker, 2);
        _revokeMany(revoker, hashes, 2);
        assertStatus(hashes[0], IDocumentRegistry.Status.Revoked);
        assertStatus(hashes[1], IDocumentRegistry.Status.Revoked);
    }
}

contract SupersedeTest is Base {
    bytes32 private constant NEW = keccak256("its successor");

    function _supersede(address account, bytes32 documentHash, bytes32 successorHash, uint40 validUntil) private {
        vm.prank(account);
        registry.supersede(documentHash, successorHash, validUntil);
    }

    function test_RevertGiven_CallerIsNoIssuer() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, stranger));
        _supersede(stranger, HASH, NEW, 0);
    }

    function test_RevertGiven_NeverIssued() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotIssued.selector, HASH));
        _supersede(alice, HASH, NEW, 0);
    }

    function test_RevertGiven_AnotherIssuersDocument() external {
        _issue(bob, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, alice));
        _supersede(alice, HASH, NEW, 0);
    }

    function test_RevertGiven_AnotherIssuersDocumentAndCallerIsRevoker() external {
        _issue(bob, HASH, 0);
        vm.prank(admin);
        registry.grantRole(REVOKER_ROLE, alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, alice));
        _supersede(alice, HASH, NEW, 0);
    }

    function test_RevertGiven_RevokedAlready() external {
        _issue(alice, HASH, 0);
        vm.prank(alice);
        registry.revoke(HASH, 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyRevoked.selector, HASH));
        _supersede(alice, HASH, NEW, 0);
    }

    function test_RevertWhen_SuccessorIsZero() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(IDocumentRegistry.ZeroHash.selector);
        _supersede(alice, HASH, 0, 0);
    }

    function test_RevertGiven_SuccessorIsIssued() external {
        _issue(alice, HASH, 0);
        _issue(bob, NEW, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, NEW, bobId));
        _supersede(alice, HASH, NEW, 0);
    }

    function test_RevertWhen_SuccessorIsTheDocument() external {
        _issue(alice, HASH, 0);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, aliceId));
        _supersede(alice, HASH, HASH, 0);
    }

    function testFuzz_Supersede(bytes32 successor, uint40 validUntil) external {
        vm.assume(successor != 0 && successor != HASH);
        _issue(alice, HASH, 7);
        _addAccount(aliceId, alice2);
        vm.roll(BLOCK + 1);

        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice2, 4);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(successor, aliceId, alice2, validUntil);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentSuperseded(HASH, successor, aliceId, alice2);
        _supersede(alice2, HASH, successor, validUntil);

        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        assertEq(_record(HASH).revokedBlock, BLOCK + 1, "revokedBlock");
        assertEq(_record(successor).issuerId, aliceId, "issuerId");
        assertEq(_record(successor).accountIndex, 1, "accountIndex");
        assertEq(_record(successor).validUntil, validUntil, "validUntil");
    }
}
