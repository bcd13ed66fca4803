// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Registry} from "./Base.sol";
import {Merkle} from "./Merkle.sol";

/// @dev What the registry should hold, in plain structs, and the comparison with what it holds. Two
/// contracts fill it in: one from the calls that it makes, one from the registry's events alone.
abstract contract Model {
    uint32 public constant ISSUERS = 2;
    uint256 public constant DOCUMENTS = 6;
    uint256 public constant TREES = 2;
    uint8 internal constant ISSUE = 1;
    uint8 internal constant REVOKE = 2;
    uint8 internal constant MANAGE = 4;
    uint8 internal constant DELEGATE = 8;

    struct State {
        string name;
        string uri;
        uint40 changedBlock;
        uint40 closedBlock;
    }

    Registry public immutable registry;

    /// A batch is kept as a record, with its size in `validUntil`.
    mapping(uint32 issuerId => mapping(bytes32 => IDocumentRegistry.Record)) internal documents;
    mapping(uint32 issuerId => mapping(bytes32 => IDocumentRegistry.Record)) internal batches;
    mapping(uint32 issuerId => mapping(address => IDocumentRegistry.Account)) internal accounts;
    mapping(uint32 issuerId => address[]) internal accountsOf;
    mapping(uint32 issuerId => State) internal states;
    mapping(uint32 issuerId => IDocumentRegistry.Proposal) internal proposals;
    uint32 internal issuerCount;
    address[] internal everyone;

    constructor(Registry registry_) {
        registry = registry_;
    }

    /// @dev Everybody whose accounts are compared.
    function accountOf(uint256 index) external view returns (address) {
        return everyone[index];
    }

    // ---- the little world -----------------------------------------------------------------------

    function document(uint256 index) public pure returns (bytes32) {
        return keccak256(abi.encode("document", index));
    }

    /// @dev Tree t holds the first t + 2 documents, without expiry.
    function treeOf(uint256 index) public pure returns (bytes32[] memory) {
        bytes32[] memory hashes = new bytes32[](index + 2);
        for (uint256 i = 0; i < hashes.length; ++i) {
            hashes[i] = document(i);
        }
        return Merkle.tree(hashes, 0);
    }

    // ---- writing --------------------------------------------------------------------------------

    function _anchor(
        IDocumentRegistry.Record storage record,
        uint32 issuerId,
        address account,
        uint40 limit
    ) internal {
        record.accountIndex = accounts[issuerId][account].accountIndex;
        record.anchoredBlock = uint40(block.number);
        record.anchoredAt = uint40(block.timestamp);
        record.validUntil = limit;
    }

    function _revise(
        IDocumentRegistry.Record storage record,
        uint32 issuerId,
        address account,
        uint8 reason
    ) internal {
        record.revokerIndex = accounts[issuerId][account].accountIndex;
        record.revokedBlock = uint40(block.number);
        record.revokedAt = uint40(block.timestamp);
        record.reason = reason;
    }

    function _addAccount(uint32 issuerId, address account, uint8 permissions) internal {
        uint16 index = uint16(accountsOf[issuerId].length);
        accountsOf[issuerId].push(account);
        accounts[issuerId][account] = IDocumentRegistry.Account(
            account, index, permissions, uint40(block.number), 0, 0, 0
        );
    }

    function _retireAccount(uint32 issuerId, address account) internal {
        accounts[issuerId][account].permissions = 0;
        accounts[issuerId][account].retiredBlock = uint40(block.number);
    }

    // ---- the rules, in the words of the design --------------------------------------------------

    function _isFinal(IDocumentRegistry.Record memory record) internal pure returns (bool) {
        return record.revokedBlock != 0 && record.reason != 6 && record.reason != 8;
    }

    /// @dev Suspended; a release by an account that is distrusted from its block counts as such.
    function _isHold(uint32 issuerId, IDocumentRegistry.Record memory record)
        internal
        view
        returns (bool)
    {
        if (record.revokedBlock == 0) return false;
        return record.reason == 6 || _isThiefsRelease(issuerId, record);
    }

    function _isThiefsRelease(uint32 issuerId, IDocumentRegistry.Record memory record)
        internal
        view
        returns (bool)
    {
        return record.reason == 8
            && _isDistrusted(issuerId, record.revokerIndex, record.revokedBlock);
    }

    function _isDistrusted(uint32 issuerId, uint16 index, uint40 inBlock)
        internal
        view
        returns (bool)
    {
        uint40 from = accounts[issuerId][accountsOf[issuerId][index]].distrustedFrom;
        return from != 0 && inBlock >= from;
    }

    function _status(uint32 issuerId, IDocumentRegistry.Record memory record)
        internal
        view
        returns (IDocumentRegistry.Status)
    {
        if (record.anchoredBlock == 0) return IDocumentRegistry.Status.NotIssued;
        if (_isDistrusted(issuerId, record.accountIndex, record.anchoredBlock)) {
            return IDocumentRegistry.Status.Distrusted;
        }
        if (_isFinal(record) && record.reason == 4) return IDocumentRegistry.Status.Superseded;
        if (_isFinal(record)) return IDocumentRegistry.Status.Revoked;
        if (_isHold(issuerId, record)) return IDocumentRegistry.Status.Suspended;
        if (record.validUntil != 0 && record.validUntil <= block.timestamp) {
            return IDocumentRegistry.Status.Expired;
        }
        return IDocumentRegistry.Status.Valid;
    }

    /// @dev What a document of a batch should show; all zero without the batch.
    function _inBatch(
        uint32 issuerId,
        IDocumentRegistry.Record memory own,
        IDocumentRegistry.Record memory batch
    ) internal view returns (IDocumentRegistry.Record memory record) {
        if (batch.anchoredBlock == 0) return record;
        bool earlier = batch.revokedBlock < own.revokedBlock;
        bool ofBatch = _isHold(issuerId, batch);
        if (_isFinal(own) && _isFinal(batch)) ofBatch = earlier;
        else if (_isFinal(own) || _isFinal(batch)) ofBatch = _isFinal(batch);
        else if (_isHold(issuerId, own) && ofBatch) ofBatch = earlier;

        record.accountIndex = batch.accountIndex;
        record.anchoredBlock = batch.anchoredBlock;
        record.anchoredAt = batch.anchoredAt;
        IDocumentRegistry.Record memory chosen = ofBatch ? batch : own;
        record.revokerIndex = chosen.revokerIndex;
        record.revokedBlock = chosen.revokedBlock;
        record.revokedAt = chosen.revokedAt;
        record.reason = chosen.reason;
        record.setAside = own.setAside || batch.setAside;
    }

    // ---- comparing ------------------------------------------------------------------------------

    function checkDocuments() public view {
        for (uint32 issuerId = 1; issuerId <= ISSUERS; ++issuerId) {
            uint256 anchored = 0;
            for (uint256 i = 0; i < DOCUMENTS; ++i) {
                bytes32 hash = document(i);
                IDocumentRegistry.Record memory record = documents[issuerId][hash];
                if (record.anchoredBlock != 0) ++anchored;
                _same(
                    abi.encode(registry.recordOf(issuerId, hash)), abi.encode(record), "record"
                );
                _checkVerification(registry.verificationOf(issuerId, hash), issuerId, record);
                require(
                    registry.statusOf(issuerId, hash) == _status(issuerId, record), "status"
                );
            }
            require(registry.issuerOf(issuerId).documentCount == anchored, "documentCount");
        }
    }

    function checkBatches() public view {
        for (uint32 issuerId = 1; issuerId <= ISSUERS; ++issuerId) {
            uint256 anchored = 0;
            for (uint256 t = 0; t < TREES; ++t) {
                bytes32[] memory nodes = treeOf(t);
                IDocumentRegistry.Record memory batch = batches[issuerId][nodes[0]];
                if (batch.anchoredBlock != 0) ++anchored;
                _same(
                    abi.encode(registry.batchOf(issuerId, nodes[0])), abi.encode(batch), "batch"
                );
                for (uint256 i = 0; i < t + 2; ++i) {
                    _checkInBatch(issuerId, nodes, batch, i);
                }
                // A document that is not a leaf, with another's path.
                require(
                    registry.statusInBatch(
                        issuerId, nodes[0], document(t + 2), 0, Merkle.proof(nodes, t + 1)
                    ) == IDocumentRegistry.Status.NotIssued,
                    "not a leaf"
                );
            }
            require(registry.issuerOf(issuerId).batchCount == anchored, "batchCount");
        }
    }

    function checkIssuers() public view {
        require(registry.issuerCount() == issuerCount, "issuerCount");
        for (uint32 issuerId = 1; issuerId <= ISSUERS; ++issuerId) {
            IDocumentRegistry.Issuer memory issuer = registry.issuerOf(issuerId);
            State memory state = states[issuerId];
            _same(bytes(issuer.name), bytes(state.name), "name");
            _same(bytes(issuer.uri), bytes(state.uri), "uri");
            require(issuer.accountCount == accountsOf[issuerId].length, "accountCount");
            require(issuer.changedBlock == state.changedBlock, "changedBlock");
            require(issuer.closedBlock == state.closedBlock, "closedBlock");
            _same(
                abi.encode(registry.proposalOf(issuerId)),
                abi.encode(proposals[issuerId]),
                "proposal"
            );
            for (uint256 i = 0; i < everyone.length; ++i) {
                _same(
                    abi.encode(registry.accountOf(issuerId, everyone[i])),
                    abi.encode(accounts[issuerId][everyone[i]]),
                    "account"
                );
            }
            for (uint16 i = 0; i <= accountsOf[issuerId].length; ++i) {
                IDocumentRegistry.Account memory expected;
                if (i < accountsOf[issuerId].length) {
                    expected = accounts[issuerId][accountsOf[issuerId][i]];
                }
                _same(
                    abi.encode(registry.accountAt(issuerId, i)),
                    abi.encode(expected),
                    "account by index"
                );
            }
        }
        for (uint256 i = 0; i < everyone.length; ++i) {
            bool issues = accounts[1][everyone[i]].permissions & ISSUE != 0
                || accounts[2][everyone[i]].permissions & ISSUE != 0;
            require(registry.hasRole(keccak256("ISSUER_ROLE"), everyone[i]) == issues, "role");
        }
    }

    function _checkInBatch(
        uint32 issuerId,
        bytes32[] memory nodes,
        IDocumentRegistry.Record memory batch,
        uint256 index
    ) private view {
        bytes32 hash = document(index);
        bytes32[] memory proof = Merkle.proof(nodes, index);
        IDocumentRegistry.Record memory record =
            _inBatch(issuerId, documents[issuerId][hash], batch);
        _checkVerification(
            registry.verificationInBatch(issuerId, nodes[0], hash, 0, proof), issuerId, record
        );
        require(
            registry.statusInBatch(issuerId, nodes[0], hash, 0, proof)
                == _status(issuerId, record),
            "status in batch"
        );
    }

    function _checkVerification(
        IDocumentRegistry.Verification memory verification,
        uint32 issuerId,
        IDocumentRegistry.Record memory record
    ) private view {
        _same(abi.encode(verification.record), abi.encode(record), "verification's record");
        require(verification.status == _status(issuerId, record), "verification's status");
        IDocumentRegistry.Account memory account;
        IDocumentRegistry.Account memory revoker;
        if (record.anchoredBlock != 0) {
            account = accounts[issuerId][accountsOf[issuerId][record.accountIndex]];
            if (record.revokedBlock != 0) {
                revoker = accounts[issuerId][accountsOf[issuerId][record.revokerIndex]];
            }
            _same(
                abi.encode(verification.issuer),
                abi.encode(registry.issuerOf(issuerId)),
                "verification's issuer"
            );
        }
        _same(abi.encode(verification.account), abi.encode(account), "verification's account");
        _same(abi.encode(verification.revoker), abi.encode(revoker), "verification's revoker");
    }

    function _same(bytes memory actual, bytes memory expected, string memory what) private pure {
        require(keccak256(actual) == keccak256(expected), what);
    }
}
