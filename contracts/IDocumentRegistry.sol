// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IDocumentRegistry
/// @notice The source of truth about documents: who issued which, when, until when it is valid, and
/// whether it was revoked. The registry knows a document only by its `documentHash`: the sha-256 of
/// its sealed (encrypted) bytes, which is also the digest of its IPFS CID. Nothing about a subject
/// is on the chain.
///
/// **Namespaces.** Every record, batch and account belongs to one issuer, and every write names the
/// `issuerId`. Nothing that one issuer does can touch what another issuer holds: the same hash,
/// root or address can occur under any number of issuers. Only `hasRole(ISSUER_ROLE, account)`
/// looks at all of them together.
///
/// **Permissions.** What an account may do for an issuer is a sum of bits: 1 ISSUE, 2 REVOKE, 4
/// MANAGE, 8 DELEGATE. MANAGE accounts run the issuer; DELEGATE accounts may also act through the
/// trusted forwarder (ERC-2771), so that somebody else pays for the transaction.
///
/// **Revocation.** A document has one revocation, whether it was issued alone or in a batch; a
/// batch has its own, which holds for every proof to its root. Reason 6 suspends, `release` ends a
/// suspension, every other reason is final. A final revocation changes only if its revoker is
/// distrusted from its block or an earlier one, and only through an account with REVOKE and MANAGE.
/// A release counts as a suspension once its account is distrusted from its block or an earlier
/// one: an account with REVOKE releases it again or makes it final.
///
/// **Repeats.** A single write that was already done reverts, so that nobody mistakes it for their
/// own. A list skips what needs no change or what the caller may not change, so that one element
/// cannot sink the others. A zero hash reverts the whole list; so does a hash that was not issued,
/// where no batch is named.
/// @dev Warning: all times are seconds of the Unix epoch. `validUntil` is the *first* second at
/// which a document is no longer valid; 0 means that it never expires.
/// @dev Warning: block numbers are those of `eth_getLogs`. On Arbitrum, where `block.number` is the
/// parent chain's, they come from ArbSys.
/// @dev The state alone suffices to verify, without any event. It starts at the ERC-7201 position
/// of `document-registry.storage`. Storage proofs rely on the layout, so it is part of this
/// interface; docs/contract.md lists every slot.
interface IDocumentRegistry {
    /// @notice What a document is, as of the block that answers.
    /// @dev NotIssued without an anchoring part; otherwise the first that applies of Distrusted,
    /// Superseded, Revoked, Suspended, Expired, Valid. Suspended is also what was released by an
    /// account that is distrusted from the block of the release or an earlier one.
    enum Status {
        NotIssued,
        Valid,
        Expired,
        Suspended,
        Revoked,
        Superseded,
        Distrusted
    }

    /// @notice The record of one document: one storage slot, packed in this order from the lowest
    /// bit. The first four fields are the anchoring part, the other five the revocation part.
    /// @param accountIndex Which of the issuer's accounts issued it.
    /// @param anchoredBlock The block of the `DocumentIssued` event; 0 = not issued alone.
    /// @param anchoredAt The time of that block.
    /// @param validUntil The first second at which it is no longer valid; 0 = never expires.
    /// @param revokerIndex Which of the issuer's accounts last revoked, suspended or released it.
    /// @param revokedBlock The block in which that happened; 0 = never.
    /// @param revokedAt The time of that block.
    /// @param reason The RFC 5280 reason code: 6 = suspended, 8 = released (suspended where the
    /// releaser is distrusted), any other = revoked. It means nothing while `revokedBlock` is 0.
    /// @param setAside Whether a final revocation was ever released or replaced, because its
    /// revoker is distrusted.
    /// @dev Warning: a document of a batch may have a revocation part here without an anchoring
    /// part.
    /// @dev For a document in a batch, the views put a record together: the anchoring part from the
    /// batch, the expiry from the proof, and the revocation part from the batch or the document,
    /// whichever is chosen (see `verificationInBatch`).
    struct Record {
        uint16 accountIndex;
        uint40 anchoredBlock;
        uint40 anchoredAt;
        uint40 validUntil;
        uint16 revokerIndex;
        uint40 revokedBlock;
        uint40 revokedAt;
        uint8 reason;
        bool setAside;
    }

    /// @notice The record of one batch: one storage slot, packed like a Record with the size in the
    /// place of the expiry.
    /// @param accountIndex Which of the issuer's accounts issued it.
    /// @param anchoredBlock The block of the `BatchIssued` event; 0 = not issued.
    /// @param anchoredAt The time of that block.
    /// @param size How many documents it holds.
    /// @param revokerIndex Which of the issuer's accounts last revoked, suspended or released it.
    /// @param revokedBlock The block in which that happened; 0 = never.
    /// @param revokedAt The time of that block.
    /// @param reason The RFC 5280 reason code, as in a Record.
    /// @param setAside As in a Record.
    struct Batch {
        uint16 accountIndex;
        uint40 anchoredBlock;
        uint40 anchoredAt;
        uint40 size;
        uint16 revokerIndex;
        uint40 revokedBlock;
        uint40 revokedAt;
        uint8 reason;
        bool setAside;
    }

    /// @notice An account of an issuer.
    /// @param account Its address; zero when the issuer never had this account.
    /// @param accountIndex Its index among the issuer's accounts, in the order of their adding.
    /// @param permissions What it may do now, a sum of 1 ISSUE, 2 REVOKE, 4 MANAGE, 8 DELEGATE; 0
    /// once it is retired.
    /// @param addedBlock The block in which it was added.
    /// @param changedBlock The block in which its permissions were last set anew; 0 = never.
    /// @param retiredBlock The block in which it was retired; 0 = not retired.
    /// @param distrustedFrom What it issued at or after this block reads Distrusted, and what it
    /// released then reads Suspended; 0 = trusted.
    struct Account {
        address account;
        uint16 accountIndex;
        uint8 permissions;
        uint40 addedBlock;
        uint40 changedBlock;
        uint40 retiredBlock;
        uint40 distrustedFrom;
    }

    /// @notice An issuer: a person or an organisation, whatever accounts it uses.
    /// @param name The name that the admin registered.
    /// @param uri Where the issuer says who it is.
    /// @param documentCount How many records have an anchoring part: documents issued alone.
    /// @param batchCount How many batches were issued.
    /// @param accountCount How many accounts it has ever had; their indexes are 0 … accountCount -
    /// 1.
    /// @param changedBlock The block in which the admin last registered, renamed, closed or
    /// reopened it.
    /// @param closedBlock The block in which the admin closed it; 0 = open.
    /// @dev The counts prove a list complete: N distinct hashes whose slots have an anchoring part,
    /// where N is the count at the same block, are all of them.
    struct Issuer {
        string name;
        string uri;
        uint40 documentCount;
        uint40 batchCount;
        uint16 accountCount;
        uint40 changedBlock;
        uint40 closedBlock;
    }

    /// @notice A MANAGE account that the admin proposes for an issuer that lost its keys.
    /// @param account The proposed account; zero when there is no proposal.
    /// @param acceptFrom The first second at which it may accept.
    /// @param acceptUntil The last second at which it may accept.
    struct Proposal {
        address account;
        uint40 acceptFrom;
        uint40 acceptUntil;
    }

    /// @notice A document of an issuer.
    struct DocumentKey {
        uint32 issuerId;
        bytes32 documentHash;
    }

    /// @notice All that a verifier needs to know about one document, read at one block.
    /// @param chainId The chain that answers.
    /// @param blockNumber The block that this is true for.
    /// @param blockTime The time of that block.
    /// @param status The document's status as of that block.
    /// @param record Its record. Where the status is NotIssued, nothing below is filled in.
    /// @param account The account that issued it.
    /// @param revoker The account that last revoked, suspended or released it; all zero while the
    /// record has no revocation part.
    /// @param issuer The issuer, as registered.
    struct Verification {
        uint256 chainId;
        uint256 blockNumber;
        uint256 blockTime;
        Status status;
        Record record;
        Account account;
        Account revoker;
        Issuer issuer;
    }

    // ---- events ---------------------------------------------------------------------------------
    // `by` and `account` name who acted: for a forwarded call the signer, not the sender of the
    // transaction.

    /// @notice The admin registered an issuer; `AccountAdded` for its first account follows.
    event IssuerRegistered(uint32 indexed issuerId, string name, string uri, address by);

    /// @notice The admin changed an issuer's name or URI.
    event IssuerUpdated(uint32 indexed issuerId, string name, string uri, address by);

    /// @notice The admin closed an issuer: it can no longer issue.
    event IssuerClosed(uint32 indexed issuerId, address by);

    /// @notice The admin reopened an issuer.
    event IssuerReopened(uint32 indexed issuerId, address by);

    /// @notice An account was added to an issuer.
    event AccountAdded(
        uint32 indexed issuerId,
        address indexed account,
        uint16 accountIndex,
        uint8 permissions,
        address by
    );

    /// @notice An account's permissions were set anew.
    event PermissionsChanged(
        uint32 indexed issuerId, address indexed account, uint8 permissions, address by
    );

    /// @notice An account was retired: it can do nothing more, and what it issued stays valid.
    event AccountRetired(uint32 indexed issuerId, address indexed account, address by);

    /// @notice What an account issued at or after a block reads Distrusted from now on, and what it
    /// released then reads Suspended.
    event AccountDistrusted(
        uint32 indexed issuerId, address indexed account, uint40 fromBlock, address by
    );

    /// @notice The admin proposed a MANAGE account; an earlier proposal is void.
    event AccountProposed(
        uint32 indexed issuerId, address indexed account, uint40 acceptFrom, address by
    );

    /// @notice The admin withdrew the proposal.
    event ProposalWithdrawn(uint32 indexed issuerId, address indexed account, address by);

    /// @notice A MANAGE account of the issuer vetoed the proposal.
    event ProposalVetoed(uint32 indexed issuerId, address indexed account, address by);

    /// @notice The proposed account accepted; `AccountAdded` follows.
    event ProposalAccepted(uint32 indexed issuerId, address indexed account);

    /// @notice A document was issued, or issued again over a Distrusted record.
    event DocumentIssued(
        bytes32 indexed documentHash, uint32 indexed issuerId, address account, uint40 validUntil
    );

    /// @notice `issueMany` left out a document, because its issuer already has a record under this
    /// hash.
    event IssueSkipped(bytes32 indexed documentHash, uint32 indexed issuerId, address account);

    /// @notice A document was revoked, or suspended (reason 6).
    event DocumentRevoked(
        bytes32 indexed documentHash, uint32 indexed issuerId, address account, uint8 reason
    );

    /// @notice A document was released.
    event DocumentReleased(
        bytes32 indexed documentHash, uint32 indexed issuerId, address account
    );

    /// @notice A document was superseded; `DocumentIssued` of the successor and `DocumentRevoked`
    /// or `DocumentInBatchRevoked` come with this event.
    event DocumentSuperseded(
        bytes32 indexed documentHash,
        bytes32 indexed successorHash,
        uint32 indexed issuerId,
        address account
    );

    /// @notice A batch was issued, or issued again over a Distrusted root.
    /// @param manifest The sha-256 of the batch's manifest; 0 = none.
    event BatchIssued(
        bytes32 indexed root,
        uint32 indexed issuerId,
        address account,
        uint40 size,
        bytes32 manifest
    );

    /// @notice A whole batch was revoked, or suspended (reason 6).
    event BatchRevoked(
        bytes32 indexed root, uint32 indexed issuerId, address account, uint8 reason
    );

    /// @notice A whole batch was released; documents revoked on their own stay so.
    event BatchReleased(bytes32 indexed root, uint32 indexed issuerId, address account);

    /// @notice A document of a batch was revoked, or suspended (reason 6). It writes the same slot
    /// as `DocumentRevoked`.
    /// @param root The batch that the caller named.
    event DocumentInBatchRevoked(
        bytes32 indexed documentHash,
        uint32 indexed issuerId,
        bytes32 indexed root,
        address account,
        uint8 reason
    );

    /// @notice A document of a batch was released.
    /// @param root The batch that the caller named.
    event DocumentInBatchReleased(
        bytes32 indexed documentHash,
        uint32 indexed issuerId,
        bytes32 indexed root,
        address account
    );

    /// @notice A final revocation was set aside, because its revoker is distrusted from its block
    /// or an earlier one. The event that says what stands in its place follows.
    /// @param key The document's hash or the batch's root.
    event RevocationSetAside(bytes32 indexed key, uint32 indexed issuerId, address account);

    // ---- errors ---------------------------------------------------------------------------------
    // A `key` is a document's hash or a batch's root, as the function that threw the error has it.

    /// @notice Thrown when the caller lacks permissions for what it called; DELEGATE is among them
    /// where the call was forwarded.
    /// @param missing The sum of the permissions that it lacks.
    error MissingPermissions(uint32 issuerId, address account, uint8 missing);
    /// @notice Thrown when permissions are 0 or hold an unknown bit.
    error InvalidPermissions(uint8 permissions);
    /// @notice Thrown when the address can never be an account: zero, this registry or its
    /// forwarder. The forwarder cannot become the admin either.
    error InvalidAccount(address account);
    /// @notice Thrown when the issuer has or had this account already.
    error KnownAccount(uint32 issuerId, address account);
    /// @notice Thrown when the issuer never had this account.
    error UnknownAccount(uint32 issuerId, address account);
    /// @notice Thrown when an account is retired already.
    error RetiredAccount(uint32 issuerId, address account);
    /// @notice Thrown when an issuer has had 65,535 accounts already.
    error TooManyAccounts(uint32 issuerId);
    /// @notice Thrown when a distrust block is 0, later than the current block, or not lower than
    /// the one that stands.
    error DistrustBlockOutOfRange(uint40 fromBlock);
    /// @notice Thrown when there is no issuer with this number.
    error UnknownIssuer(uint32 issuerId);
    /// @notice Thrown when a closed issuer would issue, or is closed again.
    error ClosedIssuer(uint32 issuerId);
    /// @notice Thrown when an open issuer is reopened.
    error OpenIssuer(uint32 issuerId);
    /// @notice Thrown when an issuer's name is empty or longer than 200 bytes.
    error InvalidNameLength(uint256 length);
    /// @notice Thrown when an issuer's URI is longer than 400 bytes.
    error UriTooLong(uint256 length);
    /// @notice Thrown when an issuer has no proposal that could be vetoed or withdrawn.
    error NoProposal(uint32 issuerId);
    /// @notice Thrown when an account accepts that is not the proposed one.
    error NotProposed(uint32 issuerId, address account);
    /// @notice Thrown when a proposal is accepted before or after the time set for it.
    error OutsideAcceptWindow(uint32 issuerId, uint40 acceptFrom, uint40 acceptUntil);
    /// @notice Thrown when `grantRole`, `revokeRole` or `renounceRole` names a role other than
    /// DEFAULT_ADMIN_ROLE.
    error UnsupportedRole(bytes32 role);
    /// @notice Thrown when a document's hash or a Merkle root is zero.
    error ZeroHash();
    /// @notice Thrown when the issuer has issued this already, and not through a distrusted
    /// account.
    error AlreadyIssued(uint32 issuerId, bytes32 key);
    /// @notice Thrown when the issuer has not issued this.
    error NotIssued(uint32 issuerId, bytes32 key);
    /// @notice Thrown when a final revocation stands that the caller may not set aside.
    error AlreadyRevoked(uint32 issuerId, bytes32 key);
    /// @notice Thrown when this is suspended already, be it by a release that does not count.
    error AlreadySuspended(uint32 issuerId, bytes32 key);
    /// @notice Thrown when there is nothing to release.
    error NotSuspended(uint32 issuerId, bytes32 key);
    /// @notice Thrown when a document would supersede itself.
    error SameDocument(bytes32 documentHash);
    /// @notice Thrown when the size of a batch is 0.
    error EmptyBatch(bytes32 root);
    /// @notice Thrown when a reason is not one of RFC 5280 §5.3.1, or is 8, which only `release`
    /// writes.
    error UnknownReason(uint8 reason);
    /// @notice Thrown when a list is empty.
    error EmptyList();
    /// @notice Thrown when a list is longer than MAX_LIST.
    error ListTooLong(uint256 length);
    /// @notice Thrown when two lists that belong together differ in length.
    error LengthMismatch(uint256 documentHashes, uint256 validUntils);
    /// @notice Thrown by `changeDefaultAdminDelay`: the delay of the admin's transfer is the one
    /// set at deployment.
    error AdminDelayIsFixed();
    /// @notice Thrown at deployment when the delay is shorter than a day or longer than a year.
    error DelayOutOfRange(uint48 delay);
    /// @notice Thrown when a block number or a time does not fit 40 bits, as on a chain whose clock
    /// counts milliseconds.
    error ClockOutOfRange(uint256 blockNumber, uint256 blockTime);
    /// @notice Thrown at deployment when the code at the address of ArbSys does not answer like
    /// ArbSys: it is then unknown which block numbers `eth_getLogs` uses.
    error UnknownBlockNumbers();

    // ---- the admin ------------------------------------------------------------------------------
    // These functions know only `msg.sender`: a forwarded call never comes from the admin.

    /// @notice Registers an issuer with its first account, which gets MANAGE.
    /// @param account The account that runs the issuer: a cold key or a multi-signature wallet.
    /// @param name What verifiers are shown, 1 to 200 bytes.
    /// @param uri Where the issuer says who it is, for verifiers to compare; at most 400 bytes.
    /// @return issuerId Its number in this registry, from 1.
    function registerIssuer(address account, string calldata name, string calldata uri)
        external
        returns (uint32 issuerId);

    /// @notice Changes what verifiers are shown for an issuer, for its old documents too.
    function updateIssuer(uint32 issuerId, string calldata name, string calldata uri) external;

    /// @notice Ends an issuer's right to issue, also to issue again. Revoking, releasing and
    /// managing go on, and no status changes.
    /// @dev Warning: after the theft of a MANAGE key this leaves what the thief issued and released
    /// as it is.
    function closeIssuer(uint32 issuerId) external;

    /// @notice Lets a closed issuer issue again.
    function reopenIssuer(uint32 issuerId) external;

    /// @notice Proposes a MANAGE account for an issuer that lost its keys. The account may accept
    /// after `proposalDelay` and for 30 days; until then any MANAGE account can veto.
    /// @dev Warning: a new proposal replaces an older one and starts the delay anew.
    function proposeAccount(uint32 issuerId, address account) external;

    /// @notice Withdraws the proposal for an issuer.
    function withdrawProposal(uint32 issuerId) external;

    // ---- accounts -------------------------------------------------------------------------------

    /// @notice Adds an account that the issuer never had; needs MANAGE.
    /// @param permissions A sum of 1 ISSUE, 2 REVOKE, 4 MANAGE, 8 DELEGATE.
    /// @return accountIndex Its index among the issuer's accounts.
    function addAccount(uint32 issuerId, address account, uint8 permissions)
        external
        returns (uint16 accountIndex);

    /// @notice Sets what an account may do; needs MANAGE.
    /// @dev Warning: nothing stops the last MANAGE account from giving up MANAGE. The issuer then
    /// needs a proposal of the admin.
    function setPermissions(uint32 issuerId, address account, uint8 permissions) external;

    /// @notice Takes all permissions from an account, for good; what it issued stays valid. Needs
    /// MANAGE, or is called by the account itself.
    /// @dev Warning: the address can never be added to this issuer again.
    function retireAccount(uint32 issuerId, address account) external;

    /// @notice For a stolen key: retires the account; what it issued at or after a block reads
    /// Distrusted, and what it was the last to release then reads Suspended, until another account
    /// releases it. Needs MANAGE. The issuer's other accounts are untouched.
    /// @dev Warning: this alone makes no document valid. What the thief finally revoked stays
    /// revoked until an account with REVOKE and MANAGE releases it or revokes it anew. If there was
    /// a suspension under it, suspend it instead of releasing it.
    /// @dev Warning: whoever holds MANAGE can distrust an honest account too, and then give itself
    /// REVOKE and release what that account finally revoked.
    /// @param fromBlock The first distrusted block, from 1 to the current one. It can be lowered
    /// later and never raised. Take one some blocks before the thief's first known act, which a
    /// reorg can move to an earlier block.
    function distrustFrom(uint32 issuerId, address account, uint40 fromBlock) external;

    /// @notice Rejects the admin's proposal; needs MANAGE.
    function vetoProposal(uint32 issuerId) external;

    /// @notice Makes the caller a MANAGE account, as the admin proposed. Never forwarded.
    /// @return accountIndex Its index among the issuer's accounts.
    function acceptProposal(uint32 issuerId) external returns (uint16 accountIndex);

    // ---- documents ------------------------------------------------------------------------------

    /// @notice Issues one document; needs ISSUE. Reverts if the issuer has a record under its hash,
    /// unless that record is Distrusted: then the document is issued again.
    /// @dev Warning: an expiry in the past is accepted and reads Expired, so that a late anchoring
    /// cannot fail.
    /// @dev Warning: issuing again keeps the revocation part. A document that was revoked stays so.
    function issue(uint32 issuerId, bytes32 documentHash, uint40 validUntil) external;

    /// @notice Issues many documents; needs ISSUE. Skips, with `IssueSkipped`, a hash under which
    /// the issuer has a record that is not Distrusted.
    /// @dev Warning: a skipped hash may stand with another expiry. Read the records, not the
    /// absence of a revert.
    function issueMany(
        uint32 issuerId,
        bytes32[] calldata documentHashes,
        uint40[] calldata validUntils
    ) external;

    /// @notice Revokes a document that was issued alone, or suspends it; needs REVOKE.
    /// @param reason The code of RFC 5280 §5.3.1: 0 unspecified, 1 keyCompromise, 2 cACompromise, 3
    /// affiliationChanged, 4 superseded, 5 cessationOfOperation, 9 privilegeWithdrawn, 10
    /// aACompromise, all of them final; 6 certificateHold, which suspends.
    function revoke(uint32 issuerId, bytes32 documentHash, uint8 reason) external;

    /// @notice Revokes or suspends many documents for the same reason, as `revoke` does. Skips
    /// those that stand finally revoked, and when suspending those that are suspended.
    /// @dev Warning: a hash that the issuer has not issued reverts the whole list.
    function revokeMany(uint32 issuerId, bytes32[] calldata documentHashes, uint8 reason)
        external;

    /// @notice Releases a suspended document, also one that reads Suspended because its releaser is
    /// distrusted; needs REVOKE. With MANAGE also a finally revoked one, where the revoker is
    /// distrusted from the block of the revocation or an earlier one.
    function release(uint32 issuerId, bytes32 documentHash) external;

    /// @notice Releases many documents, as `release` does. Skips those that are not suspended or
    /// that the caller may not release.
    /// @dev Warning: a hash that the issuer has not issued reverts the whole list.
    function releaseMany(uint32 issuerId, bytes32[] calldata documentHashes) external;

    /// @notice Issues a document in the place of another, which then reads Superseded; needs ISSUE
    /// and REVOKE.
    /// @param root The batch of the superseded document; 0 = it was issued alone. That it is in the
    /// batch is not proven.
    function supersede(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        bytes32 successorHash,
        uint40 successorValidUntil
    ) external;

    // ---- batches --------------------------------------------------------------------------------

    /// @notice Issues any number of documents by one Merkle root: OpenZeppelin's StandardMerkleTree
    /// over `(bytes32 documentHash, uint40 validUntil)`; needs ISSUE. A root that the issuer has
    /// issued reverts, unless it is Distrusted: then it is issued again.
    /// @param size How many leaves the tree has. A proof of a length that no such tree has is
    /// invalid.
    /// @param manifest The sha-256 of the batch's manifest; 0 = none. It is in the event only.
    function issueBatch(uint32 issuerId, bytes32 root, uint40 size, bytes32 manifest) external;

    /// @notice Revokes or suspends all documents of a batch; needs REVOKE.
    /// @param reason As for `revoke`.
    function revokeBatch(uint32 issuerId, bytes32 root, uint8 reason) external;

    /// @notice Releases a batch, on the terms of `release`.
    /// @dev Warning: documents of the batch that were revoked or suspended on their own stay so.
    function releaseBatch(uint32 issuerId, bytes32 root) external;

    /// @notice Revokes or suspends documents of a batch; needs REVOKE. Skips those that stand
    /// finally revoked, and when suspending those that are suspended.
    /// @dev Warning: a document's revocation holds over every path: in all batches of the issuer,
    /// later ones too, and if the document is issued alone. That it is in the batch is not proven:
    /// an issuer must be able to revoke what it knows by hash only.
    /// @param root A batch of this issuer.
    /// @param reason As for `revoke`.
    function revokeInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32[] calldata documentHashes,
        uint8 reason
    ) external;

    /// @notice Releases documents of a batch; needs REVOKE. Skips what is not suspended or may not
    /// be released, hashes that were never issued included.
    /// @dev Warning: this never lifts a suspension of the batch itself.
    /// @param root A batch of this issuer.
    function releaseInBatch(uint32 issuerId, bytes32 root, bytes32[] calldata documentHashes)
        external;

    // ---- views; none of them reverts ------------------------------------------------------------

    /// @notice A document's record; all zero when there is none.
    function recordOf(uint32 issuerId, bytes32 documentHash) external view returns (Record memory);

    /// @notice The records of many documents of an issuer, in their order.
    function recordsOf(uint32 issuerId, bytes32[] calldata documentHashes)
        external
        view
        returns (Record[] memory);

    /// @notice The status of a document that was issued alone.
    function statusOf(uint32 issuerId, bytes32 documentHash) external view returns (Status);

    /// @notice Everything about a document that was issued alone.
    function verificationOf(uint32 issuerId, bytes32 documentHash)
        external
        view
        returns (Verification memory);

    /// @notice Everything about many documents of any issuers, in their order, at one block.
    function verificationsOf(DocumentKey[] calldata keys)
        external
        view
        returns (Verification[] memory);

    /// @notice A batch; all zero when there is none.
    function batchOf(uint32 issuerId, bytes32 root) external view returns (Batch memory);

    /// @notice The status of a document in a batch; NotIssued where `verificationInBatch` says so.
    function statusInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] calldata proof
    ) external view returns (Status);

    /// @notice Everything about a document in a batch. NotIssued, and nothing else but the block,
    /// when there is no such batch, or the proof does not lead to its root or has a length that no
    /// tree of its size has.
    /// @dev The revocation shown is chosen from the document's and the batch's: a final one before
    /// a suspension; of two final ones or two suspensions the one of the earlier block, in the same
    /// block the document's; the document's where neither has effect. `setAside` is true if either
    /// has it.
    function verificationInBatch(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32[] calldata proof
    ) external view returns (Verification memory);

    /// @notice How many issuers there are; their numbers are 1 … issuerCount.
    function issuerCount() external view returns (uint32);

    /// @notice An issuer; empty when there is none with this number.
    function issuerOf(uint32 issuerId) external view returns (Issuer memory);

    /// @notice An account of an issuer; all zero when the issuer never had it.
    function accountOf(uint32 issuerId, address account) external view returns (Account memory);

    /// @notice The account with an index; all zero when there is none.
    function accountAt(uint32 issuerId, uint16 accountIndex) external view returns (Account memory);

    /// @notice The proposal for an issuer; all zero when there is none.
    /// @dev Warning: a proposal whose time has passed stays here until it is replaced, withdrawn or
    /// vetoed.
    function proposalOf(uint32 issuerId) external view returns (Proposal memory);

    /// @notice How many seconds must pass before a proposed account can accept; at least a day.
    function proposalDelay() external view returns (uint40);

    /// @notice The ERC-2771 forwarder, OpenZeppelin's `ERC2771Forwarder`, which this registry
    /// deployed. It carries signed messages to every issuer function but `acceptProposal`.
    /// @dev Warning: it checks ECDSA signatures only, and its nonces are sequential. A contract
    /// account sends its transactions itself. Its `executeBatch` uses up the nonce of a request
    /// whose call fails.
    function trustedForwarder() external view returns (address);

    /// @notice Whether an address is the forwarder, as ERC-2771 asks for it.
    function isTrustedForwarder(address forwarder) external view returns (bool);

    /// @notice The role of whoever holds ISSUE for at least one issuer: a view on the account
    /// tables of all issuers, for tools that know AccessControl. It says nothing about one issuer.
    /// @dev Warning: `grantRole`, `revokeRole` and `renounceRole` refuse it, for the admin too.
    function ISSUER_ROLE() external view returns (bytes32);

    /// @notice The maximum number of elements of a list. (A transaction of 16,777,216 gas ends
    /// earlier for `issueMany`.)
    function MAX_LIST() external view returns (uint256);
}
