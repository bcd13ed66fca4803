// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IDocumentRegistry
/// @notice The source of truth about documents: who issued which, when, until when it is valid, and whether it was
/// revoked. A document is known here by its `documentHash` only: the sha-256 of its sealed (encrypted) bytes, which is
/// also the digest of its IPFS CID. Nothing about a subject stands on the chain.
///
/// Repeats. A single write that was done already reverts (`issue`, `issueBatch`, `revoke`, `revokeBatch`, `supersede`), so
/// that nobody takes it for his own doing. A list skips what was done already (`issueMany`, `revokeMany`,
/// `revokeInBatch`), so that nobody can sink the rest of it. A signed message that was carried out already is a no-op, so
/// that two relayers may bring the same one.
/// @dev Warning: all times are seconds of the Unix epoch; `validUntil` is the *first* second at which a document is no
/// longer valid, and 0 means that it never expires.
/// @dev Warning: block numbers are those of `eth_getLogs`. On Arbitrum, where `block.number` is another one, they come from
/// ArbSys; deployment reverts with `UnknownBlockNumbers` where neither can be told.
/// @dev State sits at ERC-7201 position `document-registry.storage`. Storage proofs rely on it, so the layout is part of this
/// interface; docs/contract.md lists every slot.
interface IDocumentRegistry {
    /// @notice What a document is, as of the block that answers.
    /// @dev The first that applies of Superseded, Revoked, Distrusted, Expired, Valid.
    enum Status {
        NotIssued,
        Valid,
        Expired,
        Revoked,
        Superseded,
        Distrusted
    }

    /// @notice The record of one document. 256 bits: one storage slot, packed in this order from the lowest bit.
    /// @param issuerId The issuer of record; 0 when there is no record.
    /// @param accountIndex Which of the issuer's accounts issued it.
    /// @param anchoredBlock The block of the `DocumentIssued` event.
    /// @param anchoredAt The time of that block.
    /// @param validUntil The first second at which it is no longer valid; 0 = never expires.
    /// @param revokedBlock The block of the `DocumentRevoked` event; 0 = not revoked.
    /// @param revokedAt The time of that block.
    /// @param reason The RFC 5280 reason code of the revocation; means nothing while `revokedBlock` is 0.
    /// @dev Of a document of a batch it is put together: issuer, account, block and time from the batch, the expiry as
    /// proven, the revocation its own, else that of the batch. The events then are `BatchIssued`, and
    /// `DocumentInBatchRevoked` or `BatchRevoked`.
    struct Record {
        uint32 issuerId;
        uint16 accountIndex;
        uint40 anchoredBlock;
        uint40 anchoredAt;
        uint40 validUntil;
        uint40 revokedBlock;
        uint40 revokedAt;
        uint8 reason;
    }

    /// @notice The record of one batch. 256 bits, packed like a Record, with the size in the place of the expiry.
    /// @param issuerId The issuer of record; 0 when there is no batch.
    /// @param accountIndex Which of the issuer's accounts issued it.
    /// @param anchoredBlock The block of the `BatchIssued` event.
    /// @param anchoredAt The time of that block.
    /// @param size How many documents it holds.
    /// @param revokedBlock The block of the `BatchRevoked` event; 0 = not revoked as a whole.
    /// @param revokedAt The time of that block.
    /// @param reason The RFC 5280 reason code; means nothing while `revokedBlock` is 0.
    struct Batch {
        uint32 issuerId;
        uint16 accountIndex;
        uint40 anchoredBlock;
        uint40 anchoredAt;
        uint40 size;
        uint40 revokedBlock;
        uint40 revokedAt;
        uint8 reason;
    }

    /// @notice The revocation of one document of an issuer's batches.
    /// @param revokedBlock The block of the `DocumentInBatchRevoked` event; 0 = not revoked.
    /// @param revokedAt The time of that block.
    /// @param reason The RFC 5280 reason code; means nothing while `revokedBlock` is 0.
    struct Revocation {
        uint40 revokedBlock;
        uint40 revokedAt;
        uint8 reason;
    }

    /// @notice An issuer: a person or organisation, whatever accounts it uses.
    /// @param name The name that the admin registered.
    /// @param uri Where the issuer says who it is.
    /// @param accountCount How many accounts it has ever had; their indexes are 0 … accountCount - 1.
    struct Issuer {
        string name;
        string uri;
        uint16 accountCount;
    }

    /// @notice What an account may do.
    /// @param issuerId The issuer that it belongs to; 0 when it belongs to none.
    /// @param accountIndex Its index among the issuer's accounts.
    /// @param active Whether it may issue and revoke now.
    /// @param distrustedFrom What it issued at or after this block reads Distrusted; 0 = trusted throughout.
    struct Account {
        uint32 issuerId;
        uint16 accountIndex;
        bool active;
        uint40 distrustedFrom;
    }

    /// @notice All that a verifier needs about one document, read at one block.
    /// @param chainId The chain that answers, so that a verifier need not ask for it apart.
    /// @param blockNumber The block that this is true for.
    /// @param blockTime The time of that block.
    /// @param status Its status as of that block.
    /// @param record Its record; all zero when there is none.
    /// @param account The account that issued it.
    /// @param issuerName The issuer's name, as registered.
    /// @param issuerUri The issuer's URI, as registered.
    /// @param distrustedFrom What that account issued at or after this block reads Distrusted; 0 = trusted throughout.
    struct Verification {
        uint256 chainId;
        uint256 blockNumber;
        uint256 blockTime;
        Status status;
        Record record;
        address account;
        string issuerName;
        string issuerUri;
        uint40 distrustedFrom;
    }

    /// @notice Leave of an account to carry out, for it, the message that it signed (EIP-712, domain `DocumentRegistry`
    /// version `1`; see `eip712Domain`).
    /// @param account The signer; a contract signs by EIP-1271.
    /// @param nonce Any number that the account has not used; in no order.
    /// @param deadline The last second at which the message may be brought.
    /// @param signature Over the message that the function names.
    struct Authorization {
        address account;
        uint256 nonce;
        uint256 deadline;
        bytes signature;
    }

    /// @notice An issuer was registered with its first account, whose index is 0.
    event IssuerRegistered(uint32 indexed issuerId, address indexed account, string name, string uri);

    /// @notice An issuer's name or URI was changed.
    event IssuerUpdated(uint32 indexed issuerId, string name, string uri);

    /// @notice An account may from now on issue and revoke for an issuer.
    event AccountAdded(uint32 indexed issuerId, address indexed account, uint16 accountIndex);

    /// @notice An account may no longer issue or revoke for its issuer. What it issued stays valid.
    event AccountRetired(uint32 indexed issuerId, address indexed account, uint16 accountIndex);

    /// @notice What an account issued at or after a block reads Distrusted from now on.
    event AccountDistrusted(
        uint32 indexed issuerId, address indexed account, uint16 accountIndex, uint40 fromBlock
    );

    /// @notice A document was issued.
    event DocumentIssued(
        bytes32 indexed documentHash, uint32 indexed issuerId, address account, uint40 validUntil
    );

    /// @notice `issueMany` left a document out, because a record stands under its hash already.
    /// @param holderIssuerId The issuer of that record; it may be the caller's own.
    event IssueSkipped(bytes32 indexed documentHash, uint32 indexed holderIssuerId);

    /// @notice A document was revoked.
    /// @param account Who revoked it.
    event DocumentRevoked(
        bytes32 indexed documentHash, uint32 indexed issuerId, address account, uint8 reason
    );

    /// @notice A document was replaced by another; `DocumentIssued` and `DocumentRevoked` stand beside this event.
    event DocumentSuperseded(
        bytes32 indexed documentHash, bytes32 indexed successorHash, uint32 indexed issuerId, address account
    );

    /// @notice A batch was issued.
    /// @param manifest The sha-256 of the batch's manifest; 0 = none.
    event BatchIssued(
        bytes32 indexed root, uint32 indexed issuerId, address account, uint40 size, bytes32 manifest
    );

    /// @notice A whole batch was revoked.
    /// @param account Who revoked it.
    event BatchRevoked(bytes32 indexed root, uint32 indexed issuerId, address account, uint8 reason);

    /// @notice A document was revoked in all batches of its issuer.
    /// @param root The batch that the revocation named.
    /// @param account Who revoked it.
    event DocumentInBatchRevoked(
        bytes32 indexed documentHash, uint32 indexed issuerId, bytes32 indexed root, address account, uint8 reason
    );

    /// @notice An account withdrew its signature from all messages with this nonce.
    event NonceCancelled(address indexed account, uint256 nonce);

    /// @notice Thrown when the caller is not an active account of any issuer.
    error NotAnIssuer(address account);
    /// @notice Thrown by `grantRole` for ISSUER_ROLE, which only the two functions named here give.
    error UseRegisterIssuerOrAddAccount(address account);
    /// @notice Thrown by `revokeRole` and `renounceRole` for ISSUER_ROLE, which only `retireAccount` takes.
    error UseRetireAccount(address account);
    /// @notice Thrown when an account that belongs to another issuer, or is active already, is registered or added.
    error AccountTaken(address account, uint32 issuerId);
    /// @notice Thrown when an account has never belonged to any issuer.
    error UnknownAccount(address account);
    /// @notice Thrown when a distrusted account is to be added again.
    error DistrustedAccount(address account, uint40 distrustedFrom);
    /// @notice Thrown when a distrust block is 0, after the current block, or not lower than the one that stands.
    error DistrustBlockOutOfRange(uint40 fromBlock);
    /// @notice Thrown when there is no issuer with that number.
    error UnknownIssuer(uint32 issuerId);
    /// @notice Thrown when an issuer has had 65,535 accounts already.
    error TooManyAccounts(uint32 issuerId);
    /// @notice Thrown when an issuer's name is empty.
    error EmptyName();
    /// @notice Thrown when the zero address is given as an account.
    error ZeroAccount();
    /// @notice Thrown when a hash or a Merkle root is zero.
    error ZeroHash();
    /// @notice Thrown when a record stands under the hash already.
    error AlreadyIssued(bytes32 documentHash, uint32 holderIssuerId);
    /// @notice Thrown when there is no record under the hash.
    error NotIssued(bytes32 documentHash);
    /// @notice Thrown when a document is revoked already.
    error AlreadyRevoked(bytes32 documentHash);
    /// @notice Thrown when the caller is neither of the document's issuer nor a REVOKER.
    error NotTheIssuerOf(bytes32 documentHash, address account);
    /// @notice Thrown when the issuer has issued that root already.
    error BatchAlreadyIssued(uint32 issuerId, bytes32 root);
    /// @notice Thrown when the issuer has issued no such root.
    error BatchNotIssued(uint32 issuerId, bytes32 root);
    /// @notice Thrown when a batch is revoked as a whole already.
    error BatchAlreadyRevoked(uint32 issuerId, bytes32 root);
    /// @notice Thrown when the caller is neither of the batch's issuer nor a REVOKER.
    error NotTheIssuerOfBatch(uint32 issuerId, bytes32 root, address account);
    /// @notice Thrown when a batch is said to hold nothing.
    error EmptyBatch(bytes32 root);
    /// @notice Thrown when a revocation reason is not one of RFC 5280 §5.3.1 that can be final.
    error UnknownReason(uint8 reason);
    /// @notice Thrown when a list is empty.
    error EmptyList();
    /// @notice Thrown when two lists that belong together differ in length.
    error LengthMismatch(uint256 documentHashes, uint256 validUntils);
    /// @notice Thrown when a list is longer than MAX_LIST.
    error ListTooLong(uint256 length);
    /// @notice Thrown when a signed message comes after its deadline.
    error AuthorizationExpired(uint256 deadline);
    /// @notice Thrown when the nonce of a signed message is used or cancelled.
    error NonceUsed(address account, uint256 nonce);
    /// @notice Thrown when a signature is not the account's own over this very message.
    error WrongSignature(address account);
    /// @notice Thrown at deployment when something that is not ArbSys answers at its address: which block numbers
    /// `eth_getLogs` uses there cannot be told.
    error UnknownBlockNumbers();

    /// @notice The role of the active accounts of the issuer table.
    /// @dev Warning: `grantRole`, `revokeRole` and `renounceRole` refuse it, also for the admin; the table decides alone.
    function ISSUER_ROLE() external view returns (bytes32);

    /// @notice The role of those who may revoke any document or batch, for issuers whose keys are lost.
    function REVOKER_ROLE() external view returns (bytes32);

    /// @notice The most elements that a list may have. (A transaction of 16,777,216 gas ends earlier for `issueMany`.)
    function MAX_LIST() external view returns (uint256);

    // ---- issuers ----------------------------------------------------------------------------------------------------

    /// @notice Registers an issuer with its first account; for the admin.
    /// @param account The account that may issue for it.
    /// @param name What verifiers are shown; not empty.
    /// @param uri Where the issuer says who it is, for verifiers to compare; may be empty.
    /// @return issuerId Its number in this registry, from 1.
    function registerIssuer(address account, string calldata name, string calldata uri)
        external
        returns (uint32 issuerId);

    /// @notice Changes what verifiers are shown for an issuer, its old documents included; for the admin.
    function updateIssuer(uint32 issuerId, string calldata name, string calldata uri) external;

    /// @notice Lets an account issue and revoke for an issuer: a new one, or one that the same issuer retired before, which
    /// then keeps its index; for the admin.
    /// @dev Warning: an account belongs to its first issuer for ever.
    /// @return accountIndex Its index among the issuer's accounts.
    function addAccount(uint32 issuerId, address account) external returns (uint16 accountIndex);

    /// @notice Takes from an account the right to issue and revoke; what it issued stays valid. For the admin, and for the
    /// account itself.
    function retireAccount(address account) external;

    /// @notice Retires all accounts of an issuer; its documents stay valid and only a REVOKER can revoke them. For the admin.
    /// A no-op where all are retired.
    /// @dev Warning: it reads every account that the issuer has had; if one transaction cannot, retire them one by one.
    function withdrawIssuer(uint32 issuerId) external;

    /// @notice For a stolen key: retires the account for good, and what it issued at or after a block reads Distrusted. The
    /// issuer's other accounts are untouched. For the admin.
    /// @dev Warning: revocations by the thief stand; a revocation is final whoever made it.
    /// @param fromBlock The first distrusted block: from 1 to the current one, and lower than the one that stands.
    function distrustFrom(address account, uint40 fromBlock) external;

    // ---- documents --------------------------------------------------------------------------------------------------

    /// @notice Anchors one document. Reverts if a record stands under its hash, whoever holds it.
    /// @dev Warning: an expiry in the past is accepted and reads Expired, so that a late re-anchoring cannot fail.
    function issue(bytes32 documentHash, uint40 validUntil) external;

    /// @notice Anchors many documents. Skips a hash that has a record, with `IssueSkipped`.
    /// @dev Warning: never reverts on a collision, so that nobody's front-running or repeat can sink a batch. Read the
    /// records, not the absence of a revert.
    function issueMany(bytes32[] calldata documentHashes, uint40[] calldata validUntils) external;

    /// @notice Revokes a document for ever; for any active account of its issuer, or a REVOKER.
    /// @param reason RFC 5280 §5.3.1 code: 0 unspecified, 1 keyCompromise, 2 cACompromise, 3 affiliationChanged,
    /// 4 superseded, 5 cessationOfOperation, 9 privilegeWithdrawn, 10 aACompromise. 6 (certificateHold) and 8
    /// (removeFromCRL) are refused: a revocation here is final.
    function revoke(bytes32 documentHash, uint8 reason) external;

    /// @notice Revokes many documents for the same reason, as `revoke` does. Skips those revoked already, silently: their
    /// first reason stands.
    function revokeMany(bytes32[] calldata documentHashes, uint8 reason) external;

    /// @notice Issues a document in the place of another of the same issuer, which then reads Superseded; for any active
    /// account of that issuer.
    function supersede(bytes32 documentHash, bytes32 successorHash, uint40 successorValidUntil) external;

    // ---- batches ----------------------------------------------------------------------------------------------------

    /// @notice Anchors any number of documents by one Merkle root: OpenZeppelin's StandardMerkleTree over
    /// `(bytes32 documentHash, uint40 validUntil)`.
    /// @dev Batches are keyed by issuer and root: nobody can take another's root.
    /// @param root The root of the tree.
    /// @param size How many leaves the tree has. Proofs of a length that no such tree has are not believed.
    /// @param manifest The sha-256 of the list of its documents, for auditors; 0 = none. It stands in the event only.
    function issueBatch(bytes32 root, uint40 size, bytes32 manifest) external;

    /// @notice Revokes all documents of a batch for ever; for any active account of its issuer, or a REVOKER.
    /// @param reason As for `revoke`.
    function revokeBatch(uint32 issuerId, bytes32 root, uint8 reason) external;

    /// @notice Revokes documents of a batch for ever; for any active account of its issuer, or a REVOKER. Skips those
    /// revoked so already, silently: their first reason stands.
    /// @dev Warning: revocations are keyed by issuer and document, so they hold in all batches of the issuer, later ones too.
    /// No proof is asked for: an issuer must be able to revoke what it knows by hash only, and cannot touch another's.
    /// @param root A batch of that issuer; for auditors, it does not narrow the revocation.
    /// @param reason As for `revoke`.
    function revokeInBatch(uint32 issuerId, bytes32 root, bytes32[] calldata documentHashes, uint8 reason) external;

    // ---- delegated --------------------------------------------------------------------------------------------------

    /// @notice `issue` by a signature, sent by anyone. The issuer of record is the signer, whose right to issue is checked
    /// now. A no-op, nonce and signature unread, when the signer's issuer holds the hash with the same expiry already.
    /// @dev Signed: `Issue(address account,bytes32 documentHash,uint40 validUntil,uint256 nonce,uint256 deadline)`
    function issueFor(bytes32 documentHash, uint40 validUntil, Authorization calldata authorization) external;

    /// @notice `issueBatch` by a signature, sent by anyone. A no-op, nonce and signature unread, when the signer's issuer holds
    /// the root with the same size already.
    /// @dev Signed:
    /// `IssueBatch(address account,bytes32 root,uint40 size,bytes32 manifest,uint256 nonce,uint256 deadline)`
    function issueBatchFor(bytes32 root, uint40 size, bytes32 manifest, Authorization calldata authorization) external;

    /// @notice `revoke` by a signature, sent by anyone. A no-op, nonce and signature unread, when it is revoked already.
    /// @dev Signed: `Revoke(address account,bytes32 documentHash,uint8 reason,uint256 nonce,uint256 deadline)`
    function revokeFor(bytes32 documentHash, uint8 reason, Authorization calldata authorization) external;

    /// @notice `revokeBatch` by a signature, sent by anyone. A no-op, nonce and signature unread, when it is revoked already.
    /// @dev Signed:
    /// `RevokeBatch(address account,uint32 issuerId,bytes32 root,uint8 reason,uint256 nonce,uint256 deadline)`
    function revokeBatchFor(uint32 issuerId, bytes32 root, uint8 reason, Authorization calldata authorization) external;

    /// @notice `revokeInBatch` of one document by a signature, sent by anyone. A no-op, nonce and signature unread, when it is
    /// revoked so already.
    /// @dev Signed: `RevokeInBatch(address account,uint32 issuerId,bytes32 root,bytes32 documentHash,uint8 reason,`
    /// `uint256 nonce,uint256 deadline)`
    function revokeInBatchFor(
        uint32 issuerId,
        bytes32 root,
        bytes32 documentHash,
        uint8 reason,
        Authorization calldata authorization
    ) external;

    /// @notice Makes every message that the caller signed with this nonce void.
    function cancelNonce(uint256 nonce) external;

    // ---- views ------------------------------------------------------------------------------------------------------

    /// @notice The record under a hash; all zero when there is none. Never reverts.
    function recordOf(bytes32 documentHash) external view returns (Record memory);

    /// @notice The records under many hashes, in their order. Never reverts.
    function recordsOf(bytes32[] calldata documentHashes) external view returns (Record[] memory);

    /// @notice The status of a document as of this block. Never reverts.
    function statusOf(bytes32 documentHash) external view returns (Status);

    /// @notice Status, record, account and issuer of a document in one call. Never reverts.
    function verificationOf(bytes32 documentHash) external view returns (Verification memory);

    /// @notice A batch of an issuer; all zero when there is none. Never reverts.
    function batchOf(uint32 issuerId, bytes32 root) external view returns (Batch memory);

    /// @notice The revocation of a document in an issuer's batches; all zero when there is none. Never reverts.
    /// @dev Warning: a revocation of the whole batch is in `batchOf`; `statusInBatch` reads both.
    function revocationOf(uint32 issuerId, bytes32 documentHash) external view returns (Revocation memory);

    /// @notice The status of a document of a batch as of this block; NotIssued when there is no such batch, or the proof does
    /// not lead to its root or has a length that no tree of its size has. Never reverts.
    function statusInBatch(
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32 root,
        bytes32[] calldata proof
    ) external view returns (Status);

    /// @notice What `verificationOf` is for a single document; of a document that is not in the batch it says no more than
    /// NotIssued, as of which block. Never reverts.
    function verificationInBatch(
        uint32 issuerId,
        bytes32 documentHash,
        uint40 validUntil,
        bytes32 root,
        bytes32[] calldata proof
    ) external view returns (Verification memory);

    /// @notice How many issuers there are; their numbers are 1 … issuerCount. Never reverts.
    function issuerCount() external view returns (uint32);

    /// @notice An issuer; empty when there is none with that number. Never reverts.
    function issuerOf(uint32 issuerId) external view returns (Issuer memory);

    /// @notice What an account may do. Never reverts.
    function accountOf(address account) external view returns (Account memory);

    /// @notice The address of an issuer's account; zero when there is none. Never reverts.
    function accountAt(uint32 issuerId, uint16 accountIndex) external view returns (address);

    /// @notice Whether an account has used or cancelled a nonce. Never reverts.
    function isNonceUsed(address account, uint256 nonce) external view returns (bool);
}
