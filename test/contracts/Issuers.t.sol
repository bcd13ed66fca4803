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

    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
}

contract RolesTest is Base {
    function test_TheTableIsTheIssuerRole() external view {
        assertTrue(registry.hasRole(ISSUER_ROLE, alice), "issuer");
        assertTrue(!registry.hasRole(ISSUER_ROLE, stranger), "stranger");
        assertTrue(!registry.hasRole(REVOKER_ROLE, alice), "issuer is no revoker");
        assertTrue(registry.hasRole(REVOKER_ROLE, revoker), "revoker");
        assertTrue(registry.hasRole(bytes32(0), admin), "admin");
    }

    function test_RevertWhen_NonAdminGrantsRevoker() external {
        vm.expectRevert(_roleMissing(alice, bytes32(0)));
        vm.prank(alice);
        registry.grantRole(REVOKER_ROLE, alice);
    }
}
