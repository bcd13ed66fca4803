// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IArbSys} from "../../contracts/IArbSys.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base, Registry} from "./Base.sol";
import {vm} from "./Vm.sol";

/// @dev Answers as Arbitrum's precompile does.
contract ArbSys is IArbSys {
    function arbBlockNumber() external pure returns (uint256) {
        return 300_000_000;
    }
}

contract SomethingElse {
    fallback() external {}
}

contract SomethingThatReverts {
    fallback() external {
        revert();
    }
}

/// @dev Nothing else created by it, so that the address of its registry can be computed.
contract Deployer is Base {
    function deploy(address admin_, uint48 delay) external returns (address) {
        return _deploy(admin_, delay);
    }
}

contract BlockNumbersTest is Base {
    address private constant ARB_SYS = address(100);
    uint40 private constant MAX = type(uint40).max;

    function _registryWith(bytes memory code) private {
        vm.etch(ARB_SYS, code);
        registry = Registry(_deploy(admin, DELAY));
        vm.prank(admin);
        registry.registerIssuer(aliceRoot, "Alice University", "");
        _add(aliceRoot, aliceId, alice, ISSUE | REVOKE);
    }

    function deploy() external returns (address) {
        return _deploy(admin, DELAY);
    }

    function deployWith(address admin_, uint48 delay) external returns (address) {
        return _deploy(admin_, delay);
    }

    function expectOutOfRange(uint256 number, uint256 time) private {
        vm.expectRevert(
            abi.encodeWithSelector(IDocumentRegistry.ClockOutOfRange.selector, number, time)
        );
    }

    function test_RevertGiven_SomethingElseIsThere() external {
        vm.etch(ARB_SYS, address(new SomethingElse()).code);
        vm.expectRevert(IDocumentRegistry.UnknownBlockNumbers.selector);
        this.deploy();
    }

    function test_RevertGiven_SomethingThatRevertsIsThere() external {
        vm.etch(ARB_SYS, address(new SomethingThatReverts()).code);
        vm.expectRevert(IDocumentRegistry.UnknownBlockNumbers.selector);
        this.deploy();
    }

    function test_OnArbitrumItsOwnBlocks() external {
        _registryWith(address(new ArbSys()).code);
        _issue(alice, aliceId, HASH, 0);
        assertEq(_record(HASH).anchoredBlock, 300_000_000, "anchoredBlock");
        assertEq(registry.verificationOf(aliceId, HASH).blockNumber, 300_000_000, "blockNumber");
        assertEq(registry.accountOf(aliceId, alice).addedBlock, 300_000_000, "addedBlock");
        _revoke(alice, aliceId, HASH, 1);
        assertEq(_record(HASH).revokedBlock, 300_000_000, "revokedBlock");
        expectError(IDocumentRegistry.DistrustBlockOutOfRange.selector, 300_000_001);
        _distrust(aliceRoot, aliceId, alice, 300_000_001);
        _distrust(aliceRoot, aliceId, alice, 300_000_000);
        assertStatus(HASH, IDocumentRegistry.Status.Distrusted);
    }

    function test_ElsewhereBlockNumber() external {
        _registryWith("");
        vm.etch(ARB_SYS, address(new ArbSys()).code);
        _issue(alice, aliceId, HASH, 0);
        assertEq(_record(HASH).anchoredBlock, BLOCK, "anchoredBlock");
    }

    // ---- 40 bits --------------------------------------------------------------------------------

    /// As on a chain whose clock counts milliseconds.
    function test_RevertGiven_TheClockCountsMilliseconds() external {
        uint256 time = uint256(NOW) * 1_000;
        vm.warp(time);
        expectOutOfRange(BLOCK, time);
        this.deploy();
    }

    function test_RevertGiven_BlockZero() external {
        vm.roll(0);
        expectOutOfRange(0, NOW);
        this.deploy();
    }

    function test_RevertGiven_TheTimeOutgrows() external {
        _issue(alice, aliceId, OTHER, 0);
        vm.warp(uint256(MAX) + 1);
        expectOutOfRange(BLOCK, uint256(MAX) + 1);
        _issue(alice, aliceId, HASH, 0);
        expectOutOfRange(BLOCK, uint256(MAX) + 1);
        _revoke(alice, aliceId, OTHER, 1);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_RevertGiven_TheBlockOutgrows() external {
        vm.roll(uint256(MAX) + 1);
        expectOutOfRange(uint256(MAX) + 1, NOW);
        _issue(alice, aliceId, HASH, 0);
        expectOutOfRange(uint256(MAX) + 1, NOW);
        _add(aliceRoot, aliceId, carol, ISSUE);
    }

    function test_TheLastBlockAndSecond() external {
        vm.roll(MAX);
        vm.warp(MAX);
        _issue(alice, aliceId, HASH, 0);
        _revoke(alice, aliceId, HASH, 10);
        IDocumentRegistry.Record memory expected =
            IDocumentRegistry.Record(1, MAX, MAX, 0, 1, MAX, MAX, 10, false);
        assertEq(_record(HASH), expected, "record");
    }

    // ---- the constructor's arguments ------------------------------------------------------------

    function expectDelay(uint48 delay) private {
        expectError(IDocumentRegistry.DelayOutOfRange.selector, delay);
        this.deployWith(admin, delay);
    }

    function test_RevertWhen_DelayIsOutOfRange() external {
        expectDelay(0);
        expectDelay(1 days - 1);
        expectDelay(365 days + 1);
        expectDelay(type(uint48).max);
    }

    function test_TheShortestAndTheLongestDelay() external {
        assertEq(Registry(_deploy(admin, 1 days)).proposalDelay(), 1 days, "shortest");
        assertEq(Registry(_deploy(admin, 365 days)).proposalDelay(), 365 days, "longest");
    }

    function test_RevertWhen_AdminIsZero() external {
        vm.expectRevert(
            abi.encodeWithSignature("AccessControlInvalidDefaultAdmin(address)", address(0))
        );
        this.deployWith(address(0), DELAY);
    }

    /// Its address follows from the deployer's, so that it can be known before. As the admin it
    /// would let anybody register issuers: with a request that anybody signs.
    function test_RevertWhen_AdminIsTheForwarder() external {
        Deployer deployer = new Deployer();
        address expected = _created(_created(address(deployer)));
        expectError(IDocumentRegistry.InvalidAccount.selector, uint160(expected));
        deployer.deploy(expected, DELAY);
        // The revert gave the nonce back, so the next one shows that the address was right.
        address deployed = deployer.deploy(admin, DELAY);
        assertEq(Registry(deployed).trustedForwarder(), expected, "forwarder");
    }

    /// The delay of proposals stays what it was at deployment, under a new admin too.
    function test_TheProposalDelayIsFixed() external {
        vm.prank(admin);
        registry.beginDefaultAdminTransfer(carol);
        vm.warp(NOW + 10 days);
        vm.prank(carol);
        registry.acceptDefaultAdminTransfer();
        assertEq(registry.proposalDelay(), DELAY, "delay");
        vm.prank(carol);
        registry.proposeAccount(aliceId, stranger);
        assertEq(
            registry.proposalOf(aliceId).acceptFrom, NOW + 10 days + DELAY, "acceptFrom"
        );
    }

    /// @dev The address of the first contract that an account creates with CREATE.
    function _created(address creator) private pure returns (address) {
        return address(
            uint160(uint256(keccak256(abi.encodePacked(hex"d694", creator, hex"01"))))
        );
    }
}
