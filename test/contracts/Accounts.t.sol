// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract AddAccountTest is Base {
    function test_RevertGiven_CallerHasEveryPermissionButManage() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | REVOKE | DELEGATE);
        expectMissing(aliceId, alice, MANAGE);
        _add(alice, aliceId, carol, ISSUE);
    }

    function test_RevertGiven_CallerManagesAnotherIssuer() external {
        expectMissing(aliceId, bobRoot, MANAGE);
        _add(bobRoot, aliceId, carol, ISSUE);
    }

    function test_RevertGiven_CallerIsTheAdmin() external {
        expectMissing(aliceId, admin, MANAGE);
        _add(admin, aliceId, carol, ISSUE);
    }

    function test_RevertWhen_AccountIsImpossible() external {
        address[3] memory accounts = [address(0), address(registry), forwarder];
        for (uint256 i = 0; i < 3; ++i) {
            expectError(IDocumentRegistry.InvalidAccount.selector, uint160(accounts[i]));
            _add(aliceRoot, aliceId, accounts[i], ISSUE);
        }
    }

    function testFuzz_RevertWhen_PermissionsAreInvalid(uint8 permissions) external {
        vm.assume(permissions == 0 || permissions > 15);
        expectError(IDocumentRegistry.InvalidPermissions.selector, permissions);
        _add(aliceRoot, aliceId, carol, permissions);
    }

    function test_RevertGiven_AccountIsKnown() external {
        expectError(IDocumentRegistry.KnownAccount.selector, aliceId, alice);
        _add(aliceRoot, aliceId, alice, ISSUE);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.KnownAccount.selector, aliceId, alice);
        _add(aliceRoot, aliceId, alice, ISSUE);
    }

    function test_RevertGiven_IssuerHasHadTooManyAccounts() external {
        bytes32 slot = keccak256(abi.encode(aliceId, STORAGE_ROOT));
        uint256 state = uint256(vm.load(address(registry), slot)) & ~(uint256(0xffff) << 80);
        vm.store(address(registry), slot, bytes32(state | 65_534 << 80));
        _add(aliceRoot, aliceId, carol, ISSUE);
        assertEq(registry.accountOf(aliceId, carol).accountIndex, 65_534, "the last index");
        assertEq(registry.issuerOf(aliceId).accountCount, 65_535, "accountCount");
        assertEq(registry.issuerOf(aliceId).changedBlock, BLOCK, "changedBlock");
        expectError(IDocumentRegistry.TooManyAccounts.selector, aliceId);
        _add(aliceRoot, aliceId, stranger, ISSUE);
    }

    function testFuzz_AddAccount(address account, uint8 permissions) external {
        permissions = permissions % 15 + 1;
        vm.assume(account != address(0) && account != address(registry) && account != forwarder);
        vm.assume(account != alice && account != aliceRoot);
        _pass(3);
        expectEmit();
        emit IDocumentRegistry.AccountAdded(aliceId, account, 2, permissions, aliceRoot);
        vm.prank(aliceRoot);
        assertEq(registry.addAccount(aliceId, account, permissions), 2, "index");

        IDocumentRegistry.Account memory expected =
            IDocumentRegistry.Account(account, 2, permissions, BLOCK + 3, 0, 0, 0);
        assertEq(registry.accountOf(aliceId, account), expected, "account");
        assertEq(registry.accountAt(aliceId, 2), expected, "account by index");
        assertEq(registry.issuerOf(aliceId).accountCount, 3, "accountCount");
        assertEq(registry.issuerOf(aliceId).changedBlock, BLOCK, "changedBlock");
    }

    function test_ANewManagerManages() external {
        _add(aliceRoot, aliceId, carol, MANAGE);
        _retire(carol, aliceId, aliceRoot);
        _add(carol, aliceId, stranger, ISSUE);
        assertEq(registry.accountOf(aliceId, stranger).permissions, ISSUE, "permissions");
    }
}

contract SetPermissionsTest is Base {
    function test_RevertGiven_CallerHasEveryPermissionButManage() external {
        expectMissing(aliceId, alice, MANAGE);
        _permit(alice, aliceId, alice, MANAGE);
    }

    function test_RevertGiven_CallerManagesAnotherIssuer() external {
        expectMissing(aliceId, bobRoot, MANAGE);
        _permit(bobRoot, aliceId, alice, ISSUE);
    }

    function testFuzz_RevertWhen_PermissionsAreInvalid(uint8 permissions) external {
        vm.assume(permissions == 0 || permissions > 15);
        expectError(IDocumentRegistry.InvalidPermissions.selector, permissions);
        _permit(aliceRoot, aliceId, alice, permissions);
    }

    function test_RevertGiven_AccountIsUnknown() external {
        expectError(IDocumentRegistry.UnknownAccount.selector, aliceId, bob);
        _permit(aliceRoot, aliceId, bob, ISSUE);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.RetiredAccount.selector, aliceId, alice);
        _permit(aliceRoot, aliceId, alice, ISSUE);
    }

    function testFuzz_SetPermissions(uint8 permissions) external {
        permissions = permissions % 15 + 1;
        _pass(3);
        expectEmit();
        emit IDocumentRegistry.PermissionsChanged(aliceId, alice, permissions, aliceRoot);
        _permit(aliceRoot, aliceId, alice, permissions);
        IDocumentRegistry.Account memory expected =
            IDocumentRegistry.Account(alice, 1, permissions, BLOCK, BLOCK + 3, 0, 0);
        assertEq(registry.accountOf(aliceId, alice), expected, "account");

        // Again, later: the block is the last one.
        _pass(1);
        _permit(aliceRoot, aliceId, alice, permissions);
        expected.changedBlock = BLOCK + 4;
        assertEq(registry.accountOf(aliceId, alice), expected, "account");
        assertEq(registry.issuerOf(aliceId).changedBlock, BLOCK, "the issuer's changedBlock");
    }

    function test_ARootMayIssueAfterwards() external {
        _permit(aliceRoot, aliceId, aliceRoot, ISSUE | MANAGE);
        _issue(aliceRoot, aliceId, HASH, 0);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_WhatItIssuedStaysValid() external {
        _issue(alice, aliceId, HASH, 0);
        _permit(aliceRoot, aliceId, alice, REVOKE);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }
}

contract RetireAccountTest is Base {
    function test_RevertGiven_CallerHasEveryPermissionButManage() external {
        _add(aliceRoot, aliceId, carol, ISSUE | REVOKE | DELEGATE);
        expectMissing(aliceId, carol, MANAGE);
        _retire(carol, aliceId, alice);
    }

    function test_RevertGiven_CallerManagesAnotherIssuer() external {
        expectMissing(aliceId, bobRoot, MANAGE);
        _retire(bobRoot, aliceId, alice);
    }

    function test_RevertGiven_CallerIsTheAdmin() external {
        expectMissing(aliceId, admin, MANAGE);
        _retire(admin, aliceId, alice);
    }

    function test_RevertGiven_AccountIsUnknown() external {
        expectError(IDocumentRegistry.UnknownAccount.selector, aliceId, carol);
        _retire(aliceRoot, aliceId, carol);
        expectError(IDocumentRegistry.UnknownAccount.selector, aliceId, stranger);
        _retire(stranger, aliceId, stranger);
    }

    function test_RevertGiven_ItIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.RetiredAccount.selector, aliceId, alice);
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.RetiredAccount.selector, aliceId, alice);
        _retire(alice, aliceId, alice);
    }

    function test_Retire() external {
        _issue(alice, aliceId, HASH, 0);
        _permit(aliceRoot, aliceId, alice, ISSUE | REVOKE);
        _pass(3);
        expectEmit();
        emit IDocumentRegistry.AccountRetired(aliceId, alice, aliceRoot);
        _retire(aliceRoot, aliceId, alice);
        assertEq(
            registry.accountOf(aliceId, alice),
            IDocumentRegistry.Account(alice, 1, 0, BLOCK, BLOCK, BLOCK + 3, 0),
            "account"
        );
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(registry.issuerOf(aliceId).accountCount, 2, "accountCount");
    }

    function test_AnAccountRetiresItself() external {
        expectEmit();
        emit IDocumentRegistry.AccountRetired(aliceId, alice, alice);
        _retire(alice, aliceId, alice);
        assertEq(registry.accountOf(aliceId, alice).permissions, 0, "permissions");
    }

    function test_AManagerRetiresAnother() external {
        _add(aliceRoot, aliceId, carol, MANAGE);
        _retire(aliceRoot, aliceId, carol);
        expectMissing(aliceId, carol, MANAGE);
        _retire(carol, aliceId, aliceRoot);
    }

    function test_TheLastManagerRetiresItself() external {
        _retire(aliceRoot, aliceId, aliceRoot);
        expectMissing(aliceId, aliceRoot, MANAGE);
        _add(aliceRoot, aliceId, carol, ISSUE);
    }

    function test_WithOneIssuerOnly() external {
        _add(bobRoot, bobId, alice, ISSUE);
        _retire(alice, aliceId, alice);
        _issue(alice, bobId, HASH, 0);
        assertEq(registry.accountOf(bobId, alice).retiredBlock, 0, "retiredBlock");
    }
}

contract DistrustFromTest is Base {
    function setUp() public override {
        super.setUp();
        _issue(alice, aliceId, HASH, NOW + 1_000);
        _pass(10);
        _issue(alice, aliceId, OTHER, NOW + 1_000);
    }

    function expectOutOfRange(uint40 fromBlock) private {
        expectError(IDocumentRegistry.DistrustBlockOutOfRange.selector, fromBlock);
    }

    function test_RevertGiven_CallerHasEveryPermissionButManage() external {
        _add(aliceRoot, aliceId, carol, ISSUE | REVOKE | DELEGATE);
        expectMissing(aliceId, carol, MANAGE);
        _distrust(carol, aliceId, alice, BLOCK);
    }

    function test_RevertGiven_CallerManagesAnotherIssuer() external {
        expectMissing(aliceId, bobRoot, MANAGE);
        _distrust(bobRoot, aliceId, alice, BLOCK);
    }

    function test_RevertGiven_CallerIsTheAdmin() external {
        expectMissing(aliceId, admin, MANAGE);
        _distrust(admin, aliceId, alice, BLOCK);
    }

    function test_RevertGiven_AccountIsUnknown() external {
        expectError(IDocumentRegistry.UnknownAccount.selector, aliceId, bob);
        _distrust(aliceRoot, aliceId, bob, BLOCK);
    }

    function test_RevertWhen_BlockIsZero() external {
        expectOutOfRange(0);
        _distrust(aliceRoot, aliceId, alice, 0);
    }

    function test_RevertWhen_BlockIsToCome() external {
        expectOutOfRange(BLOCK + 11);
        _distrust(aliceRoot, aliceId, alice, BLOCK + 11);
    }

    function testFuzz_RevertWhen_BlockIsNotLower(uint40 fromBlock) external {
        fromBlock = BLOCK + fromBlock % 11;
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        expectOutOfRange(fromBlock);
        _distrust(aliceRoot, aliceId, alice, fromBlock);
    }

    function test_Distrust() external {
        expectEmit();
        emit IDocumentRegistry.AccountRetired(aliceId, alice, aliceRoot);
        expectEmit();
        emit IDocumentRegistry.AccountDistrusted(aliceId, alice, BLOCK + 1, aliceRoot);
        _distrust(aliceRoot, aliceId, alice, BLOCK + 1);
        IDocumentRegistry.Account memory expected =
            IDocumentRegistry.Account(alice, 1, 0, BLOCK, 0, BLOCK + 10, BLOCK + 1);
        assertEq(registry.accountOf(aliceId, alice), expected, "account");
        assertEq(registry.accountAt(aliceId, 1), expected, "account by index");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertStatus(OTHER, IDocumentRegistry.Status.Distrusted);
        expectMissing(aliceId, alice, ISSUE);
        _issue(alice, aliceId, keccak256("one more"), 0);
    }

    function testFuzz_FromTheBlockOn(uint40 fromBlock, uint40 issuedBlock) external {
        issuedBlock = BLOCK + 11 + issuedBlock % 100;
        fromBlock = BLOCK + 1 + fromBlock % 120;
        bytes32 hash = keccak256("one more");
        vm.roll(issuedBlock);
        _issue(alice, aliceId, hash, 0);
        vm.roll(BLOCK + 200);
        _distrust(aliceRoot, aliceId, alice, fromBlock);
        bool distrusted = issuedBlock >= fromBlock;
        assertStatus(
            hash,
            distrusted ? IDocumentRegistry.Status.Distrusted : IDocumentRegistry.Status.Valid
        );
    }

    function test_TheBlockIsLowered() external {
        _distrust(aliceRoot, aliceId, alice, BLOCK + 1);
        vm.recordLogs();
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertEq(_eventCount(), 1, "events");
        assertEq(registry.accountOf(aliceId, alice).distrustedFrom, BLOCK, "distrustedFrom");
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
    }

    function test_FromTheCurrentAndTheFirstBlock() external {
        _distrust(aliceRoot, aliceId, alice, BLOCK + 10);
        assertStatus(OTHER, IDocumentRegistry.Status.Distrusted);
        _distrust(aliceRoot, aliceId, alice, 1);
        assertEq(registry.accountOf(aliceId, alice).distrustedFrom, 1, "distrustedFrom");
    }

    function test_ARetiredAccountKeepsItsBlock() external {
        _retire(aliceRoot, aliceId, alice);
        _pass(5);
        vm.recordLogs();
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertEq(_eventCount(), 1, "events");
        assertEq(registry.accountOf(aliceId, alice).retiredBlock, BLOCK + 10, "retiredBlock");
    }

    function test_DistrustedBeforeExpired() external {
        vm.warp(NOW + 1_000);
        _distrust(aliceRoot, aliceId, alice, BLOCK);
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
    }

    function test_OtherAccountsAndIssuersAreUntouched() external {
        bytes32 carols = keccak256("Carol's");
        _add(aliceRoot, aliceId, carol, ISSUE);
        _issue(carol, aliceId, carols, 0);
        _add(bobRoot, bobId, alice, ISSUE);
        _issue(alice, bobId, HASH, 0);
        _distrust(aliceRoot, aliceId, alice, 1);
        assertStatus(carols, IDocumentRegistry.Status.Valid);
        assertStatus(registry.statusOf(bobId, HASH), IDocumentRegistry.Status.Valid);
        _issue(alice, bobId, OTHER, 0);
    }

    function test_AManagerDistrustsItself() external {
        _distrust(aliceRoot, aliceId, aliceRoot, BLOCK);
        expectMissing(aliceId, aliceRoot, MANAGE);
        _add(aliceRoot, aliceId, carol, ISSUE);
    }
}

/// @dev AccessControl, as far as the registry has roles.
contract RolesTest is Base {
    function expectUnsupported(bytes32 role) private {
        expectError(IDocumentRegistry.UnsupportedRole.selector, uint256(role));
    }

    function test_IssuerRoleFollowsThePermissions() external {
        assertEq(registry.ISSUER_ROLE(), ISSUER_ROLE, "ISSUER_ROLE");
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "a key");
        assertTrue(!registry.hasRole(ISSUER_ROLE, aliceRoot), "a root");
        assertTrue(!registry.hasRole(ISSUER_ROLE, stranger), "a stranger");

        expectEmit();
        emit RoleRevoked(ISSUER_ROLE, alice, aliceRoot);
        _permit(aliceRoot, aliceId, alice, REVOKE);
        assertTrue(!registry.hasRole(ISSUER_ROLE, alice), "without ISSUE");
        expectEmit();
        emit RoleGranted(ISSUER_ROLE, alice, aliceRoot);
        _permit(aliceRoot, aliceId, alice, ISSUE);
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "with ISSUE again");
        expectEmit();
        emit RoleRevoked(ISSUER_ROLE, alice, alice);
        _retire(alice, aliceId, alice);
        assertTrue(!registry.hasRole(ISSUER_ROLE, alice), "retired");
        expectEmit();
        emit RoleGranted(ISSUER_ROLE, carol, aliceRoot);
        _add(aliceRoot, aliceId, carol, ISSUE);
        expectEmit();
        emit RoleRevoked(ISSUER_ROLE, carol, aliceRoot);
        _distrust(aliceRoot, aliceId, carol, 1);
        assertTrue(!registry.hasRole(ISSUER_ROLE, carol), "distrusted");
    }

    function test_IssuerRoleOfTwoIssuers() external {
        vm.recordLogs();
        _add(bobRoot, bobId, alice, ISSUE);
        assertEq(_eventCount(), 1, "events of adding");
        _retire(alice, aliceId, alice);
        assertEq(_eventCount(), 1, "events of retiring");
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "still for one");
        expectEmit();
        emit RoleRevoked(ISSUER_ROLE, alice, alice);
        _retire(alice, bobId, alice);
        assertTrue(!registry.hasRole(ISSUER_ROLE, alice), "for none");
    }

    function test_AnUnchangedIssueEmitsNoRole() external {
        vm.recordLogs();
        _permit(aliceRoot, aliceId, alice, ISSUE | MANAGE);
        _permit(aliceRoot, aliceId, aliceRoot, REVOKE | MANAGE);
        _retire(aliceRoot, aliceId, aliceRoot);
        assertEq(_eventCount(), 3, "events");
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "role");
    }

    function testFuzz_RevertGiven_AnyOtherRole(bytes32 role) external {
        vm.assume(role != ADMIN_ROLE);
        expectUnsupported(role);
        vm.prank(admin);
        registry.grantRole(role, carol);
        expectUnsupported(role);
        vm.prank(admin);
        registry.revokeRole(role, alice);
        expectUnsupported(role);
        vm.prank(alice);
        registry.renounceRole(role, alice);
    }

    function test_RevertGiven_IssuerRole() external {
        expectUnsupported(ISSUER_ROLE);
        vm.prank(admin);
        registry.grantRole(ISSUER_ROLE, carol);
        expectUnsupported(ISSUER_ROLE);
        vm.prank(admin);
        registry.revokeRole(ISSUER_ROLE, alice);
        expectUnsupported(ISSUER_ROLE);
        vm.prank(alice);
        registry.renounceRole(ISSUER_ROLE, alice);
    }

    function test_TheAdminHandsOver() external {
        assertEq(registry.defaultAdmin(), admin, "admin");
        assertEq(registry.defaultAdminDelay(), DELAY, "delay");
        assertTrue(registry.hasRole(ADMIN_ROLE, admin), "hasRole");
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(carol);
        vm.warp(NOW + DELAY + 1);
        vm.prank(carol);
        registry.acceptDefaultAdminTransfer();
        assertEq(registry.defaultAdmin(), carol, "the new admin");
        assertTrue(!registry.hasRole(ADMIN_ROLE, admin), "the old one");
        expectAdminMissing(admin);
        _close(aliceId);
    }

    /// Neither shorter, for a thief who is in a hurry, nor so long that the role never moves again.
    function testFuzz_RevertWhen_TheAdminDelayIsChanged(uint48 delay) external {
        uint48[4] memory delays = [0, DELAY, type(uint48).max, delay];
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectRevert(IDocumentRegistry.AdminDelayIsFixed.selector);
            vm.prank(admin);
            registry.changeDefaultAdminDelay(delays[i]);
        }
        vm.warp(NOW + 365 days);
        assertEq(registry.defaultAdminDelay(), DELAY, "delay");
        (uint48 pending, uint48 schedule) = registry.pendingDefaultAdminDelay();
        assertEq(pending, 0, "pending delay");
        assertEq(schedule, 0, "schedule");
    }

    function test_RevertGiven_TheTransferIsAcceptedEarly() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(carol);
        vm.warp(NOW + DELAY);
        vm.expectRevert(
            abi.encodeWithSignature(
                "AccessControlEnforcedDefaultAdminDelay(uint48)", uint48(NOW) + DELAY
            )
        );
        vm.prank(carol);
        registry.acceptDefaultAdminTransfer();
        assertEq(registry.defaultAdmin(), admin, "admin");
    }

    function test_TheAdminCancels() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(carol);
        vm.prank(admin);
        registry.cancelDefaultAdminTransfer();
        vm.warp(NOW + DELAY + 1);
        vm.expectRevert(
            abi.encodeWithSignature("AccessControlInvalidDefaultAdmin(address)", carol)
        );
        vm.prank(carol);
        registry.acceptDefaultAdminTransfer();
    }

    function test_TheAdminRenounces() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(address(0));
        vm.warp(NOW + DELAY);
        vm.expectRevert(
            abi.encodeWithSignature(
                "AccessControlEnforcedDefaultAdminDelay(uint48)", uint48(NOW) + DELAY
            )
        );
        vm.prank(admin);
        registry.renounceRole(ADMIN_ROLE, admin);
        vm.warp(NOW + DELAY + 1);
        vm.prank(admin);
        registry.renounceRole(ADMIN_ROLE, admin);
        assertEq(registry.defaultAdmin(), address(0), "admin");
    }

    function test_RevertGiven_TheForwarderWouldBeAdmin() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(forwarder);
        vm.warp(NOW + DELAY + 1);
        expectError(IDocumentRegistry.InvalidAccount.selector, uint160(forwarder));
        vm.prank(forwarder);
        registry.acceptDefaultAdminTransfer();
    }
}
