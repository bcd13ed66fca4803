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
