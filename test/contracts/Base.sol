// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    IAccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/IAccessControlDefaultAdminRules.sol";
import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Vm, vm} from "./Vm.sol";

/// @dev All of the registry, by interfaces alone: tests do not compile the contract again, they deploy its artifact.
interface Registry is IDocumentRegistry, IAccessControlDefaultAdminRules, IERC5267, IERC165 {}

/// @dev A fresh registry with two issuers, at block 1,000 and second 1,700,000,000.
abstract contract Base {
    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
    event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender);

    uint48 internal constant ADMIN_DELAY = 2 days;
    uint40 internal constant BLOCK = 1_000;
    uint40 internal constant NOW = 1_700_000_000;
    bytes32 internal constant HASH = keccak256("a sealed document");
    /// The ERC-7201 position of `document-registry.storage`, as a literal: a test computes it by the formula.
    uint256 internal constant STORAGE_ROOT = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200;
    bytes32 internal constant ISSUER_ROLE = keccak256("ISSUER_ROLE");
    bytes32 internal constant REVOKER_ROLE = keccak256("REVOKER_ROLE");

    uint256 internal constant ALICE_KEY = 0xA11CE;

    address internal admin = address(0xAD);
    address internal alice = vm.addr(ALICE_KEY);
    address internal alice2 = address(0xA2);
    address internal bob = address(0xB0B);
    address internal revoker = address(0xDE1);
    address internal stranger = address(0x57);
    uint32 internal aliceId;
    uint32 internal bobId;

    Registry internal registry;

    function setUp() public virtual {
        vm.roll(BLOCK);
        vm.warp(NOW);
        registry = Registry(_deploy());
        vm.prank(admin);
        aliceId = registry.registerIssuer(alice, "Alice University", "https://alice.example");
        vm.prank(admin);
        bobId = registry.registerIssuer(bob, "Bob Academy", "https://bob.example");
        vm.prank(admin);
        registry.grantRole(REVOKER_ROLE, revoker);
    }

    function _deploy() internal returns (address deployed) {
        bytes memory initCode =
            bytes.concat(vm.getCode("DocumentRegistry.sol:DocumentRegistry"), abi.encode(admin, ADMIN_DELAY));
        assembly ("memory-safe") {
            deployed := create(0, add(initCode, 0x20), mload(initCode))
        }
        if (deployed == address(0)) {
            assembly ("memory-safe") {
                let memory_ := mload(0x40)
                returndatacopy(memory_, 0, returndatasize())
                revert(memory_, returndatasize())
            }
        }
    }

    function _addAccount(uint32 issuerId, address account) internal {
        vm.prank(admin);
        registry.addAccount(issuerId, account);
    }

    function _distrust(address account, uint40 fromBlock) internal {
        vm.prank(admin);
        registry.distrustFrom(account, fromBlock);
    }

    function _issue(address account, bytes32 documentHash, uint40 validUntil) internal {
        vm.prank(account);
        registry.issue(documentHash, validUntil);
    }

    function _issueMany(address account, bytes32[] memory documentHashes, uint40 validUntil) internal {
        uint40[] memory validUntils = new uint40[](documentHashes.length);
        for (uint256 i = 0; i < validUntils.length; ++i) {
            validUntils[i] = validUntil;
        }
        vm.prank(account);
        registry.issueMany(documentHashes, validUntils);
    }

    function _hashes(uint256 count) internal pure returns (bytes32[] memory hashes) {
        hashes = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            hashes[i] = keccak256(abi.encode("document", i));
        }
    }

    function _record(bytes32 documentHash) internal view returns (IDocumentRegistry.Record memory) {
        return registry.recordOf(documentHash);
    }

    /// @dev How many events the registry emitted since `vm.recordLogs()`; `emit` in a test is recorded too.
    function _eventCount() internal returns (uint256 count) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(registry)) ++count;
        }
    }

    function _roleMissing(address account, bytes32 role) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("AccessControlUnauthorizedAccount(address,bytes32)", account, role);
    }

    function _isReason(uint8 reason) internal pure returns (bool) {
        return reason <= 5 || reason == 9 || reason == 10;
    }

    function assertStatus(bytes32 documentHash, IDocumentRegistry.Status expected) internal view {
        assertEq(uint8(registry.statusOf(documentHash)), uint8(expected), "status");
    }

    function assertTrue(bool condition, string memory what) internal pure {
        require(condition, what);
    }

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        require(actual == expected, string.concat(what, ": ", _decimal(actual), " is not ", _decimal(expected)));
    }

    function assertEq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        assertEq(uint256(actual), uint256(expected), what);
    }

    function assertEq(address actual, address expected, string memory what) internal pure {
        assertEq(uint160(actual), uint160(expected), what);
    }

    function assertEq(string memory actual, string memory expected, string memory what) internal pure {
        require(
            keccak256(bytes(actual)) == keccak256(bytes(expected)),
            string.concat(what, ": ", actual, " is not ", expected)
        );
    }

    function _decimal(uint256 value) private pure returns (string memory) {
        if (value < 10) return string(abi.encodePacked(bytes1(uint8(48 + value))));
        return string.concat(_decimal(value / 10), _decimal(value % 10));
    }
}
