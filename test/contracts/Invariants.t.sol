// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base, Registry} from "./Base.sol";
import {Handler} from "./Handler.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev In this file, because the fuzzer finds no other.
contract Walker is Handler {
    constructor(Registry registry_, address admin_, address[] memory accounts_)
        Handler(registry_, admin_, accounts_)
    {}
}

abstract contract WalkBase is Base {
    Handler internal handler;

    function _startHandler() internal {
        _permit(aliceRoot, aliceId, aliceRoot, REVOKE | MANAGE | DELEGATE);
        _permit(bobRoot, bobId, bobRoot, REVOKE | MANAGE | DELEGATE);
        address[] memory accounts = new address[](40);
        accounts[0] = aliceRoot;
        accounts[1] = alice;
        accounts[2] = bobRoot;
        accounts[3] = bob;
        for (uint160 i = 4; i < 40; ++i) {
            accounts[i] = address(0xD00 + i);
        }
        handler = new Walker(registry, admin, accounts);
    }
}

/// @dev The numbers are those of test/contracts/README.md.
contract InvariantsTest is WalkBase {
    function setUp() public override {
        super.setUp();
        _startHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// 1, 2, 5, 6 and 12, of single documents.
    function invariant_DocumentsAreAsTheModel() external view {
        handler.checkDocuments();
    }

    /// 1, 2, 5, 6, 7 and 12, of batches.
    function invariant_BatchesAreAsTheModel() external view {
        handler.checkBatches();
    }

    /// 8, 9, 10 and 11.
    function invariant_IssuersAreAsTheModel() external view {
        handler.checkIssuers();
    }

    /// 3 and 4.
    function invariant_AFinalRevocationHolds() external view {
        for (uint32 issuerId = 1; issuerId <= 2; ++issuerId) {
            for (uint256 i = 0; i < handler.DOCUMENTS(); ++i) {
                bytes32 hash = handler.document(i);
                IDocumentRegistry.Record memory record = registry.recordOf(issuerId, hash);
                if (!handler.everFinal(issuerId, hash) || record.setAside) continue;
                assertNeverValid(registry.statusOf(issuerId, hash));
                for (uint256 t = i < 2 ? 0 : i - 1; t < handler.TREES(); ++t) {
                    bytes32[] memory nodes = handler.treeOf(t);
                    assertNeverValid(_statusInBatch(issuerId, nodes, i));
                }
            }
            for (uint256 t = 0; t < handler.TREES(); ++t) {
                bytes32[] memory nodes = handler.treeOf(t);
                bool setAside = registry.batchOf(issuerId, nodes[0]).setAside;
                if (!handler.everFinal(issuerId, nodes[0]) || setAside) continue;
                for (uint256 i = 0; i < t + 2; ++i) {
                    assertNeverValid(_statusInBatch(issuerId, nodes, i));
                }
            }
        }
    }

    /// 11: neither forwarder nor registry is ever an account, and the admin stays who it is.
    function invariant_ImpossibleAccounts() external view {
        for (uint32 issuerId = 0; issuerId <= 3; ++issuerId) {
            assertEq(registry.accountOf(issuerId, forwarder).addedBlock, 0, "forwarder");
            assertEq(registry.accountOf(issuerId, address(registry)).addedBlock, 0, "registry");
        }
        assertEq(registry.defaultAdmin(), admin, "admin");
    }

    function _statusInBatch(uint32 issuerId, bytes32[] memory nodes, uint256 index)
        private
        view
        returns (IDocumentRegistry.Status)
    {
        return registry.statusInBatch(
            issuerId, nodes[0], handler.document(index), 0, Merkle.proof(nodes, index)
        );
    }

    function assertNeverValid(IDocumentRegistry.Status status) private pure {
        assertTrue(
            status == IDocumentRegistry.Status.NotIssued
                || status == IDocumentRegistry.Status.Revoked
                || status == IDocumentRegistry.Status.Superseded
                || status == IDocumentRegistry.Status.Distrusted,
            "a finally revoked document reads as something better"
        );
    }
}

/// @dev The invariants would say little if the walk never got anywhere.
contract WalkTest is WalkBase {
    bytes32[] private kinds = [
        bytes32("issue"),
        "issue again",
        "issue again in a list",
        "forwarded",
        "revoke",
        "suspend",
        "release",
        "set aside",
        "supersede",
        "supersede in a batch",
        "issue a batch",
        "issue a batch again",
        "revoke a batch",
        "release a batch",
        "revise in a batch",
        "add an account",
        "set permissions",
        "retire",
        "retire itself",
        "distrust",
        "a thief's release",
        "a thief's release in a batch",
        "released again",
        "final after a theft",
        "what a thief set aside",
        "close",
        "reopen",
        "propose",
        "withdraw",
        "accept",
        "veto"
    ];
    mapping(uint256 => uint256) private counts;

    function test_TheWalkReachesEverything() external {
        for (uint256 run = 0; run < 30; ++run) {
            super.setUp();
            _startHandler();
            for (uint256 i = 0; i < 400; ++i) {
                handler.step(uint256(keccak256(abi.encode(run, i))));
            }
            handler.checkDocuments();
            handler.checkBatches();
            handler.checkIssuers();
            _count();
        }
        for (uint256 i = 0; i < kinds.length; ++i) {
            assertTrue(counts[i] != 0, string.concat("never reached: ", _text(kinds[i])));
        }
    }

    function _count() private {
        for (uint256 i = 0; i < kinds.length; ++i) {
            counts[i] += handler.reached(kinds[i]);
        }
    }

    function _text(bytes32 kind) private pure returns (string memory) {
        return string(abi.encodePacked(kind));
    }
}
