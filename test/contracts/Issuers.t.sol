// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";
import {Base} from "./Base.sol";
import {vm} from "./Vm.sol";

abstract contract IssuerBase is Base {
    function _text(uint256 length) internal pure returns (string memory) {
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            text[i] = "x";
        }
        return string(text);
    }

    function assertText(string memory actual, string memory expected) internal pure {
        assertEq(actual, expected, "text");
    }
}

contract RegisterIssuerTest is IssuerBase {
    function _register(address by, address account, string memory name, string memory uri)
        private
        returns (uint32)
    {
        vm.prank(by);
        return registry.registerIssuer(account, name, uri);
    }

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        expectAdminMissing(aliceRoot);
        _register(aliceRoot, carol, "Carol", "");
    }

    function test_RevertWhen_AccountIsImpossible() external {
        address[3] memory accounts = [address(0), address(registry), forwarder];
        for (uint256 i = 0; i < 3; ++i) {
            expectError(IDocumentRegistry.InvalidAccount.selector, uint160(accounts[i]));
            _register(admin, accounts[i], "Carol", "");
        }
        assertEq(registry.issuerCount(), 2, "issuerCount");
    }

    function test_RevertWhen_NameIsEmpty() external {
        expectError(IDocumentRegistry.InvalidNameLength.selector, 0);
        _register(admin, carol, "", "https://carol.example");
    }

    function test_RevertWhen_NameIsTooLong() external {
        expectError(IDocumentRegistry.InvalidNameLength.selector, 201);
        _register(admin, carol, _text(201), "");
    }

    function test_RevertWhen_UriIsTooLong() external {
        expectError(IDocumentRegistry.UriTooLong.selector, 401);
        _register(admin, carol, "Carol", _text(401));
    }

    function test_TheLongestTexts() external {
        uint32 issuerId = _register(admin, carol, _text(200), _text(400));
        assertText(registry.issuerOf(issuerId).name, _text(200));
        assertText(registry.issuerOf(issuerId).uri, _text(400));
    }

    function test_AnAccountOfAnotherIssuer() external {
        uint32 issuerId = _register(admin, aliceRoot, "Alice again", "");
        assertEq(registry.accountOf(issuerId, aliceRoot).permissions, MANAGE, "permissions");
        assertEq(registry.accountOf(aliceId, aliceRoot).permissions, MANAGE, "the first issuer's");
    }

    function testFuzz_RegisterIssuer(address account, bytes20 name, string calldata uri) external {
        vm.assume(account != address(0) && account != address(registry) && account != forwarder);
        vm.assume(bytes(uri).length <= 400);
        string memory text = string(abi.encodePacked(name));
        _pass(7);
        expectEmit();
        emit IDocumentRegistry.IssuerRegistered(3, text, uri, admin);
        expectEmit();
        emit IDocumentRegistry.AccountAdded(3, account, 0, MANAGE, admin);
        assertEq(_register(admin, account, text, uri), 3, "issuerId");

        IDocumentRegistry.Issuer memory issuer = registry.issuerOf(3);
        assertText(issuer.name, text);
        assertText(issuer.uri, uri);
        assertEq(issuer.accountCount, 1, "accountCount");
        assertEq(issuer.documentCount, 0, "documentCount");
        assertEq(issuer.batchCount, 0, "batchCount");
        assertEq(issuer.changedBlock, BLOCK + 7, "changedBlock");
        assertEq(issuer.closedBlock, 0, "closedBlock");
        assertEq(registry.issuerCount(), 3, "issuerCount");
        IDocumentRegistry.Account memory expected =
            IDocumentRegistry.Account(account, 0, MANAGE, BLOCK + 7, 0, 0, 0);
        assertEq(registry.accountOf(3, account), expected, "account");
        assertEq(registry.accountAt(3, 0), expected, "account by index");
        bool issues = account == alice || account == bob;
        assertTrue(registry.hasRole(ISSUER_ROLE, account) == issues, "role");
    }
}

contract UpdateIssuerTest is IssuerBase {
    function _update(address by, uint32 issuerId, string memory name, string memory uri) private {
        vm.prank(by);
        registry.updateIssuer(issuerId, name, uri);
    }

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        expectAdminMissing(aliceRoot);
        _update(aliceRoot, aliceId, "Alice College", "");
    }

    function test_RevertWhen_NameIsEmpty() external {
        expectError(IDocumentRegistry.InvalidNameLength.selector, 0);
        _update(admin, aliceId, "", "");
    }

    function test_RevertWhen_NameIsTooLong() external {
        expectError(IDocumentRegistry.InvalidNameLength.selector, 201);
        _update(admin, aliceId, _text(201), "");
    }

    function test_RevertWhen_UriIsTooLong() external {
        expectError(IDocumentRegistry.UriTooLong.selector, 401);
        _update(admin, aliceId, "Alice College", _text(401));
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        expectError(IDocumentRegistry.UnknownIssuer.selector, issuerId);
        _update(admin, issuerId, "Nobody", "");
    }

    function test_OldDocumentsShowTheNewName() external {
        _issue(alice, aliceId, HASH, 0);
        _pass(3);
        expectEmit();
        emit IDocumentRegistry.IssuerUpdated(
            aliceId, "Alice College", "https://new.example", admin
        );
        _update(admin, aliceId, "Alice College", "https://new.example");

        IDocumentRegistry.Issuer memory issuer = registry.verificationOf(aliceId, HASH).issuer;
        assertText(issuer.name, "Alice College");
        assertText(issuer.uri, "https://new.example");
        assertEq(issuer.changedBlock, BLOCK + 3, "changedBlock");
        assertEq(issuer.accountCount, 2, "accountCount");
        assertEq(issuer.documentCount, 1, "documentCount");
        assertText(registry.issuerOf(bobId).name, "Bob Academy");
        assertEq(registry.issuerOf(bobId).changedBlock, BLOCK, "the other's changedBlock");
    }

    function test_AClosedIssuerStaysClosed() external {
        _close(aliceId);
        _pass(3);
        _update(admin, aliceId, "Alice College", "");
        assertEq(registry.issuerOf(aliceId).closedBlock, BLOCK, "closedBlock");
    }
}

contract CloseIssuerTest is IssuerBase {
    function _reopen(address by, uint32 issuerId) private {
        vm.prank(by);
        registry.reopenIssuer(issuerId);
    }

    function test_RevertGiven_CallerIsNotTheAdmin() external {
        expectAdminMissing(aliceRoot);
        vm.prank(aliceRoot);
        registry.closeIssuer(aliceId);
        _close(aliceId);
        expectAdminMissing(aliceRoot);
        _reopen(aliceRoot, aliceId);
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        expectError(IDocumentRegistry.UnknownIssuer.selector, issuerId);
        _close(issuerId);
        expectError(IDocumentRegistry.UnknownIssuer.selector, issuerId);
        _reopen(admin, issuerId);
    }

    function test_RevertGiven_ItIsClosed() external {
        _close(aliceId);
        expectError(IDocumentRegistry.ClosedIssuer.selector, aliceId);
        _close(aliceId);
    }

    function test_RevertGiven_ItIsOpen() external {
        expectError(IDocumentRegistry.OpenIssuer.selector, aliceId);
        _reopen(admin, aliceId);
    }

    function test_CloseAndReopen() external {
        _issue(alice, aliceId, HASH, 0);
        _pass(3);
        expectEmit();
        emit IDocumentRegistry.IssuerClosed(aliceId, admin);
        _close(aliceId);
        IDocumentRegistry.Issuer memory issuer = registry.issuerOf(aliceId);
        assertEq(issuer.closedBlock, BLOCK + 3, "closedBlock");
        assertEq(issuer.changedBlock, BLOCK + 3, "changedBlock");
        assertEq(issuer.documentCount, 1, "documentCount");
        assertStatus(HASH, IDocumentRegistry.Status.Valid);

        _pass(3);
        expectEmit();
        emit IDocumentRegistry.IssuerReopened(aliceId, admin);
        _reopen(admin, aliceId);
        issuer = registry.issuerOf(aliceId);
        assertEq(issuer.closedBlock, 0, "closedBlock");
        assertEq(issuer.changedBlock, BLOCK + 6, "changedBlock");
        assertEq(issuer.documentCount, 1, "documentCount");
        assertEq(issuer.accountCount, 2, "accountCount");
    }

    function test_AClosedIssuerIsStillManaged() external {
        _close(aliceId);
        _add(aliceRoot, aliceId, carol, REVOKE);
        _permit(aliceRoot, aliceId, carol, ISSUE);
        _distrust(aliceRoot, aliceId, alice, 1);
        _retire(aliceRoot, aliceId, carol);
        assertEq(registry.issuerOf(aliceId).closedBlock, BLOCK, "closedBlock");
    }

    /// What a thief with MANAGE did stays as it is, and all but issuing goes on.
    function test_ClosingStopsNoThief() external {
        _add(aliceRoot, aliceId, carol, ISSUE | REVOKE);
        _issue(carol, aliceId, HASH, 0);
        _issue(alice, aliceId, OTHER, 0);
        _close(aliceId);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
        _revoke(carol, aliceId, OTHER, 6);
        _release(carol, aliceId, OTHER);
        _distrust(aliceRoot, aliceId, alice, 1);
        assertStatus(OTHER, IDocumentRegistry.Status.Distrusted);
        assertStatus(HASH, IDocumentRegistry.Status.Valid);
    }

    function test_OtherIssuersGoOn() external {
        _close(aliceId);
        _issue(bob, bobId, HASH, 0);
        assertStatus(registry.statusOf(bobId, HASH), IDocumentRegistry.Status.Valid);
    }
}

contract ProposalTest is IssuerBase {
    uint40 private constant ACCEPT_FROM = NOW + uint40(DELAY);
    uint40 private constant ACCEPT_UNTIL = ACCEPT_FROM + 30 days;

    function _propose(address by, address account) private {
        vm.prank(by);
        registry.proposeAccount(aliceId, account);
    }

    function _accept(address account) private returns (uint16) {
        vm.prank(account);
        return registry.acceptProposal(aliceId);
    }

    function _veto(address account) private {
        vm.prank(account);
        registry.vetoProposal(aliceId);
    }

    function _withdraw(address by) private {
        vm.prank(by);
        registry.withdrawProposal(aliceId);
    }

    function assertNoProposal() private view {
        IDocumentRegistry.Proposal memory proposal = registry.proposalOf(aliceId);
        assertEq(proposal.account, address(0), "account");
        assertEq(proposal.acceptFrom, 0, "acceptFrom");
        assertEq(proposal.acceptUntil, 0, "acceptUntil");
    }

    function expectOutside() private {
        vm.expectRevert(
            abi.encodeWithSelector(
                IDocumentRegistry.OutsideAcceptWindow.selector, aliceId, ACCEPT_FROM, ACCEPT_UNTIL
            )
        );
    }

    function test_RevertGiven_ProposerIsNotTheAdmin() external {
        expectAdminMissing(aliceRoot);
        _propose(aliceRoot, carol);
    }

    function testFuzz_RevertGiven_IssuerIsUnknown(uint32 issuerId) external {
        vm.assume(issuerId == 0 || issuerId > bobId);
        expectError(IDocumentRegistry.UnknownIssuer.selector, issuerId);
        vm.prank(admin);
        registry.proposeAccount(issuerId, carol);
    }

    function test_RevertWhen_AccountIsImpossible() external {
        address[3] memory accounts = [address(0), address(registry), forwarder];
        for (uint256 i = 0; i < 3; ++i) {
            expectError(IDocumentRegistry.InvalidAccount.selector, uint160(accounts[i]));
            _propose(admin, accounts[i]);
        }
    }

    function test_RevertGiven_AccountIsKnown() external {
        expectError(IDocumentRegistry.KnownAccount.selector, aliceId, alice);
        _propose(admin, alice);
        _retire(aliceRoot, aliceId, alice);
        expectError(IDocumentRegistry.KnownAccount.selector, aliceId, alice);
        _propose(admin, alice);
    }

    function test_Propose() external {
        assertNoProposal();
        assertEq(registry.proposalDelay(), DELAY, "proposalDelay");
        expectEmit();
        emit IDocumentRegistry.AccountProposed(aliceId, carol, ACCEPT_FROM, admin);
        _propose(admin, carol);
        IDocumentRegistry.Proposal memory proposal = registry.proposalOf(aliceId);
        assertEq(proposal.account, carol, "account");
        assertEq(proposal.acceptFrom, ACCEPT_FROM, "acceptFrom");
        assertEq(proposal.acceptUntil, ACCEPT_UNTIL, "acceptUntil");
        assertEq(registry.accountOf(aliceId, carol).permissions, 0, "permissions");
        assertEq(registry.proposalOf(bobId).account, address(0), "the other issuer's");
    }

    function test_ANewProposalRestartsTheDelay() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        _propose(admin, stranger);
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, carol);
        _accept(carol);
        vm.expectRevert(
            abi.encodeWithSelector(
                IDocumentRegistry.OutsideAcceptWindow.selector,
                aliceId,
                ACCEPT_FROM + uint40(DELAY),
                ACCEPT_UNTIL + uint40(DELAY)
            )
        );
        _accept(stranger);
    }

    function test_TheSameProposalRestartsTheDelayToo() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        _propose(admin, carol);
        assertEq(registry.proposalOf(aliceId).acceptFrom, ACCEPT_FROM + DELAY, "acceptFrom");
    }

    /// Where the window would end beyond 40 bits, it ends with them. No view reverts.
    function test_TheWindowEndsWithTheClock() external {
        uint40 last = type(uint40).max;
        uint40[3] memory times = [last - 30 days - 1, last - 30 days, last - 30 days + 1];
        for (uint256 i = 0; i < 3; ++i) {
            vm.warp(times[i] - DELAY);
            _propose(admin, carol);
            IDocumentRegistry.Proposal memory proposal = registry.proposalOf(aliceId);
            assertEq(proposal.acceptFrom, times[i], "acceptFrom");
            assertEq(proposal.acceptUntil, i == 0 ? last - 1 : last, "acceptUntil");
        }
        vm.warp(last);
        _accept(carol);
        assertEq(registry.accountOf(aliceId, carol).permissions, MANAGE, "permissions");
    }

    function test_RevertGiven_NotProposed() external {
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, carol);
        _accept(carol);
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, admin);
        _accept(admin);
        expectError(IDocumentRegistry.NotProposed.selector, bobId, carol);
        vm.prank(carol);
        registry.acceptProposal(bobId);
    }

    function test_RevertGiven_AcceptedEarly() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM - 1);
        expectOutside();
        _accept(carol);
    }

    function test_RevertGiven_AcceptedLate() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_UNTIL + 1);
        expectOutside();
        _accept(carol);
    }

    function test_RevertGiven_AddedMeanwhile() external {
        _propose(admin, carol);
        _add(aliceRoot, aliceId, carol, ISSUE);
        vm.warp(ACCEPT_FROM);
        expectError(IDocumentRegistry.KnownAccount.selector, aliceId, carol);
        _accept(carol);
    }

    function testFuzz_Accept(uint40 time) external {
        time = ACCEPT_FROM + time % (30 days + 1);
        _propose(admin, carol);
        vm.warp(time);
        vm.roll(BLOCK + 9);
        expectEmit();
        emit IDocumentRegistry.ProposalAccepted(aliceId, carol);
        expectEmit();
        emit IDocumentRegistry.AccountAdded(aliceId, carol, 2, MANAGE, carol);
        assertEq(_accept(carol), 2, "index");
        assertEq(
            registry.accountOf(aliceId, carol),
            IDocumentRegistry.Account(carol, 2, MANAGE, BLOCK + 9, 0, 0, 0),
            "account"
        );
        assertEq(registry.issuerOf(aliceId).accountCount, 3, "accountCount");
        assertNoProposal();
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, carol);
        _accept(carol);
    }

    function test_TheFirstAndTheLastSecond() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        _accept(carol);
        _propose(admin, stranger);
        vm.warp(ACCEPT_FROM + DELAY + 30 days);
        _accept(stranger);
    }

    function test_AnIssuerWithoutAccountsIsRecovered() external {
        _issue(alice, aliceId, HASH, 0);
        _retire(alice, aliceId, alice);
        _retire(aliceRoot, aliceId, aliceRoot);
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        _accept(carol);
        _add(carol, aliceId, stranger, REVOKE);
        _revoke(stranger, aliceId, HASH, 5);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    /// What an issuer risks that does not watch `AccountProposed`.
    function test_AnAdminThatNobodyVetoesTakesOver() external {
        _issue(alice, aliceId, HASH, 0);
        _propose(admin, admin);
        vm.warp(ACCEPT_FROM - 1);
        expectOutside();
        _accept(admin);
        vm.warp(ACCEPT_FROM);
        _accept(admin);
        _permit(admin, aliceId, admin, REVOKE | MANAGE);
        _retire(admin, aliceId, aliceRoot);
        _revoke(admin, aliceId, HASH, 1);
        assertStatus(HASH, IDocumentRegistry.Status.Revoked);
    }

    function test_RevertGiven_VetoWithoutManage() external {
        _propose(admin, carol);
        expectMissing(aliceId, alice, MANAGE);
        _veto(alice);
        expectMissing(aliceId, bobRoot, MANAGE);
        _veto(bobRoot);
        expectMissing(aliceId, admin, MANAGE);
        _veto(admin);
    }

    function test_RevertGiven_NothingToVeto() external {
        expectError(IDocumentRegistry.NoProposal.selector, aliceId);
        _veto(aliceRoot);
    }

    function test_Veto() external {
        _propose(admin, carol);
        vm.warp(ACCEPT_FROM);
        expectEmit();
        emit IDocumentRegistry.ProposalVetoed(aliceId, carol, aliceRoot);
        _veto(aliceRoot);
        assertNoProposal();
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, carol);
        _accept(carol);
    }

    function test_RevertGiven_WithdrawnByAnother() external {
        _propose(admin, carol);
        expectAdminMissing(carol);
        _withdraw(carol);
    }

    function test_RevertGiven_NothingToWithdraw() external {
        expectError(IDocumentRegistry.NoProposal.selector, aliceId);
        _withdraw(admin);
    }

    function test_Withdraw() external {
        _propose(admin, carol);
        expectEmit();
        emit IDocumentRegistry.ProposalWithdrawn(aliceId, carol, admin);
        _withdraw(admin);
        assertNoProposal();
        vm.warp(ACCEPT_FROM);
        expectError(IDocumentRegistry.NotProposed.selector, aliceId, carol);
        _accept(carol);
    }
}
