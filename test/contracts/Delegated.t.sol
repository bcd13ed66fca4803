// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev Signs whatever its owner approved before.
contract Wallet is IERC1271 {
    mapping(bytes32 => bool) public approved;

    function approve(bytes32 digest) external {
        approved[digest] = true;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return approved[digest] && keccak256(signature) == keccak256("approved")
            ? IERC1271.isValidSignature.selector
            : bytes4(0);
    }
}

/// @dev Messages are hashed here by EIP-712's own rules, with no help from the contract.
abstract contract DelegatedBase is Base {
    uint256 internal constant NONCE = 0x1234;
    uint256 internal constant DEADLINE = NOW + 600;
    bytes32 internal constant MANIFEST = keccak256("a manifest");
    uint256 internal constant REVOKER_KEY = 0xDE1E;

    bytes32 internal root = Merkle.tree(_hashes(3), 0)[0];

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("DocumentRegistry"),
                keccak256("1"),
                block.chainid,
                address(registry)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function _issueDigest(address account, bytes32 hash, uint40 validUntil, uint256 nonce, uint256 deadline)
        internal
        view
        returns (bytes32)
    {
        bytes32 typeHash = keccak256(
            "Issue(address account,bytes32 documentHash,uint40 validUntil,uint256 nonce,uint256 deadline)"
        );
        return _digest(keccak256(abi.encode(typeHash, account, hash, validUntil, nonce, deadline)));
    }

    function _issueBatchDigest(address account, uint40 size) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(
            "IssueBatch(address account,bytes32 root,uint40 size,bytes32 manifest,uint256 nonce,uint256 deadline)"
        );
        return _digest(keccak256(abi.encode(typeHash, account, root, size, MANIFEST, NONCE, DEADLINE)));
    }

    function _revokeDigest(address account, uint8 reason) internal view returns (bytes32) {
        bytes32 typeHash =
            keccak256("Revoke(address account,bytes32 documentHash,uint8 reason,uint256 nonce,uint256 deadline)");
        return _digest(keccak256(abi.encode(typeHash, account, HASH, reason, NONCE, DEADLINE)));
    }

    function _revokeBatchDigest(address account, uint32 issuerId, uint8 reason) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(
            "RevokeBatch(address account,uint32 issuerId,bytes32 root,uint8 reason,uint256 nonce,uint256 deadline)"
        );
        return _digest(keccak256(abi.encode(typeHash, account, issuerId, root, reason, NONCE, DEADLINE)));
    }

    function _revokeInBatchDigest(address account, uint32 issuerId, uint8 reason) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(
            "RevokeInBatch(address account,uint32 issuerId,bytes32 root,bytes32 documentHash,uint8 reason,uint256 nonce,uint256 deadline)"
        );
        return _digest(keccak256(abi.encode(typeHash, account, issuerId, root, HASH, reason, NONCE, DEADLINE)));
    }

    function _signed(uint256 key, address account, bytes32 digest)
        internal
        pure
        returns (IDocumentRegistry.Authorization memory)
    {
        return _signed(key, account, digest, NONCE, DEADLINE);
    }

    function _signed(uint256 key, address account, bytes32 digest, uint256 nonce, uint256 deadline)
        internal
        pure
        returns (IDocumentRegistry.Authorization memory)
    {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return IDocumentRegistry.Authorization(account, nonce, deadline, abi.encodePacked(r, s, v));
    }

    /// @dev Passes for a repeat only: it has neither a signature nor time left.
    function _worthless(address account) internal pure returns (IDocumentRegistry.Authorization memory) {
        return IDocumentRegistry.Authorization(account, NONCE, 0, "");
    }

    function _aliceIssue() internal view returns (IDocumentRegistry.Authorization memory) {
        return _signed(ALICE_KEY, alice, _issueDigest(alice, HASH, 7, NONCE, DEADLINE));
    }

    function _issueFor(IDocumentRegistry.Authorization memory authorization) internal {
        vm.prank(stranger);
        registry.issueFor(HASH, 7, authorization);
    }
}

contract IssueForTest is DelegatedBase {
    function test_Domain() external view {
        (bytes1 fields, string memory name, string memory version, uint256 chain, address where,,) =
            registry.eip712Domain();
        assertEq(uint8(fields), 0x0f, "fields");
        assertEq(name, "DocumentRegistry", "name");
        assertEq(version, "1", "version");
        assertEq(chain, block.chainid, "chain");
        assertEq(where, address(registry), "registry");
    }

    function test_RevertWhen_AfterTheDeadline() external {
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.warp(DEADLINE + 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AuthorizationExpired.selector, DEADLINE));
        _issueFor(authorization);
    }

    function test_AtTheDeadline() external {
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.warp(DEADLINE);
        _issueFor(authorization);
        assertEq(_record(HASH).issuerId, aliceId, "issuerId");
    }

    function test_RevertGiven_NonceIsUsed() external {
        _issueFor(_aliceIssue());
        bytes32 other = keccak256("another document");
        IDocumentRegistry.Authorization memory authorization =
            _signed(ALICE_KEY, alice, _issueDigest(alice, other, 7, NONCE, DEADLINE));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NonceUsed.selector, alice, NONCE));
        registry.issueFor(other, 7, authorization);
    }

    function test_RevertGiven_NonceIsCancelled() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.NonceCancelled(alice, NONCE);
        vm.prank(alice);
        registry.cancelNonce(NONCE);
        assertTrue(registry.isNonceUsed(alice, NONCE), "used");

        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NonceUsed.selector, alice, NONCE));
        _issueFor(authorization);
    }

    function test_RevertWhen_NonceIsCancelledTwice() external {
        vm.prank(alice);
        registry.cancelNonce(NONCE);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NonceUsed.selector, alice, NONCE));
        vm.prank(alice);
        registry.cancelNonce(NONCE);
    }

    function test_AnothersCancelledNonceIsNothing() external {
        vm.prank(stranger);
        registry.cancelNonce(NONCE);
        _issueFor(_aliceIssue());
        assertEq(_record(HASH).issuerId, aliceId, "issuerId");
    }

    function test_RevertWhen_SignedByAnother() external {
        IDocumentRegistry.Authorization memory authorization =
            _signed(REVOKER_KEY, alice, _issueDigest(alice, HASH, 7, NONCE, DEADLINE));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _issueFor(authorization);
    }

    function test_RevertWhen_SignatureIsNone() external {
        IDocumentRegistry.Authorization memory authorization =
            IDocumentRegistry.Authorization(alice, NONCE, DEADLINE, "");
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _issueFor(authorization);
    }

    function test_RevertWhen_AnotherChain() external {
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.chainId(block.chainid + 1);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _issueFor(authorization);
    }

    function testFuzz_RevertWhen_AnyPartIsAnother(bytes32 hash, uint40 validUntil, uint256 nonce, uint256 deadline)
        external
    {
        vm.assume(hash != 0 && hash != HASH && validUntil != 7 && nonce != NONCE);
        vm.assume(deadline >= NOW && deadline != DEADLINE);
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueFor(hash, 7, authorization);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueFor(HASH, validUntil, authorization);
        authorization.nonce = nonce;
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueFor(HASH, 7, authorization);
        authorization.nonce = NONCE;
        authorization.deadline = deadline;
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueFor(HASH, 7, authorization);
    }

    function test_RevertGiven_SignerIsNoIssuer() external {
        address account = vm.addr(REVOKER_KEY);
        IDocumentRegistry.Authorization memory authorization =
            _signed(REVOKER_KEY, account, _issueDigest(account, HASH, 7, NONCE, DEADLINE));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, account));
        _issueFor(authorization);
    }

    function test_RevertGiven_SignerIsRetiredByNow() external {
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _issueFor(authorization);
    }

    function test_RevertGiven_AnotherIssuerHoldsTheHash() external {
        _issue(bob, HASH, 7);
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, bobId));
        _issueFor(authorization);
        assertTrue(!registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_RevertGiven_HeldWithAnotherExpiry() external {
        _issue(alice, HASH, 8);
        IDocumentRegistry.Authorization memory authorization = _aliceIssue();
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AlreadyIssued.selector, HASH, aliceId));
        _issueFor(authorization);
    }

    function test_RevertGiven_NeverIssuedAndSignerUnknown() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AuthorizationExpired.selector, 0));
        registry.issueFor(HASH, 0, _worthless(stranger));
    }

    function test_ARepeatIsANoOp() external {
        _issueFor(_aliceIssue());
        bytes32 record = keccak256(abi.encode(_record(HASH)));
        vm.roll(BLOCK + 1);
        vm.recordLogs();
        _issueFor(_aliceIssue());
        _issueFor(_worthless(alice));
        assertEq(_eventCount(), 0, "events");
        assertEq(keccak256(abi.encode(_record(HASH))), record, "record");
    }

    function test_ARepeatOfWhatAnotherAccountIssuedLeavesTheNonce() external {
        _addAccount(aliceId, alice2);
        _issue(alice2, HASH, 7);
        _issueFor(_aliceIssue());
        assertEq(_record(HASH).accountIndex, 1, "accountIndex");
        assertTrue(!registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_ARepeatOfARevokedOneStaysRevoked() external {
        _issueFor(_aliceIssue());
        vm.prank(alice);
        registry.revoke(HASH, 1);
        _issueFor(_aliceIssue());
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function testFuzz_IssueFor(bytes32 hash, uint40 validUntil, uint256 nonce, uint256 deadline, address sender) external {
        vm.assume(hash != 0 && deadline >= NOW);
        IDocumentRegistry.Authorization memory authorization =
            _signed(ALICE_KEY, alice, _issueDigest(alice, hash, validUntil, nonce, deadline), nonce, deadline);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentIssued(hash, aliceId, alice, validUntil);
        vm.prank(sender);
        registry.issueFor(hash, validUntil, authorization);

        assertEq(_record(hash).issuerId, aliceId, "issuerId");
        assertEq(_record(hash).validUntil, validUntil, "validUntil");
        assertTrue(registry.isNonceUsed(alice, nonce), "nonce");
        assertTrue(!registry.isNonceUsed(alice, nonce ^ 1), "the next nonce");
        assertTrue(!registry.isNonceUsed(alice, nonce ^ 256), "the next word");
        assertTrue(!registry.isNonceUsed(bob, nonce), "another's nonce");
    }

    function test_AContractSignsByEip1271() external {
        Wallet wallet = new Wallet();
        _addAccount(aliceId, address(wallet));
        bytes32 digest = _issueDigest(address(wallet), HASH, 7, NONCE, DEADLINE);
        IDocumentRegistry.Authorization memory authorization =
            IDocumentRegistry.Authorization(address(wallet), NONCE, DEADLINE, "approved");

        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, wallet));
        _issueFor(authorization);

        wallet.approve(digest);
        _issueFor(authorization);
        assertEq(registry.verificationOf(HASH).account, address(wallet), "account");
        assertEq(_record(HASH).issuerId, aliceId, "issuerId");
    }
}

contract IssueBatchForTest is DelegatedBase {
    function _issueBatchFor(uint40 size, IDocumentRegistry.Authorization memory authorization) private {
        vm.prank(stranger);
        registry.issueBatchFor(root, size, MANIFEST, authorization);
    }

    function test_IssueBatchFor() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.BatchIssued(root, aliceId, alice, 3, MANIFEST);
        _issueBatchFor(3, _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3)));
        assertEq(registry.batchOf(aliceId, root).size, 3, "size");
        assertTrue(registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_RevertWhen_SignedForAnotherSize() external {
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _issueBatchFor(4, authorization);
    }

    function test_RevertWhen_SignedForAnotherRootOrManifest() external {
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueBatchFor(HASH, 3, MANIFEST, authorization);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.issueBatchFor(root, 3, HASH, authorization);
    }

    function test_RevertGiven_SignerIsRetiredByNow() external {
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3));
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotAnIssuer.selector, alice));
        _issueBatchFor(3, authorization);
    }

    function test_RevertGiven_HeldWithAnotherSize() external {
        vm.prank(alice);
        registry.issueBatch(root, 2, MANIFEST);
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.BatchAlreadyIssued.selector, aliceId, root));
        _issueBatchFor(3, authorization);
    }

    function test_ARepeatIsANoOp() external {
        _issueBatchFor(3, _signed(ALICE_KEY, alice, _issueBatchDigest(alice, 3)));
        vm.recordLogs();
        _issueBatchFor(3, _worthless(alice));
        assertEq(_eventCount(), 0, "events");
    }

    function test_ASizeOfZeroIsNoRepeat() external {
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AuthorizationExpired.selector, 0));
        _issueBatchFor(0, _worthless(alice));
    }

    function test_AnotherIssuersBatchIsNoRepeat() external {
        vm.prank(bob);
        registry.issueBatch(root, 3, MANIFEST);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.AuthorizationExpired.selector, 0));
        _issueBatchFor(3, _worthless(alice));
    }
}

contract RevokeForTest is DelegatedBase {
    function _revokeFor(uint8 reason, IDocumentRegistry.Authorization memory authorization) private {
        vm.prank(stranger);
        registry.revokeFor(HASH, reason, authorization);
    }

    function test_RevokeFor() external {
        _issue(alice, HASH, 0);
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice, 1);
        _revokeFor(1, _signed(ALICE_KEY, alice, _revokeDigest(alice, 1)));
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
        assertTrue(registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_ARevokerMaySignToo() external {
        address account = vm.addr(REVOKER_KEY);
        vm.prank(admin);
        registry.grantRole(REVOKER_ROLE, account);
        _issue(bob, HASH, 0);
        _revokeFor(1, _signed(REVOKER_KEY, account, _revokeDigest(account, 1)));
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_RevertGiven_AnotherIssuersDocument() external {
        _issue(bob, HASH, 0);
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _revokeDigest(alice, 1));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, alice));
        _revokeFor(1, authorization);
    }

    function test_RevertGiven_SignerIsRetiredByNow() external {
        _issue(alice, HASH, 0);
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _revokeDigest(alice, 1));
        vm.prank(admin);
        registry.retireAccount(alice);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOf.selector, HASH, alice));
        _revokeFor(1, authorization);
    }

    function test_RevertGiven_NeverIssued() external {
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _revokeDigest(alice, 1));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.NotIssued.selector, HASH));
        _revokeFor(1, authorization);
    }

    function test_RevertWhen_SignedForAnotherReasonOrDocument() external {
        _issue(alice, HASH, 0);
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _revokeDigest(alice, 1));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _revokeFor(2, authorization);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.revokeFor(root, 1, authorization);
    }

    function test_RevertWhen_ReasonIsUnknown() external {
        _issue(alice, HASH, 0);
        IDocumentRegistry.Authorization memory authorization = _signed(ALICE_KEY, alice, _revokeDigest(alice, 6));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, 6));
        _revokeFor(6, authorization);
    }

    function test_ARepeatIsANoOp() external {
        _issue(alice, HASH, 0);
        vm.prank(alice);
        registry.revoke(HASH, 2);
        vm.recordLogs();
        _revokeFor(1, _signed(ALICE_KEY, alice, _revokeDigest(alice, 1)));
        _revokeFor(1, _worthless(alice));
        assertEq(_eventCount(), 0, "events");
        assertEq(_record(HASH).reason, 2, "the first reason stands");
        assertTrue(!registry.isNonceUsed(alice, NONCE), "nonce");
    }
}

contract RevokeBatchForTest is DelegatedBase {
    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        registry.issueBatch(root, 3, MANIFEST);
    }

    function _revokeBatchFor(uint8 reason, IDocumentRegistry.Authorization memory authorization) private {
        vm.prank(stranger);
        registry.revokeBatchFor(aliceId, root, reason, authorization);
    }

    function test_RevokeBatchFor() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.BatchRevoked(root, aliceId, alice, 1);
        _revokeBatchFor(1, _signed(ALICE_KEY, alice, _revokeBatchDigest(alice, aliceId, 1)));
        assertEq(registry.batchOf(aliceId, root).revokedBlock, BLOCK, "revokedBlock");
        assertTrue(registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_RevertGiven_AnotherIssuersBatch() external {
        address account = vm.addr(REVOKER_KEY);
        IDocumentRegistry.Authorization memory authorization =
            _signed(REVOKER_KEY, account, _revokeBatchDigest(account, aliceId, 1));
        vm.expectRevert(
            abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, account)
        );
        _revokeBatchFor(1, authorization);
    }

    function test_RevertWhen_AnyPartIsAnother() external {
        vm.prank(bob);
        registry.issueBatch(root, 3, MANIFEST);
        IDocumentRegistry.Authorization memory authorization =
            _signed(ALICE_KEY, alice, _revokeBatchDigest(alice, aliceId, 1));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        _revokeBatchFor(2, authorization);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.revokeBatchFor(bobId, root, 1, authorization);
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice));
        registry.revokeBatchFor(aliceId, HASH, 1, authorization);
    }

    function test_ARepeatIsANoOp() external {
        _revokeBatchFor(1, _signed(ALICE_KEY, alice, _revokeBatchDigest(alice, aliceId, 1)));
        vm.recordLogs();
        _revokeBatchFor(1, _worthless(alice));
        assertEq(_eventCount(), 0, "events");
    }
}

contract RevokeInBatchForTest is DelegatedBase {
    function setUp() public override {
        super.setUp();
        vm.prank(alice);
        registry.issueBatch(root, 3, MANIFEST);
    }

    function _revokeInBatchFor(uint8 reason, IDocumentRegistry.Authorization memory authorization) private {
        vm.prank(stranger);
        registry.revokeInBatchFor(aliceId, root, HASH, reason, authorization);
    }

    function test_RevokeInBatchFor() external {
        vm.expectEmit(address(registry));
        emit IDocumentRegistry.DocumentInBatchRevoked(HASH, aliceId, root, alice, 1);
        _revokeInBatchFor(1, _signed(ALICE_KEY, alice, _revokeInBatchDigest(alice, aliceId, 1)));
        assertEq(registry.revocationOf(aliceId, HASH).revokedBlock, BLOCK, "revokedBlock");
        assertTrue(registry.isNonceUsed(alice, NONCE), "nonce");
    }

    function test_RevertGiven_AnotherIssuersBatch() external {
        address account = vm.addr(REVOKER_KEY);
        IDocumentRegistry.Authorization memory authorization =
            _signed(REVOKER_KEY, account, _revokeInBatchDigest(account, aliceId, 1));
        vm.expectRevert(
            abi.encodeWithSelector(IDocumentRegistry.NotTheIssuerOfBatch.selector, aliceId, root, account)
        );
        _revokeInBatchFor(1, authorization);
    }

    function test_RevertWhen_AnyPartIsAnother() external {
        vm.prank(bob);
        registry.issueBatch(root, 3, MANIFEST);
        IDocumentRegistry.Authorization memory authorization =
            _signed(ALICE_KEY, alice, _revokeInBatchDigest(alice, aliceId, 1));
        bytes memory wrong = abi.encodeWithSelector(IDocumentRegistry.WrongSignature.selector, alice);
        vm.expectRevert(wrong);
        _revokeInBatchFor(2, authorization);
        vm.expectRevert(wrong);
        registry.revokeInBatchFor(bobId, root, HASH, 1, authorization);
        vm.expectRevert(wrong);
        registry.revokeInBatchFor(aliceId, HASH, HASH, 1, authorization);
        vm.expectRevert(wrong);
        registry.revokeInBatchFor(aliceId, root, root, 1, authorization);
    }

    function test_RevertWhen_ReasonIsUnknown() external {
        IDocumentRegistry.Authorization memory authorization =
            _signed(ALICE_KEY, alice, _revokeInBatchDigest(alice, aliceId, 6));
        vm.expectRevert(abi.encodeWithSelector(IDocumentRegistry.UnknownReason.selector, 6));
        _revokeInBatchFor(6, authorization);
    }

    function test_ARepeatIsANoOp() external {
        _revokeInBatchFor(1, _signed(ALICE_KEY, alice, _revokeInBatchDigest(alice, aliceId, 1)));
        vm.recordLogs();
        _revokeInBatchFor(1, _worthless(alice));
        assertEq(_eventCount(), 0, "events");
    }
}
