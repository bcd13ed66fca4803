// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev A StandardMerkleTree over (bytes32 documentHash, uint40 validUntil), built like that of
/// OpenZeppelin's library: leaves at the end of an array that is a complete binary tree. It does
/// not sort the leaves, which does not matter for proofs.
library Merkle {
    function leaf(bytes32 documentHash, uint40 validUntil) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(documentHash, validUntil))));
    }

    function tree(bytes32[] memory documentHashes, uint40 validUntil)
        internal
        pure
        returns (bytes32[] memory nodes)
    {
        uint256 length = documentHashes.length;
        nodes = new bytes32[](2 * length - 1);
        for (uint256 i = 0; i < length; ++i) {
            nodes[nodes.length - 1 - i] = leaf(documentHashes[i], validUntil);
        }
        for (uint256 i = length - 1; i > 0; --i) {
            nodes[i - 1] = pair(nodes[2 * i - 1], nodes[2 * i]);
        }
    }

    function proof(bytes32[] memory nodes, uint256 index)
        internal
        pure
        returns (bytes32[] memory path)
    {
        uint256 node = nodes.length - 1 - index;
        uint256 depth = 0;
        for (uint256 i = node; i > 0; i = (i - 1) / 2) {
            ++depth;
        }
        path = new bytes32[](depth);
        for (uint256 i = 0; i < depth; ++i) {
            path[i] = nodes[node % 2 == 1 ? node + 1 : node - 1];
            node = (node - 1) / 2;
        }
    }

    function pair(bytes32 a, bytes32 b) internal pure returns (bytes32) {
        return a < b ? keccak256(bytes.concat(a, b)) : keccak256(bytes.concat(b, a));
    }
}
