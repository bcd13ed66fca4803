// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

/// @dev Storage proofs rely on these positions: they are part of the interface. Each is computed here from the ERC-7201
/// formula and the mapping rule alone, with no help from the contract.
contract StorageLayoutTest is Base {
    function _load(uint256 slot) private view returns (uint256) {
        return uint256(vm.load(address(registry), bytes32(slot)));
    }

    function _at(uint256 key, uint256 slot) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(key, slot)));
    }

    function test_RootIsTheErc7201Position() external pure {
        uint256 root = uint256(keccak256(abi.encode(uint256(keccak256("document-registry.storage")) - 1))) & ~uint256(0xff);
        assertEq(root, STORAGE_ROOT, "root");
    }

    function testFuzz_RecordIsOneSlot(uint40 validUntil) external {
        _issue(bob, HASH, validUntil);
        uint256 expected =
            uint256(bobId) | uint256(BLOCK) << 48 | uint256(NOW) << 88 | uint256(validUntil) << 128;
        assertEq(_load(_at(uint256(HASH), STORAGE_ROOT)), expected, "issued");

        vm.roll(BLOCK + 5);
        vm.warp(NOW + 60);
        vm.prank(bob);
        registry.revoke(HASH, 9);
        expected |= uint256(BLOCK + 5) << 168 | uint256(NOW + 60) << 208 | uint256(9) << 248;
        assertEq(_load(_at(uint256(HASH), STORAGE_ROOT)), expected, "revoked");
    }

    function test_IssuerTable() external view {
        assertEq(_load(_at(uint160(bob), STORAGE_ROOT + 1)), uint256(bobId) | 1 << 48, "account");
        assertEq(_load(_at(0, _at(bobId, STORAGE_ROOT + 2))), uint160(bob), "accountsOf");
        uint256 issuer = _at(bobId, STORAGE_ROOT + 3);
        assertEq(bytes32(_load(issuer)), bytes32("Bob Academy") | bytes32(uint256(11 * 2)), "name");
        assertEq(bytes32(_load(issuer + 1)), bytes32("https://bob.example") | bytes32(uint256(19 * 2)), "uri");
        assertEq(_load(issuer + 2), 1, "accountCount");
        assertEq(_load(STORAGE_ROOT + 4), 2, "issuerCount");
    }

    function test_Distrust() external {
        _addAccount(bobId, address(0xB1));
        _distrust(address(0xB1), BLOCK);
        assertEq(_load(_at(uint160(address(0xB1)), STORAGE_ROOT + 1)), uint256(bobId) | 1 << 32, "account");
        assertEq(_load(_at(1, _at(bobId, STORAGE_ROOT + 2))), 0xB1 | uint256(BLOCK) << 160, "accountsOf");
    }

    function testFuzz_BatchIsOneSlot(bytes32 root, uint40 size) external {
        vm.assume(root != 0 && size != 0);
        vm.prank(bob);
        registry.issueBatch(root, size, 0);
        uint256 slot = _at(uint256(root), _at(bobId, STORAGE_ROOT + 5));
        uint256 expected = uint256(bobId) | uint256(BLOCK) << 48 | uint256(NOW) << 88 | uint256(size) << 128;
        assertEq(_load(slot), expected, "issued");

        vm.roll(BLOCK + 5);
        vm.warp(NOW + 60);
        uint256 revocation = uint256(BLOCK + 5) << 168 | uint256(NOW + 60) << 208 | uint256(9) << 248;
        vm.prank(bob);
        registry.revokeInBatch(bobId, root, _hashes(1), 9);
        assertEq(_load(_at(uint256(_hashes(1)[0]), _at(bobId, STORAGE_ROOT + 6))), revocation, "revocation");
        vm.prank(bob);
        registry.revokeBatch(bobId, root, 9);
        assertEq(_load(slot), expected | revocation, "revoked");
    }

    function testFuzz_NonceIsOneBit(uint256 nonce) external {
        vm.prank(bob);
        registry.cancelNonce(nonce);
        assertEq(_load(_at(nonce / 256, _at(uint160(bob), STORAGE_ROOT + 7))), 2 ** (nonce % 256), "word");
    }
}
