// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The cheat codes these tests use; the runner answers them at the address of {vm}.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest)
        external
        pure
        returns (uint8 v, bytes32 r, bytes32 s);
    function assume(bool condition) external pure;
    function chainId(uint256 id) external;
    function deal(address account, uint256 balance) external;
    function etch(address target, bytes calldata code) external;
    function expectEmit(address emitter) external;
    function expectRevert(bytes calldata revertData) external;
    function expectRevert(bytes4 selector) external;
    function expectRevert() external;
    function getCode(string calldata artifact) external view returns (bytes memory);
    function getRecordedLogs() external returns (Log[] memory);
    function load(address target, bytes32 slot) external view returns (bytes32);
    function prank(address sender) external;
    function recordLogs() external;
    function revertToState(uint256 snapshot) external returns (bool);
    function roll(uint256 blockNumber) external;
    function snapshotState() external returns (uint256);
    function store(address target, bytes32 slot, bytes32 value) external;
    function warp(uint256 timestamp) external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
