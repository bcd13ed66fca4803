// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

/// @dev OpenZeppelin's forwarder, as far as these tests call it.
interface IForwarder {
    struct ForwardRequestData {
        address from;
        address to;
        uint256 value;
        uint256 gas;
        uint48 deadline;
        bytes data;
        bytes signature;
    }

    error ERC2771ForwarderInvalidSigner(address signer, address from);
    error ERC2771ForwarderExpiredRequest(uint48 deadline);
    error ERC2771ForwarderNoRefundReceiver();
    error FailedCall();

    function nonces(address owner) external view returns (uint256);
    function execute(ForwardRequestData calldata request) external payable;
    function executeBatch(ForwardRequestData[] calldata requests, address payable refundReceiver)
        external
        payable;
}

/// @dev Messages are hashed here by EIP-712's own rules and sent by a stranger.
contract ForwardedTest is Base {
    uint256 private constant ROOT_KEY = 0xA1100;
    uint48 private constant DEADLINE = uint48(NOW) + 600;
    uint256 private constant GAS = 1_000_000;

    function setUp() public override {
        super.setUp();
        // A root whose key is known, so that it can sign.
        _add(aliceRoot, aliceId, vm.addr(ROOT_KEY), MANAGE | DELEGATE);
    }

    function _one(IForwarder.ForwardRequestData memory request)
        private
        pure
        returns (IForwarder.ForwardRequestData[] memory requests)
    {
        requests = new IForwarder.ForwardRequestData[](1);
        requests[0] = request;
    }

    function _signed(uint256 key, address from, uint256 nonce, bytes memory data)
        private
        view
        returns (IForwarder.ForwardRequestData memory)
    {
        return _signed(key, from, nonce, data, 0);
    }

    function _signed(uint256 key, address from, uint256 nonce, bytes memory data, uint256 value)
        private
        view
        returns (IForwarder.ForwardRequestData memory)
    {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,"
                    "address verifyingContract)"
                ),
                keccak256("DocumentRegistryForwarder"),
                keccak256("1"),
                block.chainid,
                forwarder
            )
        );
        bytes32 message = keccak256(
            abi.encode(
                keccak256(
                    "ForwardRequest(address from,address to,uint256 value,uint256 gas,"
                    "uint256 nonce,uint48 deadline,bytes data)"
                ),
                from,
                address(registry),
                value,
                GAS,
                nonce,
                DEADLINE,
                keccak256(data)
            )
        );
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, keccak256(abi.encodePacked(hex"1901", domain, message)));
        return IForwarder.ForwardRequestData(
            from, address(registry), value, GAS, DEADLINE, data, abi.encodePacked(r, s, v)
        );
    }

    function _execute(IForwarder.ForwardRequestData memory request) private {
        vm.prank(stranger);
        IForwarder(forwarder).execute(request);
    }

    /// @dev A call that goes through.
    function _forward(uint256 key, bytes memory data) private {
        address from = vm.addr(key);
        _execute(_signed(key, from, IForwarder(forwarder).nonces(from), data));
    }

    /// @dev A call that the registry must refuse: made directly from the forwarder, so that the
    /// error can be seen.
    function _forwardRefused(address from, bytes memory data, bytes memory expected) private {
        vm.prank(forwarder);
        (bool success, bytes memory result) = address(registry).call(abi.encodePacked(data, from));
        assertTrue(!success, "went through");
        assertEq(keccak256(result), keccak256(expected), "error");
    }

    function _missing(address account, uint8 missing) private view returns (bytes memory) {
        return abi.encodeWithSelector(
            IDocumentRegistry.MissingPermissions.selector, aliceId, account, missing
        );
    }

    function _issueCall() private view returns (bytes memory) {
        return abi.encodeCall(IDocumentRegistry.issue, (aliceId, HASH, 7));
    }

    function test_TheForwarderIsTrusted() external view {
        assertTrue(registry.isTrustedForwarder(forwarder), "isTrustedForwarder");
        assertTrue(!registry.isTrustedForwarder(stranger), "a stranger");
        assertTrue(forwarder.code.length != 0, "code");
    }

    // ---- what goes through ----------------------------------------------------------------------

    function test_Issue() external {
        expectEmit();
        emit IDocumentRegistry.DocumentIssued(HASH, aliceId, alice, 7);
        _forward(ALICE_KEY, _issueCall());
        assertEq(_record(HASH).accountIndex, 1, "accountIndex");
        assertEq(_record(HASH).validUntil, 7, "validUntil");
    }

    function test_IssueMany() external {
        uint40[] memory validUntils = new uint40[](3);
        _forward(
            ALICE_KEY,
            abi.encodeCall(IDocumentRegistry.issueMany, (aliceId, _hashes(3), validUntils))
        );
        assertEq(_documentCount(aliceId), 3, "count");
    }

    function test_RevokeAndRelease() external {
        _issue(alice, aliceId, HASH, 0);
        expectEmit();
        emit IDocumentRegistry.DocumentRevoked(HASH, aliceId, alice, 6);
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.revoke, (aliceId, HASH, 6)));
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.release, (aliceId, HASH)));
        assertEq(_record(HASH).reason, 8, "reason");
        _forward(
            ALICE_KEY, abi.encodeCall(IDocumentRegistry.revokeMany, (aliceId, _list(HASH), 6))
        );
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.releaseMany, (aliceId, _list(HASH))));
        assertEq(_record(HASH).reason, 8, "reason of the lists");
        assertEq(_record(HASH).revokerIndex, 1, "revokerIndex");
    }

    function test_Supersede() external {
        _issue(alice, aliceId, HASH, 0);
        _forward(
            ALICE_KEY, abi.encodeCall(IDocumentRegistry.supersede, (aliceId, 0, HASH, OTHER, 0))
        );
        assertStatus(HASH, IDocumentRegistry.Status.Superseded);
        assertStatus(OTHER, IDocumentRegistry.Status.Valid);
    }

    function test_Batches() external {
        _forward(
            ALICE_KEY, abi.encodeCall(IDocumentRegistry.issueBatch, (aliceId, OTHER, 1, HASH))
        );
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.revokeBatch, (aliceId, OTHER, 6)));
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.releaseBatch, (aliceId, OTHER)));
        assertEq(registry.batchOf(aliceId, OTHER).reason, 8, "batch");
        _forward(
            ALICE_KEY,
            abi.encodeCall(IDocumentRegistry.revokeInBatch, (aliceId, OTHER, _list(HASH), 6))
        );
        _forward(
            ALICE_KEY,
            abi.encodeCall(IDocumentRegistry.releaseInBatch, (aliceId, OTHER, _list(HASH)))
        );
        assertEq(_record(HASH).reason, 8, "document");
    }

    function test_Managing() external {
        address root = vm.addr(ROOT_KEY);
        expectEmit();
        emit IDocumentRegistry.AccountAdded(aliceId, carol, 3, ISSUE, root);
        _forward(
            ROOT_KEY, abi.encodeCall(IDocumentRegistry.addAccount, (aliceId, carol, ISSUE))
        );
        _forward(
            ROOT_KEY, abi.encodeCall(IDocumentRegistry.setPermissions, (aliceId, carol, REVOKE))
        );
        assertEq(registry.accountOf(aliceId, carol).permissions, REVOKE, "permissions");
        _forward(ROOT_KEY, abi.encodeCall(IDocumentRegistry.retireAccount, (aliceId, carol)));
        _forward(ROOT_KEY, abi.encodeCall(IDocumentRegistry.distrustFrom, (aliceId, carol, 1)));
        assertEq(registry.accountOf(aliceId, carol).distrustedFrom, 1, "distrustedFrom");
        vm.prank(admin);
        registry.proposeAccount(aliceId, stranger);
        expectEmit();
        emit IDocumentRegistry.ProposalVetoed(aliceId, stranger, root);
        _forward(ROOT_KEY, abi.encodeCall(IDocumentRegistry.vetoProposal, (aliceId)));
    }

    function test_SelfRetirement() external {
        expectEmit();
        emit IDocumentRegistry.AccountRetired(aliceId, alice, alice);
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.retireAccount, (aliceId, alice)));
    }

    function test_SeveralMessagesInOneTransaction() external {
        IForwarder.ForwardRequestData[] memory requests = new IForwarder.ForwardRequestData[](2);
        requests[0] = _signed(ALICE_KEY, alice, 0, _issueCall());
        requests[1] = _signed(
            ALICE_KEY, alice, 1, abi.encodeCall(IDocumentRegistry.revoke, (aliceId, HASH, 1))
        );
        vm.prank(stranger);
        IForwarder(forwarder).executeBatch(requests, payable(address(0)));
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    // ---- what does not --------------------------------------------------------------------------

    function test_RevertGiven_AccountLacksDelegate() external {
        _permit(aliceRoot, aliceId, alice, ISSUE | REVOKE | MANAGE);
        _forwardRefused(alice, _issueCall(), _missing(alice, DELEGATE));
        bytes memory retire = abi.encodeCall(IDocumentRegistry.retireAccount, (aliceId, alice));
        _forwardRefused(alice, retire, _missing(alice, DELEGATE));
        _issue(alice, aliceId, HASH, 0);
    }

    function test_RevertGiven_AccountLacksBoth() external {
        _permit(aliceRoot, aliceId, alice, REVOKE);
        _forwardRefused(alice, _issueCall(), _missing(alice, ISSUE | DELEGATE));
    }

    function test_DelegateAloneRetiresItselfOnly() external {
        _permit(aliceRoot, aliceId, alice, DELEGATE);
        _forwardRefused(alice, _issueCall(), _missing(alice, ISSUE));
        _forward(ALICE_KEY, abi.encodeCall(IDocumentRegistry.retireAccount, (aliceId, alice)));
        assertEq(registry.accountOf(aliceId, alice).retiredBlock, BLOCK, "retiredBlock");
    }

    function test_RevertGiven_AccountIsRetired() external {
        _retire(aliceRoot, aliceId, alice);
        _forwardRefused(alice, _issueCall(), _missing(alice, ISSUE | DELEGATE));
    }

    function test_RevertGiven_SignerIsAnother() external {
        IForwarder.ForwardRequestData memory request =
            _signed(ROOT_KEY, alice, 0, _issueCall());
        vm.expectRevert(
            abi.encodeWithSelector(
                IForwarder.ERC2771ForwarderInvalidSigner.selector, vm.addr(ROOT_KEY), alice
            )
        );
        _execute(request);
    }

    function test_RevertGiven_ItWasCarriedOut() external {
        IForwarder.ForwardRequestData memory request = _signed(ALICE_KEY, alice, 0, _issueCall());
        _execute(request);
        vm.expectRevert();
        _execute(request);
    }

    function test_RevertGiven_DeadlineHasPassed() external {
        IForwarder.ForwardRequestData memory request = _signed(ALICE_KEY, alice, 0, _issueCall());
        vm.warp(DEADLINE + 1);
        vm.expectRevert(
            abi.encodeWithSelector(IForwarder.ERC2771ForwarderExpiredRequest.selector, DEADLINE)
        );
        _execute(request);
    }

    function test_RevertGiven_TheRegistryRefuses() external {
        _issue(alice, aliceId, HASH, 0);
        IForwarder.ForwardRequestData memory request = _signed(ALICE_KEY, alice, 0, _issueCall());
        vm.expectRevert(IForwarder.FailedCall.selector);
        _execute(request);
        assertEq(IForwarder(forwarder).nonces(alice), 0, "nonce");
    }

    /// A batch of the forwarder goes on after a call that fails, and the nonce is used up: with a
    /// refund receiver, and without one too where the request carries no value.
    function test_AFailedCallOfABatchIsBurnt() external {
        _issue(alice, aliceId, HASH, 0);
        address payable[2] memory receivers = [payable(stranger), payable(address(0))];
        for (uint256 i = 0; i < 2; ++i) {
            vm.prank(stranger);
            IForwarder(forwarder).executeBatch(
                _one(_signed(ALICE_KEY, alice, i, _issueCall())), receivers[i]
            );
            assertEq(IForwarder(forwarder).nonces(alice), i + 1, "nonce");
        }
    }

    /// Nothing of the registry takes value, so a request with value fails. Without a refund
    /// receiver that reverts the batch, and the request counts as before.
    function test_RevertGiven_AFailedCallOfABatchCarriesValue() external {
        IForwarder.ForwardRequestData[] memory requests =
            _one(_signed(ALICE_KEY, alice, 0, _issueCall(), 1));
        vm.deal(stranger, 1);
        vm.expectRevert(IForwarder.ERC2771ForwarderNoRefundReceiver.selector);
        vm.prank(stranger);
        IForwarder(forwarder).executeBatch{value: 1}(requests, payable(address(0)));
        assertEq(IForwarder(forwarder).nonces(alice), 0, "nonce");
    }

    /// An invalid request, another's or a late one, reverts a batch without a refund receiver, and
    /// is passed over in one with it. Neither uses a nonce.
    function test_AnInvalidRequestOfABatch() external {
        IForwarder.ForwardRequestData[] memory requests =
            _one(_signed(ROOT_KEY, alice, 0, _issueCall()));
        vm.expectRevert(
            abi.encodeWithSelector(
                IForwarder.ERC2771ForwarderInvalidSigner.selector, vm.addr(ROOT_KEY), alice
            )
        );
        vm.prank(stranger);
        IForwarder(forwarder).executeBatch(requests, payable(address(0)));
        vm.prank(stranger);
        IForwarder(forwarder).executeBatch(requests, payable(stranger));
        assertEq(IForwarder(forwarder).nonces(alice), 0, "nonce");
        assertStatus(HASH, IDocumentRegistry.Status.NotIssued);
    }

    /// Taking DELEGATE suspends a request; only retiring, the deadline or the nonce ends it.
    function test_ARequestCountsAgainOnceDelegateIsBack() external {
        IForwarder.ForwardRequestData memory request = _signed(ALICE_KEY, alice, 0, _issueCall());
        _permit(aliceRoot, aliceId, alice, ISSUE);
        vm.expectRevert(IForwarder.FailedCall.selector);
        _execute(request);
        _permit(aliceRoot, aliceId, alice, ISSUE | DELEGATE);
        _execute(request);
        assertStatus(HASH, IDocumentRegistry.Status.Expired);
    }

    /// Anybody can append an address to a call; only the forwarder is believed.
    function test_AnAppendedAddressCountsForNothing() external {
        vm.prank(stranger);
        (bool success, bytes memory result) =
            address(registry).call(abi.encodePacked(_issueCall(), alice));
        assertTrue(!success, "went through");
        assertEq(keccak256(result), keccak256(_missing(stranger, ISSUE)), "error");
    }

    function test_AdminFunctionsAreNotForwarded() external {
        bytes memory refused = abi.encodeWithSignature(
            "AccessControlUnauthorizedAccount(address,bytes32)", forwarder, ADMIN_ROLE
        );
        bytes[8] memory calls = [
            abi.encodeCall(IDocumentRegistry.registerIssuer, (carol, "Carol", "")),
            abi.encodeCall(IDocumentRegistry.updateIssuer, (aliceId, "Alice", "")),
            abi.encodeCall(IDocumentRegistry.closeIssuer, (aliceId)),
            abi.encodeCall(IDocumentRegistry.reopenIssuer, (aliceId)),
            abi.encodeCall(IDocumentRegistry.proposeAccount, (aliceId, carol)),
            abi.encodeCall(IDocumentRegistry.withdrawProposal, (aliceId)),
            abi.encodeWithSignature("beginDefaultAdminTransfer(address)", carol),
            abi.encodeWithSignature("changeDefaultAdminDelay(uint48)", 0)
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            _forwardRefused(admin, calls[i], refused);
        }
    }

    /// A stranger may sign for itself, and the forwarder then calls: neither is the admin.
    function test_NobodyRegistersThroughTheForwarder() external {
        bytes memory data =
            abi.encodeCall(IDocumentRegistry.registerIssuer, (stranger, "A look-alike", ""));
        address signer = vm.addr(ROOT_KEY);
        IForwarder.ForwardRequestData memory request = _signed(ROOT_KEY, signer, 0, data);
        vm.expectRevert(IForwarder.FailedCall.selector);
        _execute(request);
        assertEq(registry.issuerCount(), 2, "issuerCount");
    }

    function test_AcceptingIsNotForwarded() external {
        vm.prank(admin);
        registry.proposeAccount(aliceId, carol);
        vm.warp(NOW + DELAY);
        _forwardRefused(
            carol,
            abi.encodeCall(IDocumentRegistry.acceptProposal, (aliceId)),
            abi.encodeWithSelector(IDocumentRegistry.NotProposed.selector, aliceId, forwarder)
        );
    }

    function test_TheForwarderItselfMayNothing() external {
        _forwardRefused(forwarder, _issueCall(), _missing(forwarder, ISSUE));
        vm.prank(forwarder);
        (bool success,) = address(registry).call(_issueCall());
        assertTrue(!success, "went through");
    }
}
