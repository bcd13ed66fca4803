// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base, Registry} from "./Base.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev Calls the registry as anyone might, allowed or not, and keeps its own account of what must be true. A call that goes
/// through though it must not fails the run at once.
contract Handler {
    uint256 public constant ACCOUNTS = 7;
    uint256 public constant DOCUMENTS = 10;
    uint256 public constant TREES = 3;

    struct Seen {
        IDocumentRegistry.Record record;
        bool exists;
    }

    struct Member {
        uint32 issuerId;
        uint16 index;
        bool active;
        uint40 distrustedFrom;
    }

    Registry public immutable registry;
    address public immutable admin;
    address public immutable revoker;

    /// The last two never belong to an issuer.
    address[7] public accounts;
    mapping(bytes32 documentHash => Seen) private seen;
    mapping(uint32 issuerId => mapping(bytes32 root => Seen)) private batches;
    mapping(uint32 issuerId => mapping(bytes32 documentHash => IDocumentRegistry.Revocation)) private revocations;
    mapping(address account => Member) private members;
    uint16[3] public accountCounts;

    constructor(Registry registry_, address admin_, address revoker_, address[7] memory accounts_) {
        registry = registry_;
        admin = admin_;
        revoker = revoker_;
        accounts = accounts_;
        members[accounts_[0]] = Member(1, 0, true, 0);
        members[accounts_[1]] = Member(2, 0, true, 0);
        accountCounts[1] = 1;
        accountCounts[2] = 1;
    }

    function recordSeen(bytes32 documentHash) external view returns (IDocumentRegistry.Record memory) {
        return seen[documentHash].record;
    }

    /// The size stands in `validUntil`.
    function batchSeen(uint32 issuerId, bytes32 root) external view returns (IDocumentRegistry.Record memory) {
        return batches[issuerId][root].record;
    }

    function revocationSeen(uint32 issuerId, bytes32 documentHash)
        external
        view
        returns (IDocumentRegistry.Revocation memory)
    {
        return revocations[issuerId][documentHash];
    }

    function member(address account) external view returns (Member memory) {
        return members[account];
    }

    function document(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("document", seed % DOCUMENTS));
    }

    /// Tree t holds the first t + 2 documents.
    function treeOf(uint256 seed) public pure returns (bytes32[] memory) {
        bytes32[] memory hashes = new bytes32[](seed % TREES + 2);
        for (uint256 i = 0; i < hashes.length; ++i) {
            hashes[i] = document(i);
        }
        return Merkle.tree(hashes, 0);
    }

    // ---- time -------------------------------------------------------------------------------------------------------

    function pass(uint8 blocks) external {
        vm.roll(block.number + blocks % 4);
        vm.warp(block.timestamp + 12 * (blocks % 4));
    }

    // ---- documents --------------------------------------------------------------------------------------------------

    function issue(uint256 by, uint256 which, uint8 lifetime) external {
        address account = accounts[by % ACCOUNTS];
        bytes32 hash = document(which);
        uint40 validUntil = lifetime < 128 ? 0 : uint40(block.timestamp + lifetime);
        bool allowed = members[account].active && !seen[hash].exists;
        vm.prank(account);
        try registry.issue(hash, validUntil) {
            _mustBe(allowed);
            _see(account, hash, validUntil);
        } catch {
            _mustBe(!allowed);
        }
    }

    function issueMany(uint256 by, uint256 which, uint8 count) external {
        address account = accounts[by % ACCOUNTS];
        bytes32[] memory hashes = new bytes32[](count % 4);
        for (uint256 i = 0; i < hashes.length; ++i) {
            hashes[i] = document(uint256(keccak256(abi.encode(which, i))));
        }
        bool allowed = members[account].active && hashes.length != 0;
        vm.prank(account);
        try registry.issueMany(hashes, new uint40[](hashes.length)) {
            _mustBe(allowed);
            for (uint256 i = 0; i < hashes.length; ++i) {
                if (!seen[hashes[i]].exists) _see(account, hashes[i], 0);
            }
        } catch {
            _mustBe(!allowed);
        }
    }

    function revoke(uint256 by, uint256 which, uint8 reason) external {
        address account = _anyone(by);
        bytes32 hash = document(which);
        IDocumentRegistry.Record storage record = seen[hash].record;
        bool allowed = _isReason(reason) && seen[hash].exists && _mayRevoke(account, record.issuerId)
            && record.revokedBlock == 0;
        vm.prank(account);
        try registry.revoke(hash, reason) {
            _mustBe(allowed);
            _seeRevoked(record, reason);
        } catch {
            _mustBe(!allowed);
        }
    }

    function revokeMany(uint256 by, uint256 which, uint8 reason) external {
        address account = _anyone(by);
        bytes32[] memory hashes = new bytes32[](2);
        hashes[0] = document(which);
        hashes[1] = document(which / 2);
        bool allowed = _isReason(reason);
        for (uint256 i = 0; i < 2; ++i) {
            allowed = allowed && seen[hashes[i]].exists && _mayRevoke(account, seen[hashes[i]].record.issuerId);
        }
        vm.prank(account);
        try registry.revokeMany(hashes, reason) {
            _mustBe(allowed);
            for (uint256 i = 0; i < 2; ++i) {
                IDocumentRegistry.Record storage record = seen[hashes[i]].record;
                if (record.revokedBlock == 0) _seeRevoked(record, reason);
            }
        } catch {
            _mustBe(!allowed);
        }
    }

    function supersede(uint256 by, uint256 which, uint256 successor) external {
        address account = _anyone(by);
        bytes32 hash = document(which);
        bytes32 next = document(successor);
        IDocumentRegistry.Record storage record = seen[hash].record;
        bool allowed = members[account].active && seen[hash].exists && record.issuerId == members[account].issuerId
            && record.revokedBlock == 0 && !seen[next].exists;
        vm.prank(account);
        try registry.supersede(hash, next, 0) {
            _mustBe(allowed);
            _seeRevoked(record, 4);
            _see(account, next, 0);
        } catch {
            _mustBe(!allowed);
        }
    }

    // ---- batches ----------------------------------------------------------------------------------------------------

    function issueBatch(uint256 by, uint256 which) external {
        address account = accounts[by % ACCOUNTS];
        bytes32 root = treeOf(which)[0];
        Seen storage batch = batches[members[account].issuerId][root];
        bool allowed = members[account].active && !batch.exists;
        vm.prank(account);
        try registry.issueBatch(root, uint40(which % TREES + 2), 0) {
            _mustBe(allowed);
            batch.exists = true;
            batch.record = _anchored(account, uint40(which % TREES + 2));
        } catch {
            _mustBe(!allowed);
        }
    }

    function revokeBatch(uint256 by, uint32 issuerId, uint256 which, uint8 reason) external {
        address account = _anyone(by);
        bytes32 root = treeOf(which)[0];
        issuerId %= 3;
        Seen storage batch = batches[issuerId][root];
        bool allowed = _isReason(reason) && batch.exists && _mayRevoke(account, issuerId)
            && batch.record.revokedBlock == 0;
        vm.prank(account);
        try registry.revokeBatch(issuerId, root, reason) {
            _mustBe(allowed);
            _seeRevoked(batch.record, reason);
        } catch {
            _mustBe(!allowed);
        }
    }

    function revokeInBatch(uint256 by, uint32 issuerId, uint256 which, uint256 tree, uint8 reason) external {
        address account = _anyone(by);
        bytes32 root = treeOf(tree)[0];
        issuerId %= 3;
        bytes32[] memory hashes = new bytes32[](1);
        hashes[0] = document(which);
        bool allowed = _isReason(reason) && batches[issuerId][root].exists && _mayRevoke(account, issuerId);
        vm.prank(account);
        try registry.revokeInBatch(issuerId, root, hashes, reason) {
            _mustBe(allowed);
            IDocumentRegistry.Revocation storage revocation = revocations[issuerId][hashes[0]];
            if (revocation.revokedBlock == 0) {
                revocation.revokedBlock = uint40(block.number);
                revocation.revokedAt = uint40(block.timestamp);
                revocation.reason = reason;
            }
        } catch {
            _mustBe(!allowed);
        }
    }

    // ---- issuers ----------------------------------------------------------------------------------------------------

    function addAccount(uint256 by, uint256 which, uint32 issuerId) external {
        address caller = _adminOr(by);
        // The last two accounts stay outside.
        address account = accounts[which % (ACCOUNTS - 2)];
        issuerId %= 4;
        Member storage held = members[account];
        bool allowed = caller == admin && (issuerId == 1 || issuerId == 2)
            && (held.issuerId == 0 || (held.issuerId == issuerId && !held.active && held.distrustedFrom == 0));
        vm.prank(caller);
        try registry.addAccount(issuerId, account) {
            _mustBe(allowed);
            if (held.issuerId == 0) {
                held.issuerId = issuerId;
                held.index = accountCounts[issuerId]++;
            }
            held.active = true;
        } catch {
            _mustBe(!allowed);
        }
    }

    function retireAccount(uint256 by, uint256 which) external {
        address caller = _adminOr(by);
        address account = accounts[which % ACCOUNTS];
        bool allowed = (caller == admin || caller == account) && members[account].active;
        vm.prank(caller);
        try registry.retireAccount(account) {
            _mustBe(allowed);
            members[account].active = false;
        } catch {
            _mustBe(!allowed);
        }
    }

    function withdrawIssuer(uint256 by, uint32 issuerId) external {
        address caller = _adminOr(by);
        // Seldom, or nothing is ever issued.
        if (by % 4 != 0) return;
        issuerId %= 3;
        bool allowed = caller == admin && issuerId != 0;
        vm.prank(caller);
        try registry.withdrawIssuer(issuerId) {
            _mustBe(allowed);
            for (uint256 i = 0; i < ACCOUNTS; ++i) {
                if (members[accounts[i]].issuerId == issuerId) members[accounts[i]].active = false;
            }
        } catch {
            _mustBe(!allowed);
        }
    }

    function distrustFrom(uint256 by, uint256 which, uint8 ago) external {
        address caller = _adminOr(by);
        address account = accounts[which % ACCOUNTS];
        uint40 fromBlock = uint40(block.number + 2 - ago % 8);
        Member storage held = members[account];
        bool allowed = caller == admin && held.issuerId != 0 && fromBlock <= block.number
            && (held.distrustedFrom == 0 || fromBlock < held.distrustedFrom);
        vm.prank(caller);
        try registry.distrustFrom(account, fromBlock) {
            _mustBe(allowed);
            held.active = false;
            held.distrustedFrom = fromBlock;
        } catch {
            _mustBe(!allowed);
        }
    }

    function takeRole(uint256 by, uint256 which, bool issuer) external {
        address caller = issuer ? _adminOr(by) : accounts[by % ACCOUNTS];
        bytes32 role = keccak256(bytes(issuer ? "ISSUER_ROLE" : "REVOKER_ROLE"));
        address account = accounts[which % ACCOUNTS];
        vm.prank(caller);
        try registry.grantRole(role, account) {
            _mustBe(false);
        } catch {}
        vm.prank(caller);
        try registry.revokeRole(role, account) {
            _mustBe(false);
        } catch {}
    }

    // ---- internal ---------------------------------------------------------------------------------------------------

    function _mustBe(bool condition) private pure {
        require(condition, "a call went through that must not, or the other way round");
    }

    function _anyone(uint256 seed) private view returns (address) {
        return seed % (ACCOUNTS + 1) == ACCOUNTS ? revoker : accounts[seed % (ACCOUNTS + 1)];
    }

    function _adminOr(uint256 seed) private view returns (address) {
        return seed % 2 == 0 ? admin : accounts[seed / 2 % ACCOUNTS];
    }

    function _mayRevoke(address account, uint32 issuerId) private view returns (bool) {
        return account == revoker || (members[account].active && members[account].issuerId == issuerId);
    }

    function _isReason(uint8 reason) private pure returns (bool) {
        return reason <= 5 || reason == 9 || reason == 10;
    }

    function _see(address account, bytes32 hash, uint40 validUntil) private {
        seen[hash].exists = true;
        seen[hash].record = _anchored(account, validUntil);
    }

    function _seeRevoked(IDocumentRegistry.Record storage record, uint8 reason) private {
        record.revokedBlock = uint40(block.number);
        record.revokedAt = uint40(block.timestamp);
        record.reason = reason;
    }

    function _anchored(address account, uint40 validUntil) private view returns (IDocumentRegistry.Record memory record) {
        record.issuerId = members[account].issuerId;
        record.accountIndex = members[account].index;
        record.anchoredBlock = uint40(block.number);
        record.anchoredAt = uint40(block.timestamp);
        record.validUntil = validUntil;
    }
}

contract InvariantsTest is Base {
    Handler private handler;

    function setUp() public override {
        super.setUp();
        handler = new Handler(
            registry, admin, revoker, [alice, bob, alice2, address(0xB2), address(0xA3), stranger, address(0x58)]
        );
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// 1 to 4, of single documents.
    function invariant_RecordsAreAsTheyWereWritten() external view {
        for (uint256 i = 0; i < handler.DOCUMENTS(); ++i) {
            bytes32 hash = handler.document(i);
            bytes32 expected = keccak256(abi.encode(handler.recordSeen(hash)));
            assertEq(keccak256(abi.encode(registry.recordOf(hash))), expected, "record");
        }
    }

    /// 1 to 4, of batches.
    function invariant_BatchesAreAsTheyWereWritten() external view {
        for (uint32 issuerId = 0; issuerId < 3; ++issuerId) {
            for (uint256 i = 0; i < handler.TREES(); ++i) {
                bytes32 root = handler.treeOf(i)[0];
                bytes32 expected = keccak256(abi.encode(handler.batchSeen(issuerId, root)));
                assertEq(keccak256(abi.encode(registry.batchOf(issuerId, root))), expected, "batch");
            }
            for (uint256 i = 0; i < handler.DOCUMENTS(); ++i) {
                bytes32 hash = handler.document(i);
                bytes32 expected = keccak256(abi.encode(handler.revocationSeen(issuerId, hash)));
                assertEq(keccak256(abi.encode(registry.revocationOf(issuerId, hash))), expected, "revocation");
            }
        }
    }

    /// 3 and 5, of single documents.
    function invariant_StatusFollowsFromTheRecord() external view {
        for (uint256 i = 0; i < handler.DOCUMENTS(); ++i) {
            bytes32 hash = handler.document(i);
            IDocumentRegistry.Status expected = _expected(handler.recordSeen(hash));
            assertStatus(hash, expected);
            assertEq(uint8(registry.verificationOf(hash).status), uint8(expected), "verification");
        }
    }

    /// 3, 5 and 7.
    function invariant_StatusInBatchFollowsFromTheTree() external view {
        for (uint256 t = 0; t < handler.TREES(); ++t) {
            bytes32[] memory nodes = handler.treeOf(t);
            for (uint32 issuerId = 0; issuerId < 3; ++issuerId) {
                for (uint256 i = 0; i < t + 2; ++i) {
                    _checkInBatch(issuerId, nodes, i);
                }
                // A document that is no leaf, by another's path.
                IDocumentRegistry.Status status = registry.statusInBatch(
                    issuerId, handler.document(t + 2), 0, nodes[0], Merkle.proof(nodes, t + 1)
                );
                assertEq(uint8(status), 0, "no leaf");
            }
        }
    }

    /// 6, 8 and 9.
    function invariant_TheTableIsAsTheAdminLeftIt() external view {
        for (uint256 i = 0; i < handler.ACCOUNTS(); ++i) {
            address account = handler.accounts(i);
            Handler.Member memory expected = handler.member(account);
            IDocumentRegistry.Account memory held = registry.accountOf(account);
            assertEq(held.issuerId, expected.issuerId, "issuerId");
            assertEq(held.accountIndex, expected.index, "accountIndex");
            assertTrue(held.active == expected.active, "active");
            assertEq(held.distrustedFrom, expected.distrustedFrom, "distrustedFrom");
            assertTrue(registry.hasRole(ISSUER_ROLE, account) == held.active, "hasRole");
            assertTrue(!(held.active && held.distrustedFrom != 0), "active and distrusted");
            if (held.issuerId != 0) {
                assertEq(registry.accountAt(held.issuerId, held.accountIndex), account, "accountAt");
            }
            assertTrue(!registry.hasRole(REVOKER_ROLE, account), "REVOKER");
        }
        assertTrue(registry.hasRole(REVOKER_ROLE, revoker), "the REVOKER");
        assertEq(registry.defaultAdmin(), admin, "admin");
        assertEq(registry.issuerCount(), 2, "issuerCount");
        assertEq(registry.issuerOf(1).accountCount, handler.accountCounts(1), "accountCount");
        assertEq(registry.issuerOf(2).accountCount, handler.accountCounts(2), "accountCount");
    }

    function _checkInBatch(uint32 issuerId, bytes32[] memory nodes, uint256 index) private view {
        bytes32 hash = handler.document(index);
        IDocumentRegistry.Record memory record = handler.batchSeen(issuerId, nodes[0]);
        IDocumentRegistry.Revocation memory own = handler.revocationSeen(issuerId, hash);
        record.validUntil = 0;
        if (own.revokedBlock != 0) {
            record.revokedBlock = own.revokedBlock;
            record.reason = own.reason;
        }
        IDocumentRegistry.Status status =
            registry.statusInBatch(issuerId, hash, 0, nodes[0], Merkle.proof(nodes, index));
        assertEq(uint8(status), uint8(_expected(record)), "status in batch");
    }

    function _expected(IDocumentRegistry.Record memory record) private view returns (IDocumentRegistry.Status) {
        if (record.issuerId == 0) return IDocumentRegistry.Status.NotIssued;
        if (record.revokedBlock != 0) {
            return record.reason == 4 ? IDocumentRegistry.Status.Superseded : IDocumentRegistry.Status.Revoked;
        }
        address account = registry.accountAt(record.issuerId, record.accountIndex);
        uint40 distrustedFrom = handler.member(account).distrustedFrom;
        if (distrustedFrom != 0 && distrustedFrom <= record.anchoredBlock) return IDocumentRegistry.Status.Distrusted;
        if (record.validUntil != 0 && record.validUntil <= block.timestamp) return IDocumentRegistry.Status.Expired;
        return IDocumentRegistry.Status.Valid;
    }
}
