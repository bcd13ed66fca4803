// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    IAccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/IAccessControlDefaultAdminRules.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Vm, vm} from "./Vm.sol";

/// @dev All of the registry, by interfaces alone: tests do not compile the contract again, they
/// deploy its artifact.
interface Registry is IDocumentRegistry, IAccessControlDefaultAdminRules, IERC165 {
    function isTrustedForwarder(address forwarder) external view returns (bool);
}

/// @dev A fresh registry with two issuers, at block 1,000 and second 1,700,000,000. Each issuer has
/// a root (MANAGE, index 0) and a key (ISSUE and REVOKE, index 1); Alice's key may be forwarded
/// too.
abstract contract Base {
    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
    event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender);

    uint8 internal constant ISSUE = 1;
    uint8 internal constant REVOKE = 2;
    uint8 internal constant MANAGE = 4;
    uint8 internal constant DELEGATE = 8;

    uint48 internal constant DELAY = 2 days;
    uint40 internal constant BLOCK = 1_000;
    uint40 internal constant NOW = 1_700_000_000;
    bytes32 internal constant HASH = keccak256("a sealed document");
    bytes32 internal constant OTHER = keccak256("another sealed document");
    /// The ERC-7201 position of `document-registry.storage`, as a literal: a test computes it.
    uint256 internal constant STORAGE_ROOT =
        0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200;
    bytes32 internal constant ISSUER_ROLE = keccak256("ISSUER_ROLE");
    bytes32 internal constant ADMIN_ROLE = 0;

    uint256 internal constant ALICE_KEY = 0xA11CE;

    address internal admin = address(0xAD);
    address internal aliceRoot = address(0xA0);
    address internal alice = vm.addr(ALICE_KEY);
    address internal bobRoot = address(0xB0);
    address internal bob = address(0xB0B);
    address internal carol = address(0xCA401);
    address internal stranger = address(0x57);
    uint32 internal aliceId;
    uint32 internal bobId;

    Registry internal registry;
    address internal forwarder;

    function setUp() public virtual {
        vm.roll(BLOCK);
        vm.warp(NOW);
        registry = Registry(_deploy(admin, DELAY));
        forwarder = registry.trustedForwarder();
        vm.prank(admin);
        aliceId = registry.registerIssuer(aliceRoot, "Alice University", "https://alice.example");
        vm.prank(admin);
        bobId = registry.registerIssuer(bobRoot, "Bob Academy", "https://bob.example");
        _add(aliceRoot, aliceId, alice, ISSUE | REVOKE | DELEGATE);
        _add(bobRoot, bobId, bob, ISSUE | REVOKE);
    }

    function _deploy(address admin_, uint48 delay) internal returns (address deployed) {
        bytes memory initCode = bytes.concat(
            vm.getCode("DocumentRegistry.sol:DocumentRegistry"), abi.encode(admin_, delay)
        );
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

    function _add(address by, uint32 issuerId, address account, uint8 permissions) internal {
        vm.prank(by);
        registry.addAccount(issuerId, account, permissions);
    }

    function _permit(address by, uint32 issuerId, address account, uint8 permissions) internal {
        vm.prank(by);
        registry.setPermissions(issuerId, account, permissions);
    }

    function _retire(address by, uint32 issuerId, address account) internal {
        vm.prank(by);
        registry.retireAccount(issuerId, account);
    }

    function _distrust(address by, uint32 issuerId, address account, uint40 fromBlock) internal {
        vm.prank(by);
        registry.distrustFrom(issuerId, account, fromBlock);
    }

    function _close(uint32 issuerId) internal {
        vm.prank(admin);
        registry.closeIssuer(issuerId);
    }

    function _issue(address account, uint32 issuerId, bytes32 documentHash, uint40 validUntil)
        internal
    {
        vm.prank(account);
        registry.issue(issuerId, documentHash, validUntil);
    }

    function _issueMany(
        address account,
        uint32 issuerId,
        bytes32[] memory documentHashes,
        uint40 validUntil
    ) internal {
        uint40[] memory validUntils = new uint40[](documentHashes.length);
        for (uint256 i = 0; i < validUntils.length; ++i) {
            validUntils[i] = validUntil;
        }
        vm.prank(account);
        registry.issueMany(issuerId, documentHashes, validUntils);
    }

    function _revoke(address account, uint32 issuerId, bytes32 documentHash, uint8 reason)
        internal
    {
        vm.prank(account);
        registry.revoke(issuerId, documentHash, reason);
    }

    function _release(address account, uint32 issuerId, bytes32 documentHash) internal {
        vm.prank(account);
        registry.release(issuerId, documentHash);
    }

    /// @dev Some blocks of 12 seconds later.
    function _pass(uint256 blocks) internal {
        vm.roll(block.number + blocks);
        vm.warp(block.timestamp + 12 * blocks);
    }

    function _hashes(uint256 count) internal pure returns (bytes32[] memory hashes) {
        hashes = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            hashes[i] = keccak256(abi.encode("document", i));
        }
    }

    function _list(bytes32 documentHash) internal pure returns (bytes32[] memory list) {
        list = new bytes32[](1);
        list[0] = documentHash;
    }

    function _record(bytes32 documentHash) internal view returns (IDocumentRegistry.Record memory) {
        return registry.recordOf(aliceId, documentHash);
    }

    function _documentCount(uint32 issuerId) internal view returns (uint256) {
        return registry.issuerOf(issuerId).documentCount;
    }

    /// @dev How many events the registry emitted since `vm.recordLogs()`; `emit` in a test is
    /// recorded too.
    function _eventCount() internal returns (uint256 count) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(registry)) ++count;
        }
    }

    function _isFinal(uint8 reason) internal pure returns (bool) {
        return reason <= 5 || reason == 9 || reason == 10;
    }

    /// @dev A reason that is final, from any number.
    function _finalReason(uint256 seed) internal pure returns (uint8) {
        uint8[8] memory reasons = [0, 1, 2, 3, 4, 5, 9, 10];
        return reasons[seed % 8];
    }

    // ---- what reverts say -----------------------------------------------------------------------

    function expectAdminMissing(address account) internal {
        vm.expectRevert(
            abi.encodeWithSignature(
                "AccessControlUnauthorizedAccount(address,bytes32)", account, ADMIN_ROLE
            )
        );
    }

    function expectMissing(uint32 issuerId, address account, uint8 missing) internal {
        vm.expectRevert(
            abi.encodeWithSelector(
                IDocumentRegistry.MissingPermissions.selector, issuerId, account, missing
            )
        );
    }

    /// @dev For the errors of the form `error(issuerId, key)` and `error(issuerId, account)`.
    function expectError(bytes4 selector, uint32 issuerId, bytes32 key) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, issuerId, key));
    }

    function expectError(bytes4 selector, uint32 issuerId, address account) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, issuerId, account));
    }

    function expectError(bytes4 selector, uint256 value) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, value));
    }

    function expectEmit() internal {
        vm.expectEmit(address(registry));
    }

    // ---- assertions -----------------------------------------------------------------------------

    function assertStatus(bytes32 documentHash, IDocumentRegistry.Status expected) internal view {
        assertStatus(registry.statusOf(aliceId, documentHash), expected);
        assertStatus(registry.verificationOf(aliceId, documentHash).status, expected);
    }

    function assertStatus(IDocumentRegistry.Status actual, IDocumentRegistry.Status expected)
        internal
        pure
    {
        assertEq(uint8(actual), uint8(expected), "status");
    }

    function assertTrue(bool condition, string memory what) internal pure {
        require(condition, what);
    }

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        require(
            actual == expected,
            string.concat(what, ": ", _decimal(actual), " is not ", _decimal(expected))
        );
    }

    function assertEq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        assertEq(uint256(actual), uint256(expected), what);
    }

    function assertEq(address actual, address expected, string memory what) internal pure {
        assertEq(uint160(actual), uint160(expected), what);
    }

    function assertEq(string memory actual, string memory expected, string memory what)
        internal
        pure
    {
        require(
            keccak256(bytes(actual)) == keccak256(bytes(expected)),
            string.concat(what, ": ", actual, " is not ", expected)
        );
    }

    function assertEq(
        IDocumentRegistry.Record memory actual,
        IDocumentRegistry.Record memory expected,
        string memory what
    ) internal pure {
        assertEq(actual.accountIndex, expected.accountIndex, _of(what, "accountIndex"));
        assertEq(actual.anchoredBlock, expected.anchoredBlock, _of(what, "anchoredBlock"));
        assertEq(actual.anchoredAt, expected.anchoredAt, _of(what, "anchoredAt"));
        assertEq(actual.validUntil, expected.validUntil, _of(what, "validUntil"));
        assertEq(actual.revokerIndex, expected.revokerIndex, _of(what, "revokerIndex"));
        assertEq(actual.revokedBlock, expected.revokedBlock, _of(what, "revokedBlock"));
        assertEq(actual.revokedAt, expected.revokedAt, _of(what, "revokedAt"));
        assertEq(actual.reason, expected.reason, _of(what, "reason"));
        assertTrue(actual.setAside == expected.setAside, _of(what, "setAside"));
    }

    function assertEq(
        IDocumentRegistry.Account memory actual,
        IDocumentRegistry.Account memory expected,
        string memory what
    ) internal pure {
        assertEq(actual.account, expected.account, _of(what, "account"));
        assertEq(actual.accountIndex, expected.accountIndex, _of(what, "accountIndex"));
        assertEq(actual.permissions, expected.permissions, _of(what, "permissions"));
        assertEq(actual.addedBlock, expected.addedBlock, _of(what, "addedBlock"));
        assertEq(actual.changedBlock, expected.changedBlock, _of(what, "changedBlock"));
        assertEq(actual.retiredBlock, expected.retiredBlock, _of(what, "retiredBlock"));
        assertEq(actual.distrustedFrom, expected.distrustedFrom, _of(what, "distrustedFrom"));
    }

    function _of(string memory what, string memory field) private pure returns (string memory) {
        return string.concat(what, ": ", field);
    }

    function _decimal(uint256 value) private pure returns (string memory) {
        if (value < 10) return string(abi.encodePacked(bytes1(uint8(48 + value))));
        return string.concat(_decimal(value / 10), _decimal(value % 10));
    }
}
