// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Registry} from "./Base.sol";
import {WalkBase} from "./Invariants.t.sol";
import {Model} from "./Model.sol";
import {Vm, vm} from "./Vm.sol";

/// @dev Rebuilds the state from the registry's events and the blocks that they are in, and from
/// nothing else: what an indexer would do.
contract Indexer is Model {
    /// The document or batch whose final revocation the last event set aside; else 0.
    bytes32 private aside;

    constructor(Registry registry_, address[] memory everyone_) Model(registry_) {
        everyone = everyone_;
    }

    /// @param logs The logs of the current block.
    function read(Vm.Log[] calldata logs) external {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(registry)) _read(logs[i].topics, logs[i].data);
        }
    }

    function _read(bytes32[] calldata topics, bytes calldata data) private {
        bytes32 kind = topics[0];
        if (_readOfDocument(kind, topics, data) || _readOfBatch(kind, topics, data)) return;
        uint32 issuerId = uint32(uint256(topics[1]));
        if (_readOfIssuer(kind, issuerId, data)) return;
        address account = address(uint160(uint256(topics.length > 2 ? topics[2] : bytes32(0))));
        if (kind == IDocumentRegistry.AccountAdded.selector) {
            (uint16 index, uint8 permissions,) = abi.decode(data, (uint16, uint8, address));
            require(index == accountsOf[issuerId].length, "an index out of order");
            _addAccount(issuerId, account, permissions);
        } else if (kind == IDocumentRegistry.PermissionsChanged.selector) {
            (accounts[issuerId][account].permissions,) = abi.decode(data, (uint8, address));
            accounts[issuerId][account].changedBlock = uint40(block.number);
        } else if (kind == IDocumentRegistry.AccountRetired.selector) {
            _retireAccount(issuerId, account);
        } else if (kind == IDocumentRegistry.AccountDistrusted.selector) {
            (accounts[issuerId][account].distrustedFrom,) = abi.decode(data, (uint40, address));
        } else if (kind == IDocumentRegistry.AccountProposed.selector) {
            (uint40 from,) = abi.decode(data, (uint40, address));
            proposals[issuerId] = IDocumentRegistry.Proposal(account, from, from + 30 days);
        } else if (
            kind == IDocumentRegistry.ProposalAccepted.selector
                || kind == IDocumentRegistry.ProposalVetoed.selector
                || kind == IDocumentRegistry.ProposalWithdrawn.selector
        ) {
            require(proposals[issuerId].account == account, "another proposal");
            delete proposals[issuerId];
        } else {
            require(
                kind == keccak256("RoleGranted(bytes32,address,address)")
                    || kind == keccak256("RoleRevoked(bytes32,address,address)"),
                "an event that the indexer does not know"
            );
        }
    }

    function _readOfIssuer(bytes32 kind, uint32 issuerId, bytes calldata data)
        private
        returns (bool)
    {
        State storage state = states[issuerId];
        if (kind == IDocumentRegistry.IssuerRegistered.selector) {
            require(issuerId == ++issuerCount, "a number out of order");
            (state.name, state.uri,) = abi.decode(data, (string, string, address));
        } else if (kind == IDocumentRegistry.IssuerUpdated.selector) {
            (state.name, state.uri,) = abi.decode(data, (string, string, address));
        } else if (kind == IDocumentRegistry.IssuerClosed.selector) {
            state.closedBlock = uint40(block.number);
        } else if (kind == IDocumentRegistry.IssuerReopened.selector) {
            state.closedBlock = 0;
        } else {
            return false;
        }
        state.changedBlock = uint40(block.number);
        return true;
    }

    function _readOfDocument(bytes32 kind, bytes32[] calldata topics, bytes calldata data)
        private
        returns (bool)
    {
        if (kind == IDocumentRegistry.DocumentIssued.selector) {
            uint32 issuerId = uint32(uint256(topics[2]));
            (address account, uint40 validUntil) = abi.decode(data, (address, uint40));
            _anchor(documents[issuerId][topics[1]], issuerId, account, validUntil);
        } else if (
            kind == IDocumentRegistry.DocumentRevoked.selector
                || kind == IDocumentRegistry.DocumentInBatchRevoked.selector
        ) {
            (address account, uint8 reason) = abi.decode(data, (address, uint8));
            _reviseFromEvent(documents, topics, account, reason);
        } else if (
            kind == IDocumentRegistry.DocumentReleased.selector
                || kind == IDocumentRegistry.DocumentInBatchReleased.selector
        ) {
            _reviseFromEvent(documents, topics, abi.decode(data, (address)), 8);
        } else if (kind == IDocumentRegistry.RevocationSetAside.selector) {
            aside = topics[1];
        } else {
            return kind == IDocumentRegistry.DocumentSuperseded.selector
                || kind == IDocumentRegistry.IssueSkipped.selector;
        }
        return true;
    }

    function _readOfBatch(bytes32 kind, bytes32[] calldata topics, bytes calldata data)
        private
        returns (bool)
    {
        if (kind == IDocumentRegistry.BatchIssued.selector) {
            uint32 issuerId = uint32(uint256(topics[2]));
            (address account, uint40 size,) = abi.decode(data, (address, uint40, bytes32));
            _anchor(batches[issuerId][topics[1]], issuerId, account, size);
        } else if (kind == IDocumentRegistry.BatchRevoked.selector) {
            (address account, uint8 reason) = abi.decode(data, (address, uint8));
            _reviseFromEvent(batches, topics, account, reason);
        } else if (kind == IDocumentRegistry.BatchReleased.selector) {
            _reviseFromEvent(batches, topics, abi.decode(data, (address)), 8);
        } else {
            return false;
        }
        return true;
    }

    function _reviseFromEvent(
        mapping(uint32 => mapping(bytes32 => IDocumentRegistry.Record)) storage kept,
        bytes32[] calldata topics,
        address account,
        uint8 reason
    ) private {
        uint32 issuerId = uint32(uint256(topics[2]));
        IDocumentRegistry.Record storage record = kept[issuerId][topics[1]];
        if (aside != 0) {
            require(aside == topics[1], "set aside, and nothing stands in its place");
            record.setAside = true;
            aside = 0;
        }
        _revise(record, issuerId, account, reason);
    }
}

contract RebuildTest is WalkBase {
    /// @dev Everything happens in the test, so that the first event is recorded too.
    function setUp() public override {}

    function testFuzz_TheEventsSuffice(uint256 seed) external {
        vm.recordLogs();
        super.setUp();
        _startHandler();
        address[] memory everyone = new address[](43);
        for (uint256 i = 0; i < 43; ++i) {
            everyone[i] = handler.accountOf(i);
        }
        Indexer indexer = new Indexer(registry, everyone);
        indexer.read(vm.getRecordedLogs());
        for (uint256 i = 0; i < 150; ++i) {
            handler.step(uint256(keccak256(abi.encode(seed, i))));
            Vm.Log[] memory logs = vm.getRecordedLogs();
            if (handler.wentThrough()) indexer.read(logs);
        }
        indexer.checkDocuments();
        indexer.checkBatches();
        indexer.checkIssuers();
    }
}
