// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract RegisterIssuerTest is Base {
    address private carol = address(0xCA401);

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        vm.prank(alice);
        registry.registerIssuer(carol, "Carol", "");
    }

    function test_RevertWhen_AccountIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroAccount.selector);
        vm.prank(admin);
        registry.registerIssuer(address(0), "Carol", "");
    }

    function test_RevertWhen_NameIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyName.selector);
        vm.prank(admin);
        registry.registerIssuer(carol, "", "https://carol.example");
    }

    function test_RevertGiven_AccountBelongsToAnIssuer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AccountTaken.selector, bob, bobId));
        vm.prank(admin);
        registry.registerIssuer(bob, "Bob again", "");
    }

    function testFuzz_RegisterIssuer(address account, string calldata name, string calldata uri) external {
        vm.assume(account != address(0) && account != alice && account != bob && bytes(name).length != 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.IssuerRegistered(3, account, name, uri);
        vm.expectEmit(address(registry));
        emit RoleGranted(ISSUER_ROLE, account, admin);
        vm.prank(admin);
        assertEq(registry.registerIssuer(account, name, uri), 3, "issuerId");

        IDocumentRegistry.Issuer memory issuer = registry.issuerOf(3);
        assertEq(issuer.name, name, "name");
        assertEq(issuer.uri, uri, "uri");
        assertEq(issuer.accountCount, 1, "accountCount");
        IDocumentRegistry.Account memory held = registry.accountOf(account);
        assertEq(held.issuerId, 3, "account's issuerId");
        assertEq(held.accountIndex, 0, "account's index");
        assertTrue(held.active, "active");
        assertEq(registry.accountAt(3, 0), account, "accountAt");
        assertTrue(registry.hasRole(ISSUER_ROLE, account), "hasRole");
    }
}

contract UpdateIssuerTest is Base {
    function _update(address account, uint32 issuerId, string memory name) private {
        vm.prank(account);
        registry.updateIssuer(issuerId, name, "https://new.example");
    }

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        _update(alice, aliceId, "Alice College");
    }

    function test_RevertWhen_NameIsEmpty() external {
        vm.expectRevert(IDocumentRegistry.EmptyName.selector);
        _update(admin, aliceId, "");
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownIssuer.selector, issuerId));
        _update(admin, issuerId, "Nobody");
    }

    function test_OldDocumentsShowTheNewName() external {
        _issue(alice, HASH, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.IssuerUpdated(aliceId, "Alice College", "https://new.example");
        _update(admin, aliceId, "Alice College");

        IDocumentRegistry.Verification memory verification = registry.verificationOf(HASH);
        assertEq(verification.issuerName, "Alice College", "name");
        assertEq(verification.issuerUri, "https://new.example", "uri");
        assertEq(registry.issuerOf(aliceId).accountCount, 1, "accountCount");
        assertEq(registry.issuerOf(bobId).name, "Bob Academy", "the other issuer's name");
    }
}

contract AddAccountTest is Base {
    function test_RevertGiven_CallerIsNotTheAdmin() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        vm.prank(alice);
        registry.addAccount(aliceId, alice2);
    }

    function test_RevertWhen_AccountIsZero() external {
        vm.expectRevert(IDocumentRegistry.ZeroAccount.selector);
        _addAccount(aliceId, address(0));
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownIssuer.selector, issuerId));
        _addAccount(issuerId, alice2);
    }

    function test_RevertGiven_AccountIsActive() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AccountTaken.selector, alice, aliceId));
        _addAccount(aliceId, alice);
    }

    function test_RevertGiven_AccountIsOfAnotherIssuer() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AccountTaken.selector, bob, bobId));
        _addAccount(aliceId, bob);
    }

    function test_RevertGiven_AccountIsRetiredFromAnotherIssuer() external {
        vm.prank(admin);
        registry.retireAccount(bob);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AccountTaken.selector, bob, bobId));
        _addAccount(aliceId, bob);
    }

    function test_RevertGiven_RegisteredAfterItRetired() external {
        vm.prank(admin);
        registry.retireAccount(bob);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AccountTaken.selector, bob, bobId));
        vm.prank(admin);
        registry.registerIssuer(bob, "Bob again", "");
    }

    function test_RevertGiven_AccountIsDistrusted() external {
        _distrust(alice, BLOCK);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.DistrustedAccount.selector, alice, BLOCK));
        _addAccount(aliceId, alice);
    }

    function test_RevertGiven_IssuerHasHadTooManyAccounts() external {
        bytes32 count = bytes32(uint256(keccak256(abi.encode(aliceId, STORAGE_ROOT + 3))) + 2);
        vm.store(address(registry), count, bytes32(uint256(65_534)));
        _addAccount(aliceId, alice2);
        assertEq(registry.accountOf(alice2).accountIndex, 65_534, "the last index");
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.TooManyAccounts.selector, aliceId));
        _addAccount(aliceId, address(0xA3));
    }

    function testFuzz_AddAccount(address account) external {
        vm.assume(account != address(0) && account != alice && account != bob);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountAdded(aliceId, account, 1);
        vm.expectEmit(address(registry));
        emit RoleGranted(ISSUER_ROLE, account, admin);
        vm.prank(admin);
        assertEq(registry.addAccount(aliceId, account), 1, "index");

        assertEq(registry.accountAt(aliceId, 1), account, "accountAt");
        assertEq(registry.accountAt(aliceId, 0), alice, "the first account");
        assertEq(registry.issuerOf(aliceId).accountCount, 2, "accountCount");
        assertEq(registry.accountOf(account).issuerId, aliceId, "issuerId");
        assertTrue(registry.hasRole(ISSUER_ROLE, account), "hasRole");
        _issue(account, HASH, 0);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(HASH);
        assertEq(verification.record.issuerId, aliceId, "record's issuer");
        assertEq(verification.record.accountIndex, 1, "record's account");
        assertEq(verification.account, account, "account");
    }

    function test_ARetiredAccountComesBackWithItsIndex() external {
        _addAccount(aliceId, alice2);
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountAdded(aliceId, alice, 0);
        _addAccount(aliceId, alice);
        assertEq(registry.issuerOf(aliceId).accountCount, 2, "accountCount");
        _issue(alice, HASH, 0);
        assertEq(_record(HASH).accountIndex, 0, "record's account");
        vm.prank(admin);
        registry.retireAccount(alice2);
        _addAccount(aliceId, alice2);
        assertEq(registry.accountOf(alice2).accountIndex, 1, "the second account's index");
    }
}

contract RetireAccountTest is Base {
    function _retire(address caller, address account) private {
        vm.prank(caller);
        registry.retireAccount(account);
    }

    function test_RevertGiven_CallerIsAnother() external {
        vm.expectRevert(_roleMissing(bob, bytes32(0)));
        _retire(bob, alice);
    }

    function test_RevertGiven_CallerIsOfTheSameIssuer() external {
        _addAccount(aliceId, alice2);
        vm.expectRevert(_roleMissing(alice2, bytes32(0)));
        _retire(alice2, alice);
    }

    function test_RevertGiven_AccountIsUnknown() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, stranger));
        _retire(admin, stranger);
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(admin, alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _retire(admin, alice);
    }

    function test_OldDocumentsStayValid() external {
        _addAccount(aliceId, alice2);
        _issue(alice2, HASH, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountRetired(aliceId, alice2, 1);
        vm.expectEmit(address(registry));
        emit RoleRevoked(ISSUER_ROLE, alice2, admin);
        _retire(admin, alice2);

        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        assertEq(registry.verificationOf(HASH).account, alice2, "account");
        IDocumentRegistry.Account memory held = registry.accountOf(alice2);
        assertEq(held.issuerId, aliceId, "issuerId");
        assertEq(held.accountIndex, 1, "accountIndex");
        assertTrue(!held.active, "active");
        assertTrue(!registry.hasRole(ISSUER_ROLE, alice2), "hasRole");
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "the other account");
    }

    function test_AnAccountMayRetireItself() external {
        vm.expectEmit(address(registry));
        emit RoleRevoked(ISSUER_ROLE, alice, alice);
        _retire(alice, alice);
        assertTrue(!registry.accountOf(alice).active, "active");
    }
}

contract WithdrawIssuerTest is Base {
    function _withdraw(address caller, uint32 issuerId) private {
        vm.prank(caller);
        registry.withdrawIssuer(issuerId);
    }

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        _withdraw(alice, aliceId);
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownIssuer.selector, issuerId));
        _withdraw(admin, issuerId);
    }

    function test_RetiresEveryActiveAccount() external {
        _addAccount(aliceId, alice2);
        _addAccount(aliceId, address(0xA3));
        _issue(alice, HASH, 0);
        vm.prank(alice2);
        registry.retireAccount(alice2);

        vm.recordLogs();
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountRetired(aliceId, alice, 0);
        vm.expectEmit(address(registry));
        emit RoleRevoked(ISSUER_ROLE, alice, admin);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountRetired(aliceId, address(0xA3), 2);
        vm.expectEmit(address(registry));
        emit RoleRevoked(ISSUER_ROLE, address(0xA3), admin);
        _withdraw(admin, aliceId);
        assertEq(_eventCount(), 4, "events");

        assertTrue(!registry.accountOf(alice).active, "first");
        assertTrue(!registry.accountOf(alice2).active, "second");
        assertTrue(!registry.accountOf(address(0xA3)).active, "third");
        assertTrue(registry.accountOf(bob).active, "another issuer's");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_IsANoOpGivenAllAreRetired() external {
        _withdraw(admin, aliceId);
        vm.recordLogs();
        _withdraw(admin, aliceId);
        assertEq(_eventCount(), 0, "events");
    }
}

contract DistrustFromTest is Base {
    function test_RevertGiven_CallerIsNotTheAdmin() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        vm.prank(alice);
        registry.distrustFrom(bob, 1);
    }

    function test_RevertGiven_AccountIsUnknown() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownAccount.selector, stranger));
        _distrust(stranger, 1);
    }

    function test_RevertWhen_BlockIsZero() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.DistrustBlockOutOfRange.selector, 0));
        _distrust(alice, 0);
    }

    function testFuzz_RevertWhen_BlockIsToCome(uint40 fromBlock) external {
        vm.assume(fromBlock > BLOCK);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.DistrustBlockOutOfRange.selector, fromBlock));
        _distrust(alice, fromBlock);
    }

    function testFuzz_RevertWhen_BlockIsNotLower(uint40 first, uint40 second) external {
        vm.assume(first != 0 && first <= second && second <= BLOCK);
        _distrust(alice, first);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.DistrustBlockOutOfRange.selector, second));
        _distrust(alice, second);
    }

    function test_OnlyWhatItIssuedFromThatBlockOn() external {
        bytes32[] memory hashes = _hashes(4);
        _addAccount(aliceId, alice2);
        _issue(alice, hashes[0], NOW + 1);
        vm.roll(BLOCK + 1);
        _issue(alice, hashes[1], NOW + 1);
        _issue(alice2, hashes[2], 0);
        _issue(alice, hashes[3], 0);
        vm.prank(alice);
        registry.revoke(hashes[3], 1);
        vm.roll(BLOCK + 2);

        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountRetired(aliceId, alice, 0);
        vm.expectEmit(address(registry));
        emit RoleRevoked(ISSUER_ROLE, alice, admin);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.AccountDistrusted(aliceId, alice, 0, BLOCK + 1);
        _distrust(alice, BLOCK + 1);

        assertStatus(hashes[0], IDocumentRegistry.Status.Valid);
        assertStatus(hashes[1], IDocumentRegistry.Status.Distrusted);
        assertStatus(hashes[2], IDocumentRegistry.Status.Valid);
        assertStatus(hashes[3], IDocumentRegistry.Status.Revoked);
        assertEq(registry.verificationOf(hashes[1]).distrustedFrom, BLOCK + 1, "distrustedFrom");
        assertEq(registry.verificationOf(hashes[1]).account, alice, "account");
        assertEq(registry.verificationOf(hashes[2]).distrustedFrom, 0, "the other account's");
        assertEq(registry.accountOf(alice).distrustedFrom, BLOCK + 1, "account's distrustedFrom");
        assertEq(registry.accountAt(aliceId, 0), alice, "accountAt");
        assertTrue(!registry.accountOf(alice).active, "active");
        assertTrue(registry.accountOf(alice2).active, "the other account");

        // Distrusted comes before Expired.
        vm.warp(NOW + 1);
        assertStatus(hashes[0], IDocumentRegistry.Status.Expired);
        assertStatus(hashes[1], IDocumentRegistry.Status.Distrusted);
    }

    function test_CanBeLowered() external {
        _issue(alice, HASH, 0);
        vm.roll(BLOCK + 9);
        _distrust(alice, BLOCK + 9);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        vm.recordLogs();
        _distrust(alice, BLOCK);
        assertEq(_eventCount(), 1, "retired once");
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
    }

    function test_OfASecondAccount() external {
        _addAccount(aliceId, alice2);
        _issue(alice, _hashes(2)[0], 0);
        _issue(alice2, _hashes(2)[1], 0);
        _distrust(alice2, 1);
        assertStatus(_hashes(2)[0], IDocumentRegistry.Status.Valid);
        assertStatus(_hashes(2)[1], IDocumentRegistry.Status.Distrusted);
        assertEq(registry.accountAt(aliceId, 1), alice2, "accountAt");
    }
}

contract RolesTest is Base {
    function test_TheTableIsTheIssuerRole() external view {
        assertEq(registry.ISSUER_ROLE(), ISSUER_ROLE, "ISSUER_ROLE");
        assertEq(registry.REVOKER_ROLE(), REVOKER_ROLE, "REVOKER_ROLE");
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "issuer");
        assertTrue(!registry.hasRole(ISSUER_ROLE, stranger), "stranger");
        assertTrue(!registry.hasRole(REVOKER_ROLE, alice), "issuer is no revoker");
        assertTrue(registry.hasRole(REVOKER_ROLE, revoker), "revoker");
        assertTrue(registry.hasRole(bytes32(0), admin), "admin");
    }

    function test_RevertWhen_AdminGrantsIssuerRole() external {
        vm.expectRevert(
            abi.encodeWithSelector(IDocumentRegistry.UseRegisterIssuerOrAddAccount.selector, stranger)
        );
        vm.prank(admin);
        registry.grantRole(ISSUER_ROLE, stranger);
    }

    function test_RevertWhen_AdminRevokesIssuerRole() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UseRetireAccount.selector, alice));
        vm.prank(admin);
        registry.revokeRole(ISSUER_ROLE, alice);
    }

    function test_RevertWhen_IssuerRenouncesIssuerRole() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UseRetireAccount.selector, alice));
        vm.prank(alice);
        registry.renounceRole(ISSUER_ROLE, alice);
    }

    function test_RevertWhen_NonAdminGrantsRevoker() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        vm.prank(alice);
        registry.grantRole(REVOKER_ROLE, alice);
    }

    function test_RevokerMayRenounce() external {
        vm.prank(revoker);
        registry.renounceRole(REVOKER_ROLE, revoker);
        assertTrue(!registry.hasRole(REVOKER_ROLE, revoker), "revoker");
    }

    function test_AdminChangesInTwoStepsAfterTheDelay() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(stranger);
        vm.warp(NOW + ADMIN_DELAY);
        vm.expectRevert(
            abi.encodeWithSignature("AccessControlEnforcedDefaultAdminDelay(uint48)", uint48(NOW) + ADMIN_DELAY)
        );
        vm.prank(stranger);
        registry.acceptDefaultAdminTransfer();

        vm.warp(NOW + ADMIN_DELAY + 1);
        vm.prank(stranger);
        registry.acceptDefaultAdminTransfer();
        assertEq(registry.defaultAdmin(), stranger, "defaultAdmin");
        assertTrue(!registry.hasRole(bytes32(0), admin), "the old admin");
        vm.expectRevert(_roleMissing(admin, bytes32(0)));
        vm.prank(admin);
        registry.retireAccount(alice);
    }

    function test_SupportsInterface() external view {
        assertTrue(registry.supportsInterface(0x01ffc9a7), "ERC-165");
        assertTrue(registry.supportsInterface(type(IDocumentRegistry).interfaceId), "IDocumentRegistry");
        assertTrue(registry.supportsInterface(0x84b0196e), "ERC-5267");
        assertTrue(registry.supportsInterface(0x7965db0b), "IAccessControl");
        assertTrue(registry.supportsInterface(0x31498786), "IAccessControlDefaultAdminRules");
        assertTrue(!registry.supportsInterface(0xffffffff), "nothing");
    }
}
