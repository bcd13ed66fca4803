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

contract BlockNumbersTest is Base {
    address private constant ARB_SYS = address(100);

    function _registryWith(bytes memory code) private {
        vm.etch(ARB_SYS, code);
        registry = Registry(_deploy());
        vm.prank(admin);
        aliceId = registry.registerIssuer(alice, "Alice University", "");
    }

    function deploy() external returns (address) {
        return _deploy();
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
        _issue(alice, HASH, 0);
        assertEq(_record(HASH).anchoredBlock, 300_000_000, "anchoredBlock");
        assertEq(registry.verificationOf(HASH).blockNumber, 300_000_000, "blockNumber");
        vm.prank(alice);
        registry.revoke(HASH, 1);
        assertEq(_record(HASH).revokedBlock, 300_000_000, "revokedBlock");
        _distrust(alice, 300_000_000);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.DistrustBlockOutOfRange.selector, 300_000_001));
        _distrust(alice, 300_000_001);
    }

    function test_ElsewhereBlockNumber() external {
        _registryWith("");
        vm.etch(ARB_SYS, address(new ArbSys()).code);
        _issue(alice, HASH, 0);
        assertEq(_record(HASH).anchoredBlock, BLOCK, "anchoredBlock");
    }
}
