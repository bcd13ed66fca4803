// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DocumentRegistry} from "../../contracts/DocumentRegistry.sol";
import {IDocumentRegistry} from "../../contracts/IDocumentRegistry.sol";

interface Vm {
    function assume(bool condition) external pure;
    function prank(address sender) external;
    function roll(uint256 number) external;
    function warp(uint256 time) external;
    function load(address account, bytes32 slot) external view returns (bytes32);
    function store(address account, bytes32 slot, bytes32 value) external;
}

interface Symbolic {
    function createUint(uint256 bits, string memory name) external returns (uint256);
    function createAddress(string memory name) external returns (address);
    function createBytes32(string memory name) external returns (bytes32);
    function enableSymbolicStorage(address account) external;
}

/// @dev What Halmos proves (`npm run prove`): one check for each function that writes, and for each
/// view of the state. The caller is anybody, the arguments are anything, the call comes directly or
/// through the forwarder, and the storage holds **anything**, also what no sequence of calls can
/// bring about. So what a check shows for one call holds for every sequence of calls. After each
/// successful write, for any slot of any issuer:
///
/// 1. An effective final revocation, one whose revoker is not distrusted from its block, has not
///    moved.
/// 2. Issuing has not touched a revocation part, and has replaced an anchoring part only if it was
///    Distrusted. Revoking and releasing have not touched an anchoring part. A part that changed
///    names the account that acted, this block and its time; a batch that changed has a size.
/// 3. Nothing has changed in the namespace of an issuer that the call did not name.
/// 4. The counts have grown by the number of slots that gained an anchoring part.
/// 5. The admin's functions and those on accounts have changed no record, no batch and no count of
///    them. An index keeps its address, and a distrust block never rises. The admin's functions
///    have changed no account.
/// 6. The account that acted held the permissions for it, DELEGATE included where it was forwarded.
/// 7. `setAside` is set if it was before or a final revocation has moved, and only then; such a
///    move took an account with REVOKE and MANAGE.
/// 8. An account that is distrusted is retired, a retired one holds no permission, and its index
///    leads back to it. A proposal that was accepted, vetoed or withdrawn is gone.
/// 9. Distrust has changed a status only to Distrusted or Suspended, and Distrusted never, for a
///    document issued alone and for one in a batch.
///
/// 10. No view reverts, and each returns what the slots hold. A status is that of the rule written
///     here once more ({_rule}, {_joined}): so a release by an account that is distrusted from its
///     block reads Suspended.
///
/// Two things are assumed: what 8 says held before, so that an account that acts is not distrusted;
/// and for views that a revocation part has a block and a batch a size, as 2 says.
///
/// Lists have two elements, which may be equal, and texts are short. For a document in a batch, 10
/// is proved in two parts, with the limits that the checks name. The transfer of the admin's role
/// is OpenZeppelin's.
abstract contract RegistryChecks {
    Vm private constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    Symbolic private constant svm = Symbolic(0xF3993A62377BCd56AE39D773740A5390411E8BC9);

    uint256 private constant ROOT =
        0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200;
    uint8 private constant ISSUE = 1;
    uint8 private constant REVOKE = 2;
    uint8 private constant MANAGE = 4;
    uint8 private constant DELEGATE = 8;
    uint256 private constant PERMISSIONS_OFFSET = 16;
    uint256 private constant SUSPENDED = 3;
    uint256 private constant DISTRUSTED = 6;
    address private constant ADMIN = address(0xAD);
    /// The widths of a record's fields, in bits.
    bytes private constant RECORD = hex"102828281028280801";

    /// Every slot of one issuer that the properties speak about.
    struct Slots {
        uint256 state;
        uint256 record;
        uint256 batch;
        uint256 held;
        uint256 signer;
        uint256 proposal;
    }

    DocumentRegistry private registry;
    address private forwarder;
    // Which slots a check looks at: any.
    uint32 private watchedId;
    bytes32 private watchedHash;
    address private watchedAccount;
    uint16 private watchedIndex;
    // Who calls.
    address private caller;
    address private signer;

    /// @dev Called where a call of the registry succeeded.
    function _reached() internal virtual;

    function setUp() public {
        vm.roll(1_000);
        vm.warp(1_700_000_000);
        registry = new DocumentRegistry(ADMIN, 2 days);
        forwarder = registry.trustedForwarder();
        svm.enableSymbolicStorage(address(registry));
        watchedId = uint32(svm.createUint(32, "watchedId"));
        watchedHash = svm.createBytes32("watchedHash");
        watchedAccount = svm.createAddress("watchedAccount");
        watchedIndex = uint16(svm.createUint(16, "watchedIndex"));
        caller = svm.createAddress("caller");
        signer = svm.createAddress("signer");
    }

    // ---- issuing --------------------------------------------------------------------------------

    function check_issue(uint32 id, bytes32 h, uint40 validUntil) public {
        bytes32[2] memory keys = [h, h];
        _issuing(id, ISSUE, 1, keys, abi.encodeCall(registry.issue, (id, h, validUntil)));
    }

    function check_issueMany(uint32 id, bytes32 h, bytes32 g, uint40 validUntil) public {
        uint40[] memory expiries = new uint40[](2);
        (expiries[0], expiries[1]) = (validUntil, 0);
        bytes32[2] memory keys = [h, g];
        bytes memory call_ = abi.encodeCall(registry.issueMany, (id, _list(h, g), expiries));
        _issuing(id, ISSUE, 1, keys, call_);
    }

    function check_issueBatch(uint32 id, bytes32 root, uint40 size, bytes32 manifest) public {
        bytes32[2] memory keys = [root, root];
        bytes memory call_ = abi.encodeCall(registry.issueBatch, (id, root, size, manifest));
        _issuing(id, ISSUE, 2, keys, call_);
    }

    function check_supersede(uint32 id, bytes32 root, bytes32 h, bytes32 g, uint40 limit) public {
        _superseding(id, g, abi.encodeCall(registry.supersede, (id, root, h, g, limit)));
    }

    // ---- revoking and releasing -----------------------------------------------------------------

    function check_revoke(uint32 id, bytes32 h, uint8 reason) public {
        _revising(id, abi.encodeCall(registry.revoke, (id, h, reason)));
    }

    function check_revokeMany(uint32 id, bytes32 h, bytes32 g, uint8 reason) public {
        _revising(id, abi.encodeCall(registry.revokeMany, (id, _list(h, g), reason)));
    }

    function check_release(uint32 id, bytes32 h) public {
        _revising(id, abi.encodeCall(registry.release, (id, h)));
    }

    function check_releaseMany(uint32 id, bytes32 h, bytes32 g) public {
        _revising(id, abi.encodeCall(registry.releaseMany, (id, _list(h, g))));
    }

    function check_revokeBatch(uint32 id, bytes32 root, uint8 reason) public {
        _revising(id, abi.encodeCall(registry.revokeBatch, (id, root, reason)));
    }

    function check_releaseBatch(uint32 id, bytes32 root) public {
        _revising(id, abi.encodeCall(registry.releaseBatch, (id, root)));
    }

    function check_revokeInBatch(uint32 id, bytes32 root, bytes32 h, bytes32 g, uint8 reason)
        public
    {
        _revising(id, abi.encodeCall(registry.revokeInBatch, (id, root, _list(h, g), reason)));
    }

    function check_releaseInBatch(uint32 id, bytes32 root, bytes32 h, bytes32 g) public {
        _revising(id, abi.encodeCall(registry.releaseInBatch, (id, root, _list(h, g))));
    }

    // ---- accounts -------------------------------------------------------------------------------

    function check_addAccount(uint32 id, address account, uint8 permissions) public {
        _managing(id, MANAGE, abi.encodeCall(registry.addAccount, (id, account, permissions)));
        assert(_permissions(id, account) == permissions);
    }

    function check_setPermissions(uint32 id, address account, uint8 permissions) public {
        _managing(id, MANAGE, abi.encodeCall(registry.setPermissions, (id, account, permissions)));
        assert(_permissions(id, account) == permissions);
    }

    function check_retireAccount(uint32 id, address account) public {
        uint8 needed = account == _actor() ? 0 : MANAGE;
        _managing(id, needed, abi.encodeCall(registry.retireAccount, (id, account)));
        assert(_retiredBlock(id, account) == block.number);
    }

    function check_distrustFrom(uint32 id, address account, uint40 fromBlock) public {
        vm.assume(_isSound(account));
        Slots memory slots = _slots();
        uint256 before = _rule(slots.record);
        uint256 beforeInBatch = _rule(_joined(slots.batch, slots.record, fromBlock));
        _managing(id, MANAGE, abi.encodeCall(registry.distrustFrom, (id, account, fromBlock)));
        assert(_retiredBlock(id, account) != 0);
        uint256 inBatch = _rule(_joined(slots.batch, slots.record, fromBlock));
        assert(_and(_onlyLoses(before, _rule(slots.record)), _onlyLoses(beforeInBatch, inBatch)));
    }

    function check_vetoProposal(uint32 id) public {
        _managing(id, MANAGE, abi.encodeCall(registry.vetoProposal, (id)));
        assert(_proposal(id) == 0);
    }

    function check_acceptProposal(uint32 id) public {
        vm.assume(_isSound(watchedAccount));
        Slots memory was = _slots();
        uint256 proposal = _proposal(id);
        (bool done,) = _try(abi.encodeCall(registry.acceptProposal, (id)));
        vm.assume(done);
        _reached();
        assert(caller == address(uint160(proposal)));
        assert(block.timestamp >= uint40(proposal >> 160));
        assert(block.timestamp <= uint256(uint40(proposal >> 160)) + 30 days);
        assert(_proposal(id) == 0);
        assert(_permissions(id, caller) == MANAGE);
        assert(_and(_isSound(watchedAccount), _recordsStand(id, was, _slots())));
    }

    // ---- the admin ------------------------------------------------------------------------------

    /// The texts are short, and there were none before: they touch no other slot.
    function check_registerIssuer(address account) public {
        uint32 id;
        unchecked {
            id = uint32(_load(ROOT + 1)) + 1;
        }
        _clearTexts(id);
        vm.assume(_isSound(watchedAccount));
        Slots memory was = _slots();
        bool admin = registry.hasRole(0, caller);
        (bool done,) = _try(abi.encodeCall(registry.registerIssuer, (account, "A", "b")));
        vm.assume(done);
        _reached();
        assert(_permissions(id, account) == MANAGE);
        assert(_and(admin, _and(_isSound(watchedAccount), _recordsStand(id, was, _slots()))));
    }

    /// As for {check_registerIssuer}.
    function check_updateIssuer(uint32 id) public {
        _clearTexts(id);
        _administering(id, abi.encodeCall(registry.updateIssuer, (id, "A", "b")));
    }

    function _clearTexts(uint32 id) private {
        vm.store(address(registry), bytes32(_namespace(id) + 6), 0);
        vm.store(address(registry), bytes32(_namespace(id) + 7), 0);
    }

    function check_closeIssuer(uint32 id) public {
        _administering(id, abi.encodeCall(registry.closeIssuer, (id)));
    }

    function check_reopenIssuer(uint32 id) public {
        _administering(id, abi.encodeCall(registry.reopenIssuer, (id)));
    }

    function check_proposeAccount(uint32 id, address account) public {
        _administering(id, abi.encodeCall(registry.proposeAccount, (id, account)));
    }

    function check_withdrawProposal(uint32 id) public {
        _administering(id, abi.encodeCall(registry.withdrawProposal, (id)));
        assert(_proposal(id) == 0);
    }

    // ---- views ----------------------------------------------------------------------------------

    function check_recordOf() public {
        bytes memory answer = _view(abi.encodeCall(registry.recordOf, (watchedId, watchedHash)));
        assert(_shows(answer, 0, _slots().record, RECORD));
    }

    function check_recordsOf(bytes32 g) public {
        bytes32[] memory hashes = _list(watchedHash, g);
        bytes memory answer = _view(abi.encodeCall(registry.recordsOf, (watchedId, hashes)));
        bool holds = _shows(answer, 2, _slots().record, RECORD);
        assert(_and(holds, _shows(answer, 11, _load(_slot(watchedId, 1, g)), RECORD)));
    }

    function check_batchOf() public {
        bytes memory answer = _view(abi.encodeCall(registry.batchOf, (watchedId, watchedHash)));
        assert(_shows(answer, 0, _slots().batch, RECORD));
    }

    function check_statusOf() public {
        uint256 record = _slots().record;
        vm.assume(_isWhole(record));
        bytes memory answer = _view(abi.encodeCall(registry.statusOf, (watchedId, watchedHash)));
        assert(_same(_word(answer, 0), _rule(record)));
    }

    function check_verificationOf() public {
        uint256 record = _slots().record;
        vm.assume(_isWhole(record));
        _clearTexts(watchedId);
        bytes memory call_ = abi.encodeCall(registry.verificationOf, (watchedId, watchedHash));
        assert(_verified(_view(call_), 1, record));
    }

    function check_verificationsOf() public {
        uint256 record = _slots().record;
        vm.assume(_isWhole(record));
        _clearTexts(watchedId);
        IDocumentRegistry.DocumentKey[] memory keys = new IDocumentRegistry.DocumentKey[](1);
        keys[0] = IDocumentRegistry.DocumentKey(watchedId, watchedHash);
        assert(_verified(_view(abi.encodeCall(registry.verificationsOf, (keys))), 3, record));
    }

    /// One sibling, whatever the expiry; no revocation, which would multiply the paths.
    function check_statusInBatch(bytes32 root, uint40 limit, bytes32 sibling) public {
        _clear(_slot(watchedId, 1, watchedHash), 0);
        _clear(_slot(watchedId, 2, root), (1 << 136) - 1);
        bytes32 leaf = _leaf(limit);
        bytes32[] memory proof = new bytes32[](1);
        proof[0] = sibling;
        (bytes32 a, bytes32 b) = leaf < sibling ? (leaf, sibling) : (sibling, leaf);
        uint256 record = _proven(root, limit, keccak256(bytes.concat(a, b)), 1);
        bytes memory answer = _view(
            abi.encodeCall(registry.statusInBatch, (watchedId, root, watchedHash, limit, proof))
        );
        assert(_same(_word(answer, 0), _rule(record)));
    }

    /// A suspended batch, whatever the document's revocation; no sibling, no expiry, and an account
    /// that is unknown, so trusted: {check_statusInBatch} and {check_verificationOf} have the rest.
    function check_verificationInBatch() public {
        bytes32 root = _leaf(0);
        uint256 place = _slot(watchedId, 2, root);
        uint256 batch = _load(place) & ~(uint256(0xff) << 232) | 6 << 232;
        vm.store(address(registry), bytes32(place), bytes32(batch));
        _clear(_slot(watchedId, 4, bytes32(uint256(uint16(batch)))), 0);
        uint256 record = _proven(root, 0, root, 0);
        _clearTexts(watchedId);
        bytes memory call_ = abi.encodeCall(
            registry.verificationInBatch, (watchedId, root, watchedHash, 0, new bytes32[](0))
        );
        assert(_verified(_view(call_), 1, record));
    }

    /// @dev Leaves only some bits of a slot.
    function _clear(uint256 slot, uint256 mask) private {
        vm.store(address(registry), bytes32(slot), bytes32(_load(slot) & mask));
    }

    function check_issuerOf() public {
        _clearTexts(watchedId);
        assert(_showsIssuer(_view(abi.encodeCall(registry.issuerOf, (watchedId))), 1, true));
    }

    function check_accountOf() public {
        vm.assume(_isSound(watchedAccount));
        uint256 held = _slots().held;
        bytes memory call_ = abi.encodeCall(registry.accountOf, (watchedId, watchedAccount));
        bytes memory answer = _view(call_);
        bool known = _less(0, held);
        assert(_same(_word(answer, 0), _pick(known, uint160(watchedAccount), 0)));
        assert(_showsAccount(answer, 0, known, uint16(held)));
    }

    function check_accountAt() public {
        bytes memory call_ = abi.encodeCall(registry.accountAt, (watchedId, watchedIndex));
        assert(_showsAccount(_view(call_), 0, true, watchedIndex));
    }

    function check_proposalOf() public {
        uint256 proposal = _slots().proposal;
        bytes memory answer = _view(abi.encodeCall(registry.proposalOf, (watchedId)));
        assert(_shows(answer, 0, proposal, hex"a028"));
        uint256 from = uint40(proposal >> 160);
        uint256 until = _pick(_less(from + 30 days, 1 << 40), from + 30 days, (1 << 40) - 1);
        assert(_same(_word(answer, 2), _pick(_less(0, from), until, 0)));
    }

    /// @return answer What the registry returns to anybody; it must not revert.
    function _view(bytes memory call_) private returns (bytes memory answer) {
        bool done;
        (done, answer) = address(registry).staticcall(call_);
        assert(done);
        _reached();
    }

    function _word(bytes memory answer, uint256 index) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(answer, mul(32, add(index, 1))))
        }
    }

    /// @dev Whether words of the answer are the fields of a slot, from its lowest bit.
    function _shows(bytes memory answer, uint256 start, uint256 slot, bytes memory widths)
        private
        pure
        returns (bool holds)
    {
        holds = true;
        for (uint256 i = 0; i < widths.length; ++i) {
            uint256 width = uint8(widths[i]);
            holds = _and(holds, _same(_word(answer, start + i), slot & (1 << width) - 1));
            slot >>= width;
        }
    }

    /// @dev Of no account, or where the issuer has none, every word is zero.
    function _showsAccount(bytes memory answer, uint256 start, bool any, uint16 index)
        private
        view
        returns (bool holds)
    {
        uint256 signer_ = _load(_slot(watchedId, 4, bytes32(uint256(index))));
        any = _and(any, _less(0, uint160(signer_)));
        uint256 held = _load(_slot(watchedId, 3, bytes32(uint256(uint160(signer_)))));
        holds = _same(_word(answer, start), _pick(any, uint160(signer_), 0));
        holds = _and(holds, _same(_word(answer, start + 1), _pick(any, index, 0)));
        holds = _and(holds, _shows(answer, start + 2, _pick(any, held >> 16, 0), hex"08282828"));
        holds = _and(holds, _same(_word(answer, start + 6), _pick(any, uint40(signer_ >> 160), 0)));
    }

    function _showsIssuer(bytes memory answer, uint256 start, bool any)
        private
        view
        returns (bool)
    {
        uint256 state = _pick(any, _state(watchedId), 0);
        bool empty = _same(_word(answer, start + 7) | _word(answer, start + 8), 0);
        return _and(empty, _shows(answer, start + 2, state, hex"2828102828"));
    }

    /// @param start The index of the first word of the Verification.
    function _verified(bytes memory answer, uint256 start, uint256 record)
        private
        view
        returns (bool holds)
    {
        bool issued = _not(_unanchored(record));
        bool revised = _and(issued, _less(0, uint40(record >> 152)));
        holds = _same(_word(answer, start), block.chainid);
        holds = _and(holds, _same(_word(answer, start + 1), block.number));
        holds = _and(holds, _same(_word(answer, start + 2), block.timestamp));
        holds = _and(holds, _same(_word(answer, start + 3), _rule(record)));
        holds = _and(holds, _shows(answer, start + 4, record, RECORD));
        holds = _and(holds, _showsAccount(answer, start + 13, issued, uint16(record)));
        holds = _and(holds, _showsAccount(answer, start + 20, revised, uint16(record >> 136)));
        holds = _and(holds, _showsIssuer(answer, start + 28, issued));
    }

    // ---- the rule -------------------------------------------------------------------------------

    /// @dev The status of a record of the watched issuer, from the weakest to the strongest.
    function _rule(uint256 record) private view returns (uint256 status) {
        uint256 limit = uint40(record >> 96);
        bool over = _and(_less(0, limit), _less(limit, block.timestamp + 1));
        status = _pick(over, 2, 1);
        status = _pick(_isHeld(record), SUSPENDED, status);
        status = _pick(_isFinal(record), _pick(_same(uint8(record >> 232), 4), 5, 4), status);
        bool distrusted = _isDistrusted(uint16(record), uint40(record >> 16));
        status = _pick(distrusted, DISTRUSTED, status);
        status = _pick(_unanchored(record), 0, status);
    }

    /// @dev Whether it is suspended, or released by an account that is distrusted in that block.
    function _isHeld(uint256 record) private view returns (bool) {
        uint256 reason = uint8(record >> 232);
        bool distrusted = _isDistrusted(uint16(record >> 136), uint40(record >> 152));
        bool held = _or(_same(reason, 6), _and(_same(reason, 8), distrusted));
        return _and(_less(0, uint40(record >> 152)), held);
    }

    /// @dev The record of a document in a batch: the revocation is that of the higher urgency.
    function _joined(uint256 batch, uint256 document, uint40 limit)
        private
        view
        returns (uint256)
    {
        uint256 shown = _pick(_less(_urgency(document), _urgency(batch)), batch, document);
        uint256 anchoring = uint96(batch) | uint256(limit) << 96;
        return anchoring | uint256(uint104(shown >> 136)) << 136 | (batch | document) & 1 << 240;
    }

    /// @dev A final revocation comes before a suspension, and an earlier one before a later one.
    function _urgency(uint256 record) private view returns (uint256 urgency) {
        uint256 earliness = type(uint40).max - uint40(record >> 152);
        urgency = _pick(_isHeld(record), 1 << 40 | earliness, 0);
        urgency = _pick(_isFinal(record), 2 << 40 | earliness, urgency);
    }

    /// @dev A revocation part without a block is empty.
    function _isWhole(uint256 record) private pure returns (bool) {
        return _or(_less(0, uint40(record >> 152)), _same(uint104(record >> 136), 0));
    }

    function _leaf(uint40 limit) private view returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(watchedHash, limit))));
    }

    /// @param top The root to which the proof leads.
    /// @return record Of the watched document in the batch; zero when that is not proven.
    function _proven(bytes32 root, uint40 limit, bytes32 top, uint256 depth)
        private
        view
        returns (uint256 record)
    {
        uint256 batch = _load(_slot(watchedId, 2, root));
        uint256 document = _load(_slot(watchedId, 1, watchedHash));
        vm.assume(_and(_isWhole(document), _isWhole(batch)));
        bool proven = _and(_fits(batch, depth), _same(uint256(top), uint256(root)));
        record = _pick(proven, _joined(batch, document, limit), 0);
    }

    /// @dev Of n leaves, each is d deep with n between 2^(d-1) and 2^(d+1), neither included.
    function _fits(uint256 batch, uint256 depth) private pure returns (bool) {
        uint256 size = uint40(batch >> 96);
        vm.assume(_or(_unanchored(batch), _less(0, size)));
        bool fits = _and(_less(1 << depth, 2 * size), _less(size, 2 << depth));
        return _and(fits, _not(_unanchored(batch)));
    }

    // ---- the properties -------------------------------------------------------------------------

    /// @param place Slot of the mapping in a namespace: 1 = records, 2 = batches.
    function _issuing(
        uint32 id,
        uint8 needed,
        uint256 place,
        bytes32[2] memory keys,
        bytes memory call_
    ) private {
        uint256 fresh = _anchored(_slot(id, place, keys[0])) == 0 ? 1 : 0;
        if (keys[1] != keys[0] && _anchored(_slot(id, place, keys[1])) == 0) ++fresh;
        uint256 count = _state(id);
        Slots memory was = _slots();
        bool distrusted = _isDistrusted(uint16(was.record), uint40(was.record >> 16));
        bool batchDistrusted = _isDistrusted(uint16(was.batch), uint40(was.batch >> 16));

        _call(id, needed, call_);
        Slots memory now_ = _slots();
        bool holds = _same(now_.record >> 136, was.record >> 136);
        holds = _and(holds, _same(now_.batch >> 136, was.batch >> 136));
        bool may = _or(distrusted, _unanchored(was.record));
        holds = _and(holds, _or(may, _same(now_.record, was.record)));
        may = _or(batchDistrusted, _unanchored(was.batch));
        holds = _and(holds, _or(may, _same(now_.batch, was.batch)));
        holds = _and(holds, _anchoredBy(id, was, now_));
        assert(_and(holds, _accountsStand(was, now_)));
        assert(_state(id) == count + (place == 1 ? fresh : fresh << 40));
    }

    function _superseding(uint32 id, bytes32 successor, bytes memory call_) private {
        uint256 expected = _state(id) + (_anchored(_slot(id, 1, successor)) == 0 ? 1 : 0);
        Slots memory was = _slots();
        _call(id, ISSUE | REVOKE, call_);
        Slots memory now_ = _slots();
        bool holds = _or(
            _same(_part(now_.record), _part(was.record)),
            _same(uint256(watchedHash), uint256(successor))
        );
        holds = _and(holds, _anchoredBy(id, was, now_));
        holds = _and(holds, _finalStands(was, now_));
        holds = _and(holds, _revisedBy(id, was.record, now_.record));
        holds = _and(holds, _same(now_.batch, was.batch));
        assert(_and(holds, _accountsStand(was, now_)));
        assert(_state(id) == expected);
    }

    function _revising(uint32 id, bytes memory call_) private {
        Slots memory was = _slots();
        _call(id, REVOKE, call_);
        Slots memory now_ = _slots();
        bool holds = _finalStands(was, now_);
        holds = _and(holds, _revisedBy(id, was.record, now_.record));
        holds = _and(holds, _revisedBy(id, was.batch, now_.batch));
        holds = _and(holds, _same(_part(now_.record), _part(was.record)));
        holds = _and(holds, _same(_part(now_.batch), _part(was.batch)));
        holds = _and(holds, _foreign(id, was, now_));
        holds = _and(holds, _same(now_.state, was.state));
        assert(_and(holds, _accountsStand(was, now_)));
    }

    function _managing(uint32 id, uint8 needed, bytes memory call_) private {
        vm.assume(_isSound(watchedAccount));
        Slots memory was = _slots();
        _call(id, needed, call_);
        assert(_and(_isSound(watchedAccount), _recordsStand(id, was, _slots())));
    }

    function _administering(uint32 id, bytes memory call_) private {
        Slots memory was = _slots();
        bool admin = registry.hasRole(0, caller);
        (bool done,) = _try(call_);
        vm.assume(done);
        _reached();
        Slots memory now_ = _slots();
        bool holds = _and(admin, _recordsStand(id, was, now_));
        holds = _and(holds, _same(now_.held, was.held));
        assert(_and(holds, _same(now_.signer, was.signer)));
    }

    function _recordsStand(uint32 id, Slots memory was, Slots memory now_)
        private
        view
        returns (bool holds)
    {
        holds = _and(_same(now_.record, was.record), _same(now_.batch, was.batch));
        holds = _and(holds, _same(uint80(now_.state), uint80(was.state)));
        holds = _and(holds, _foreign(id, was, now_));
        // An index that was given away keeps its address, and a distrust block never rises.
        uint256 before = was.signer >> 160;
        uint256 afterwards = now_.signer >> 160;
        bool given = _less(watchedIndex, uint16(was.state >> 80));
        bool lower = _and(_less(0, afterwards), _less(afterwards, before + 1));
        bool stands = _same(uint160(was.signer), uint160(now_.signer));
        stands = _and(stands, _or(_same(before, 0), lower));
        holds = _and(holds, _or(_not(given), stands));
    }

    /// @dev Accounts and the proposal are as they were.
    function _accountsStand(Slots memory was, Slots memory now_) private pure returns (bool) {
        bool accounts = _and(_same(now_.signer, was.signer), _same(now_.held, was.held));
        return _and(accounts, _same(now_.proposal, was.proposal));
    }

    function _finalStands(Slots memory was, Slots memory now_) private view returns (bool) {
        bool record = _same(now_.record >> 136, was.record >> 136);
        bool batch = _same(now_.batch >> 136, was.batch >> 136);
        return _and(
            _or(_not(_isEffective(was.record)), record), _or(_not(_isEffective(was.batch)), batch)
        );
    }

    /// @dev Whether anchoring parts are as they were, or the acting account's of now, and nothing
    /// of another issuer has changed.
    function _anchoredBy(uint32 id, Slots memory was, Slots memory now_)
        private
        view
        returns (bool)
    {
        uint256 stamp = _stamp(id);
        bool kept = _same(_part(now_.record), _part(was.record));
        bool keptBatch = _same(_part(now_.batch), _part(was.batch));
        bool batch = _and(_same(uint96(now_.batch), stamp), _less(0, uint40(now_.batch >> 96)));
        bool holds = _and(_or(kept, _same(uint96(now_.record), stamp)), _or(keptBatch, batch));
        return _and(holds, _foreign(id, was, now_));
    }

    /// @dev Whether a revocation part is as it was, or the acting account's of now, which set aside
    /// a final one if it could.
    function _revisedBy(uint32 id, uint256 was, uint256 now_) private view returns (bool) {
        bool moved = _not(_same(uint104(now_ >> 136), uint104(was >> 136)));
        bool aside = _and(_isFinal(was), moved);
        bool holds = _same(now_ >> 240 & 1, _pick(aside, 1, was >> 240 & 1));
        holds = _and(holds, _or(_not(aside), _and(_not(_isEffective(was)), _maySetAside(id))));
        bool stamped = _same(uint96(now_ >> 136), _stamp(id));
        return _and(holds, _or(_not(moved), stamped));
    }

    function _maySetAside(uint32 id) private view returns (bool) {
        uint8 both = REVOKE | MANAGE;
        return _same(_permissions(id, _actor()) & both, both);
    }

    /// @dev Whether distrust may change one status to the other.
    function _onlyLoses(uint256 before, uint256 afterwards) private pure returns (bool) {
        bool lost = _or(_same(afterwards, SUSPENDED), _same(afterwards, DISTRUSTED));
        return _or(_same(before, afterwards), _and(_not(_same(before, DISTRUSTED)), lost));
    }

    /// @dev Whether an account of the watched issuer is unknown, or is as 8 says.
    function _isSound(address account) private view returns (bool) {
        uint256 held = _load(_slot(watchedId, 3, bytes32(uint256(uint160(account)))));
        uint256 signer_ = _load(_slot(watchedId, 4, bytes32(uint256(uint16(held)))));
        bool retired = _less(0, uint40(held >> 104));
        bool sound = _and(_less(0, uint40(held >> 24)), _same(uint160(signer_), uint160(account)));
        sound = _and(sound, _less(uint16(held), uint16(_state(watchedId) >> 80)));
        sound = _and(sound, _or(_not(retired), _same(uint8(held >> PERMISSIONS_OFFSET), 0)));
        sound = _and(sound, _or(retired, _same(signer_ >> 160, 0)));
        return _or(_same(held, 0), sound);
    }

    function _foreign(uint32 id, Slots memory was, Slots memory now_) private view returns (bool) {
        bool same = _and(_same(now_.state, was.state), _same(now_.record, was.record));
        same = _and(same, _and(_same(now_.batch, was.batch), _accountsStand(was, now_)));
        return _or(_same(watchedId, id), same);
    }

    // ---- the call -------------------------------------------------------------------------------

    /// @dev For the forwarder, the last 20 bytes of a call name who signed it.
    function _actor() private view returns (address) {
        return caller == forwarder ? signer : caller;
    }

    function _call(uint32 id, uint8 needed, bytes memory call_) private {
        uint8 held = _permissions(id, _actor());
        uint256 index = uint16(_load(_slot(id, 3, bytes32(uint256(uint160(_actor()))))));
        vm.assume(_same(_load(_slot(id, 4, bytes32(index))) >> 160, 0));
        (bool done,) = _try(call_);
        vm.assume(done);
        _reached();
        assert(held & needed == needed);
        if (caller == forwarder && signer != forwarder) assert(held & DELEGATE != 0);
    }

    function _try(bytes memory call_) private returns (bool, bytes memory) {
        vm.prank(caller);
        return address(registry).call(bytes.concat(call_, bytes20(signer)));
    }

    // ---- the storage ----------------------------------------------------------------------------

    function _load(uint256 slot) private view returns (uint256) {
        return uint256(vm.load(address(registry), bytes32(slot)));
    }

    function _namespace(uint32 id) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(id, ROOT)));
    }

    function _slot(uint32 id, uint256 place, bytes32 key) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(key, _namespace(id) + place)));
    }

    function _recordSlot(uint32 id, bytes32 h) private pure returns (uint256) {
        return _slot(id, 1, h);
    }

    /// @dev Of a slot: the block of its anchoring part.
    function _anchored(uint256 slot) private view returns (uint40) {
        return uint40(_load(slot) >> 16);
    }

    function _state(uint32 id) private view returns (uint256) {
        return _load(_namespace(id));
    }

    function _permissions(uint32 id, address account) private view returns (uint8) {
        return uint8(_load(_slot(id, 3, bytes32(uint256(uint160(account))))) >> PERMISSIONS_OFFSET);
    }

    function _retiredBlock(uint32 id, address account) private view returns (uint40) {
        return uint40(_load(_slot(id, 3, bytes32(uint256(uint160(account))))) >> 104);
    }

    function _proposal(uint32 id) private view returns (uint256) {
        return _load(_namespace(id) + 5);
    }

    /// @dev The first 96 bits of a part that the account writes now.
    function _stamp(uint32 id) private view returns (uint256) {
        uint256 held = _load(_slot(id, 3, bytes32(uint256(uint160(_actor())))));
        return uint16(held) | block.number << 16 | block.timestamp << 56;
    }

    function _slots() private view returns (Slots memory) {
        uint256 ns = _namespace(watchedId);
        return Slots({
            state: _load(ns),
            record: _load(_slot(watchedId, 1, watchedHash)),
            batch: _load(_slot(watchedId, 2, watchedHash)),
            held: _load(_slot(watchedId, 3, bytes32(uint256(uint160(watchedAccount))))),
            signer: _load(_slot(watchedId, 4, bytes32(uint256(watchedIndex)))),
            proposal: _load(ns + 5)
        });
    }

    /// @dev The anchoring part of a record.
    function _part(uint256 record) private pure returns (uint256) {
        return record & (1 << 136) - 1;
    }

    function _unanchored(uint256 record) private pure returns (bool) {
        return _same(uint40(record >> 16), 0);
    }

    function _isFinal(uint256 record) private pure returns (bool) {
        uint256 reason = uint8(record >> 232);
        bool other = _and(_not(_same(reason, 6)), _not(_same(reason, 8)));
        return _and(_less(0, uint40(record >> 152)), other);
    }

    /// @dev Whether it is finally revoked by an account that is trusted in that block.
    function _isEffective(uint256 record) private view returns (bool) {
        bool distrusted = _isDistrusted(uint16(record >> 136), uint40(record >> 152));
        return _and(_isFinal(record), _not(distrusted));
    }

    /// @dev Of an account of the watched issuer.
    function _isDistrusted(uint16 index, uint256 inBlock) private view returns (bool) {
        uint256 from = uint40(_load(_slot(watchedId, 4, bytes32(uint256(index)))) >> 160);
        return _and(_less(0, from), _less(from, inBlock + 1));
    }

    // Without branches, which would multiply the paths.

    function _same(uint256 a, uint256 b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            yes := eq(a, b)
        }
    }

    function _less(uint256 a, uint256 b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            yes := lt(a, b)
        }
    }

    function _and(bool a, bool b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            yes := and(a, b)
        }
    }

    function _or(bool a, bool b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            yes := or(a, b)
        }
    }

    function _not(bool a) private pure returns (bool yes) {
        assembly ("memory-safe") {
            yes := iszero(a)
        }
    }

    function _pick(bool first, uint256 a, uint256 b) private pure returns (uint256 picked) {
        assembly ("memory-safe") {
            picked := xor(b, and(sub(0, first), xor(a, b)))
        }
    }

    function _list(bytes32 h, bytes32 g) private pure returns (bytes32[] memory list) {
        list = new bytes32[](2);
        (list[0], list[1]) = (h, g);
    }
}

contract RegistryProof is RegistryChecks {
    function _reached() internal override {}
}

/// @dev Shows that no check above is empty: Halmos must find, for each, a call that succeeds.
contract ReachableProof is RegistryChecks {
    function _reached() internal pure override {
        assert(false);
    }
}
