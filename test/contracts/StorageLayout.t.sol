// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

/// @dev Storage proofs rely on these positions: they are part of the interface. Each is computed
/// here from the ERC-7201 formula and the mapping rule alone, with no help from the contract.
contract StorageLayoutTest is Base {
    function _load(uint256 slot) private view returns (uint256) {
        return uint256(vm.load(address(registry), bytes32(slot)));
    }

    function _at(uint256 key, uint256 slot) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(key, slot)));
    }

    /// @dev Where all that belongs to an issuer begins.
    function _issuer(uint32 issuerId) private pure returns (uint256) {
        return _at(issuerId, STORAGE_ROOT);
    }

    function test_RootIsTheErc7201Position() external pure {
        uint256 root = uint256(
            keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1))
        ) & ~uint256(0xff);
        assertEq(root, STORAGE_ROOT, "root");
    }

    function testFuzz_Record(uint40 validUntil) external {
        _issue(alice, aliceId, HASH, validUntil);
        uint256 slot = _at(uint256(HASH), _issuer(aliceId) + 1);
        uint256 anchoring =
            1 | uint256(BLOCK) << 16 | uint256(NOW) << 56 | uint256(validUntil) << 96;
        assertEq(_load(slot), anchoring, "issued");

        _pass(5);
        _add(aliceRoot, aliceId, carol, REVOKE);
        _revoke(carol, aliceId, HASH, 9);
        uint256 revocation =
            uint256(2) << 136 | uint256(BLOCK + 5) << 152 | uint256(NOW + 60) << 192;
        assertEq(_load(slot), anchoring | revocation | uint256(9) << 232, "revoked");

        _distrust(aliceRoot, aliceId, carol, 1);
        _permit(aliceRoot, aliceId, aliceRoot, REVOKE | MANAGE);
        _release(aliceRoot, aliceId, HASH);
        revocation = uint256(BLOCK + 5) << 152 | uint256(NOW + 60) << 192 | uint256(8) << 232;
        assertEq(_load(slot), anchoring | revocation | 1 << 240, "set aside");

        _distrust(aliceRoot, aliceId, alice, 1);
        _add(aliceRoot, aliceId, bob, ISSUE);
        _issue(bob, aliceId, HASH, 77);
        anchoring = 3 | uint256(BLOCK + 5) << 16 | uint256(NOW + 60) << 56 | uint256(77) << 96;
        assertEq(_load(slot), anchoring | revocation | 1 << 240, "issued again");
    }

    function testFuzz_Batch(bytes32 root, uint40 size) external {
        vm.assume(root != 0 && size != 0);
        vm.prank(alice);
        registry.issueBatch(aliceId, root, size, 0);
        uint256 slot = _at(uint256(root), _issuer(aliceId) + 2);
        uint256 anchoring = 1 | uint256(BLOCK) << 16 | uint256(NOW) << 56 | uint256(size) << 96;
        assertEq(_load(slot), anchoring, "issued");

        _pass(5);
        uint256 revocation = uint256(1) << 136 | uint256(BLOCK + 5) << 152
            | uint256(NOW + 60) << 192 | uint256(6) << 232;
        vm.prank(alice);
        registry.revokeInBatch(aliceId, root, _list(HASH), 6);
        assertEq(_load(_at(uint256(HASH), _issuer(aliceId) + 1)), revocation, "document");
        vm.prank(alice);
        registry.revokeBatch(aliceId, root, 6);
        assertEq(_load(slot), anchoring | revocation, "suspended");
    }

    function test_Account() external {
        uint256 byAddress = _at(uint160(alice), _issuer(aliceId) + 3);
        uint256 byIndex = _at(1, _issuer(aliceId) + 4);
        uint256 added = 1 | uint256(BLOCK) << 24;
        assertEq(_load(byAddress), added | uint256(ISSUE | REVOKE | DELEGATE) << 16, "added");
        assertEq(_load(byIndex), uint160(alice), "added, by index");
        uint256 root = uint256(MANAGE) << 16 | uint256(BLOCK) << 24;
        assertEq(_load(_at(uint160(aliceRoot), _issuer(aliceId) + 3)), root, "root");
        assertEq(_load(_at(0, _issuer(aliceId) + 4)), uint160(aliceRoot), "root, by index");

        _pass(5);
        _permit(aliceRoot, aliceId, alice, REVOKE);
        uint256 changed = added | uint256(BLOCK + 5) << 64;
        assertEq(_load(byAddress), changed | uint256(REVOKE) << 16, "changed");
        _pass(5);
        _distrust(aliceRoot, aliceId, alice, BLOCK + 1);
        assertEq(_load(byAddress), changed | uint256(BLOCK + 10) << 104, "retired");
        assertEq(_load(byIndex), uint160(alice) | uint256(BLOCK + 1) << 160, "distrusted");
    }

    function test_State() external {
        uint256 state = _issuer(aliceId);
        uint256 accounts = uint256(2) << 80;
        assertEq(_load(state), accounts | uint256(BLOCK) << 96, "registered");
        _issueMany(alice, aliceId, _hashes(3), 0);
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        uint256 counts = 3 | uint256(1) << 40 | accounts;
        assertEq(_load(state), counts | uint256(BLOCK) << 96, "issued");
        _pass(5);
        _close(aliceId);
        assertEq(
            _load(state), counts | uint256(BLOCK + 5) << 96 | uint256(BLOCK + 5) << 136, "closed"
        );
        _pass(1);
        vm.prank(admin);
        registry.reopenIssuer(aliceId);
        assertEq(_load(state), counts | uint256(BLOCK + 6) << 96, "reopened");
    }

    function test_Proposal() external {
        vm.prank(admin);
        registry.proposeAccount(aliceId, carol);
        uint256 expected = uint160(carol) | uint256(NOW + DELAY) << 160;
        assertEq(_load(_issuer(aliceId) + 5), expected, "proposed");
        vm.prank(aliceRoot);
        registry.vetoProposal(aliceId);
        assertEq(_load(_issuer(aliceId) + 5), 0, "vetoed");
    }

    function test_Texts() external {
        uint256 issuer = _issuer(aliceId);
        assertEq(
            bytes32(_load(issuer + 6)), bytes32("Alice University") | bytes32(uint256(32)), "name"
        );
        assertEq(
            bytes32(_load(issuer + 7)),
            bytes32("https://alice.example") | bytes32(uint256(42)),
            "uri"
        );
        // 32 bytes and more stand elsewhere.
        string memory long = "A name that is longer than a slot, as some are";
        vm.prank(admin);
        registry.updateIssuer(aliceId, long, "");
        assertEq(_load(issuer + 6), bytes(long).length * 2 + 1, "length of a long name");
        uint256 text = uint256(keccak256(abi.encode(issuer + 6)));
        assertEq(bytes32(_load(text)), bytes32(bytes(long)), "the first 32 bytes");
        assertEq(bytes32(_load(text + 1)), bytes32("t, as some are"), "the rest");
        assertEq(_load(issuer + 7), 0, "no uri");
    }

    function test_WhatBelongsToNoIssuer() external {
        assertEq(_load(STORAGE_ROOT + 1), 2, "issuerCount");
        assertEq(_load(_at(uint160(alice), STORAGE_ROOT + 2)), 1, "issuingFor");
        _add(bobRoot, bobId, alice, ISSUE);
        assertEq(_load(_at(uint160(alice), STORAGE_ROOT + 2)), 2, "issuingFor two");
        assertEq(_load(_at(uint160(aliceRoot), STORAGE_ROOT + 2)), 0, "issuingFor none");
    }
}
