// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

contract ViewsTest is Base {
    function testFuzz_UnknownReadsAsNothing(bytes32 hash, uint32 issuerId, uint16 index, address account) external view {
        vm.assume(issuerId == 0 || issuerId > bobId);
        vm.assume(account != alice && account != bob);
        assertStatus(hash, IDocumentRegistry.Status.NotIssued);
        assertEq(_record(hash).issuerId, 0, "record");
        assertEq(bytes(registry.issuerOf(issuerId).name).length, 0, "issuer");
        assertEq(registry.accountOf(account).issuerId, 0, "account");
        assertEq(registry.accountAt(issuerId, index), address(0), "accountAt");
        IDocumentRegistry.Verification memory verification = registry.verificationOf(hash);
        assertEq(uint8(verification.status), 0, "verification");
        assertEq(verification.account, address(0), "verification's account");
        assertEq(bytes(verification.issuerName).length, 0, "verification's issuer");
    }

    function test_RecordsOfKeepsTheOrder() external {
        bytes32[] memory hashes = _hashes(3);
        _issue(bob, hashes[0], 7);
        _issue(alice, hashes[2], 9);
        IDocumentRegistry.Record[] memory records = registry.recordsOf(hashes);
        assertEq(records.length, 3, "length");
        assertEq(records[0].issuerId, bobId, "first");
        assertEq(records[0].validUntil, 7, "first's expiry");
        assertEq(records[1].issuerId, 0, "second");
        assertEq(records[2].issuerId, aliceId, "third");
        assertEq(registry.recordsOf(new bytes32[](0)).length, 0, "empty");
    }

    function test_VerificationOfNamesItsBlock() external {
        vm.chainId(42);
        vm.roll(BLOCK + 7);
        vm.warp(NOW + 7);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(HASH);
        assertEq(verification.chainId, 42, "chainId");
        assertEq(verification.blockNumber, BLOCK + 7, "blockNumber");
        assertEq(verification.blockTime, NOW + 7, "blockTime");
    }

    function test_VerificationOf() external {
        _issue(bob, HASH, NOW + 1);
        IDocumentRegistry.Verification memory verification = registry.verificationOf(HASH);
        assertEq(uint8(verification.status), uint8(IDocumentRegistry.Status.Valid), "status");
        assertEq(keccak256(abi.encode(verification.record)), keccak256(abi.encode(_record(HASH))), "record");
        assertEq(verification.account, bob, "account");
        assertEq(verification.issuerName, "Bob Academy", "name");
        assertEq(verification.issuerUri, "https://bob.example", "uri");
    }
}
