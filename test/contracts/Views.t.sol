// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    IAccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/IAccessControlDefaultAdminRules.sol";
import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract ViewsTest is Base {
    IDocumentRegistry.Account private nobody;

    function testFuzz_UnknownReadsAsNothing(
        bytes32 hash,
        uint32 issuerId,
        uint16 index,
        address account
    ) external view {
        vm.assume(issuerId == 0 || issuerId > bobId);
        assertStatus(registry.statusOf(issuerId, hash), IDocumentRegistry.Status.NotIssued);
        assertStatus(registry.statusOf(aliceId, hash), IDocumentRegistry.Status.NotIssued);
        IDocumentRegistry.Record memory none;
        assertEq(registry.recordOf(issuerId, hash), none, "record");
        assertEq(bytes(registry.issuerOf(issuerId).name).length, 0, "issuer");
        assertEq(registry.issuerOf(issuerId).accountCount, 0, "accountCount");
        assertEq(registry.accountOf(issuerId, account), nobody, "account");
        assertEq(registry.accountAt(issuerId, index), nobody, "account by index");
        assertEq(registry.batchOf(issuerId, hash).anchoredBlock, 0, "batch");
        assertEq(registry.proposalOf(issuerId).account, address(0), "proposal");
        IDocumentRegistry.Verification memory verification =
            registry.verificationOf(issuerId, hash);
        assertStatus(verification.status, IDocumentRegistry.Status.NotIssued);
        assertEq(verification.record, none, "verification's record");
        assertEq(verification.account, nobody, "verification's account");
        assertEq(verification.revoker, nobody, "verification's revoker");
        assertEq(bytes(verification.issuer.name).length, 0, "verification's issuer");
    }

    /// Whatever a proposal's slot holds: the end of its window is never beyond 40 bits.
    function testFuzz_ProposalOfNeverReverts(address account, uint40 acceptFrom) external {
        uint256 namespace = uint256(keccak256(abi.encode(aliceId, STORAGE_ROOT)));
        uint256 word = uint256(acceptFrom) << 160 | uint160(account);
        vm.store(address(registry), bytes32(namespace + 5), bytes32(word));
        IDocumentRegistry.Proposal memory proposal = registry.proposalOf(aliceId);
        assertEq(proposal.account, account, "account");
        assertEq(proposal.acceptFrom, acceptFrom, "acceptFrom");
        uint256 until = uint256(acceptFrom) + 30 days;
        if (until > type(uint40).max) until = type(uint40).max;
        assertEq(proposal.acceptUntil, acceptFrom == 0 ? 0 : until, "acceptUntil");
    }

    /// An account that another issuer has is not an account of this one, whatever its index.
    function test_AccountsOfAnotherIssuer() external view {
        assertEq(registry.accountOf(bobId, alice), nobody, "Alice's");
        assertEq(registry.accountOf(aliceId, stranger), nobody, "a stranger's");
        assertEq(registry.accountAt(aliceId, 2), nobody, "beyond the last");
        assertEq(registry.accountAt(aliceId, 0).account, aliceRoot, "the first");
        assertEq(registry.accountAt(bobId, 1).account, bob, "the second");
    }

    function test_RecordsOfKeepsTheOrder() external {
        bytes32[] memory hashes = _hashes(3);
        _issue(alice, aliceId, hashes[0], 7);
        _issue(bob, bobId, hashes[1], 8);
        _issue(alice, aliceId, hashes[2], 9);
        IDocumentRegistry.Record[] memory records = registry.recordsOf(aliceId, hashes);
        assertEq(records.length, 3, "length");
        assertEq(records[0], _record(hashes[0]), "first");
        assertEq(records[1].anchoredBlock, 0, "second");
        assertEq(records[2].validUntil, 9, "third");
        assertEq(registry.recordsOf(aliceId, new bytes32[](0)).length, 0, "empty");
    }

    function test_VerificationOfNamesItsBlock() external {
        vm.chainId(42);
        _pass(7);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(aliceId, HASH);
        assertEq(verification.chainId, 42, "chainId");
        assertEq(verification.blockNumber, BLOCK + 7, "blockNumber");
        assertEq(verification.blockTime, NOW + 84, "blockTime");
    }

    function test_VerificationOf() external {
        _issue(alice, aliceId, HASH, NOW + 1_000);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(aliceId, HASH);
        assertStatus(verification.status, IDocumentRegistry.Status.Valid);
        assertEq(verification.record, _record(HASH), "record");
        assertEq(verification.account, registry.accountOf(aliceId, alice), "account");
        assertEq(verification.account.addedBlock, BLOCK, "the account's addedBlock");
        assertEq(verification.revoker, nobody, "revoker");
        assertEq(
            keccak256(abi.encode(verification.issuer)),
            keccak256(abi.encode(registry.issuerOf(aliceId))),
            "issuer"
        );
        assertEq(verification.issuer.name, "Alice University", "name");
        assertEq(verification.issuer.uri, "https://alice.example", "uri");
        assertEq(verification.issuer.documentCount, 1, "documentCount");

        _add(aliceRoot, aliceId, carol, REVOKE);
        _revoke(carol, aliceId, HASH, 1);
        verification = registry.verificationOf(aliceId, HASH);
        assertEq(verification.account.account, alice, "account");
        assertEq(verification.revoker, registry.accountOf(aliceId, carol), "revoker");
    }

    /// Distinguishes a revoker with index 0 from no revoker.
    function test_TheRootRevokes() external {
        _issue(alice, aliceId, HASH, 0);
        _permit(aliceRoot, aliceId, aliceRoot, REVOKE | MANAGE);
        _revoke(aliceRoot, aliceId, HASH, 1);
        assertEq(registry.verificationOf(aliceId, HASH).revoker.account, aliceRoot, "revoker");
    }

    /// A slot with a revocation part alone is not issued, and nothing but the record is filled in.
    function test_VerificationOfADocumentRevokedInABatch() external {
        vm.prank(alice);
        registry.issueBatch(aliceId, OTHER, 1, 0);
        vm.prank(alice);
        registry.revokeInBatch(aliceId, OTHER, _list(HASH), 1);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(aliceId, HASH);
        assertStatus(verification.status, IDocumentRegistry.Status.NotIssued);
        assertEq(verification.record, _record(HASH), "record");
        assertEq(verification.account, nobody, "account");
        assertEq(verification.revoker, nobody, "revoker");
        assertEq(verification.issuer.accountCount, 0, "issuer");
    }

    function test_VerificationsOfAnyIssuers() external {
        _issue(alice, aliceId, HASH, 0);
        _issue(bob, bobId, HASH, NOW);
        IDocumentRegistry.DocumentKey[] memory keys = new IDocumentRegistry.DocumentKey[](4);
        keys[0] = IDocumentRegistry.DocumentKey(bobId, HASH);
        keys[1] = IDocumentRegistry.DocumentKey(aliceId, OTHER);
        keys[2] = IDocumentRegistry.DocumentKey(aliceId, HASH);
        keys[3] = IDocumentRegistry.DocumentKey(7, HASH);
        IDocumentRegistry.Verification[] memory verifications = registry.verificationsOf(keys);
        assertEq(verifications.length, 4, "length");
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(
                keccak256(abi.encode(verifications[i])),
                keccak256(
                    abi.encode(registry.verificationOf(keys[i].issuerId, keys[i].documentHash))
                ),
                "as one by one"
            );
        }
        assertStatus(verifications[0].status, IDocumentRegistry.Status.Expired);
        assertStatus(verifications[1].status, IDocumentRegistry.Status.NotIssued);
        assertStatus(verifications[2].status, IDocumentRegistry.Status.Valid);
        assertEq(
            registry.verificationsOf(new IDocumentRegistry.DocumentKey[](0)).length, 0, "empty"
        );
    }

    function test_SupportsInterface() external view {
        assertTrue(registry.supportsInterface(type(IDocumentRegistry).interfaceId), "registry");
        assertTrue(registry.supportsInterface(type(IAccessControl).interfaceId), "AccessControl");
        assertTrue(
            registry.supportsInterface(type(IAccessControlDefaultAdminRules).interfaceId), "rules"
        );
        assertTrue(registry.supportsInterface(type(IERC165).interfaceId), "ERC-165");
        assertTrue(!registry.supportsInterface(0xffffffff), "nothing");
    }
}
