// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IDocumentRegistry
/// @notice The source of truth about documents: who issued which, when, until when it is valid, and whether it was
/// revoked. A document is known here by its `documentHash` only: the sha-256 of its sealed (encrypted) bytes, which is
/// also the digest of its IPFS CID. Nothing about a subject stands on the chain.
/// @dev Warning: all times are seconds of the Unix epoch; `validUntil` is the *first* second at which a document is no
/// longer valid, and 0 means that it never expires.
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
    /// @param active Whether it may issue now.
    struct Account {
        uint32 issuerId;
        uint16 accountIndex;
        bool active;
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
    struct Verification {
        uint256 chainId;
        uint256 blockNumber;
        uint256 blockTime;
        Status status;
        Record record;
        address account;
        string issuerName;
        string issuerUri;
    }

    /// @notice An issuer was registered with its first account.
    event IssuerRegistered(uint32 indexed issuerId, address indexed account, string name, string uri);

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

    /// @notice Thrown when the caller is not an active account of any issuer.
    error NotAnIssuer(address account);
    /// @notice Thrown when ISSUER_ROLE is granted, revoked or renounced other than through the issuer table.
    error IssuerRoleIsTheIssuerTable(address account);
    /// @notice Thrown when an account that belongs to an issuer already is registered again.
    error AccountTaken(address account, uint32 issuerId);
    /// @notice Thrown when an issuer's name is empty.
    error EmptyName();
    /// @notice Thrown when the zero address is given as an account.
    error ZeroAccount();
    /// @notice Thrown when a hash is zero.
    error ZeroHash();
    /// @notice Thrown when a record stands under the hash already.
    error AlreadyIssued(bytes32 documentHash, uint32 holderIssuerId);
    /// @notice Thrown when there is no record under the hash.
    error NotIssued(bytes32 documentHash);
    /// @notice Thrown when a document is revoked already.
    error AlreadyRevoked(bytes32 documentHash);
    /// @notice Thrown when the caller is neither of the document's issuer nor a REVOKER.
    error NotTheIssuerOf(bytes32 documentHash, address account);
    /// @notice Thrown when a revocation reason is not one of RFC 5280 §5.3.1 that can be final.
    error UnknownReason(uint8 reason);
    /// @notice Thrown when a list is empty.
    error EmptyList();
    /// @notice Thrown when two lists that belong together differ in length.
    error LengthMismatch(uint256 documentHashes, uint256 validUntils);

    /// @notice Registers an issuer with its first account; for the admin.
    /// @param account The account that may issue for it.
    /// @param name What verifiers are shown; not empty.
    /// @param uri Where the issuer says who it is, for verifiers to compare; may be empty.
    /// @return issuerId Its number in this registry, from 1.
    function registerIssuer(address account, string calldata name, string calldata uri)
        external
        returns (uint32 issuerId);

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

    /// @notice The record under a hash; all zero when there is none. Never reverts.
    function recordOf(bytes32 documentHash) external view returns (Record memory);

    /// @notice The records under many hashes, in their order. Never reverts.
    function recordsOf(bytes32[] calldata documentHashes) external view returns (Record[] memory);

    /// @notice The status of a document as of this block. Never reverts.
    function statusOf(bytes32 documentHash) external view returns (Status);

    /// @notice Status, record, account and issuer of a document in one call. Never reverts.
    function verificationOf(bytes32 documentHash) external view returns (Verification memory);

    /// @notice An issuer; empty when there is none with that number. Never reverts.
    function issuerOf(uint32 issuerId) external view returns (Issuer memory);

    /// @notice What an account may do. Never reverts.
    function accountOf(address account) external view returns (Account memory);

    /// @notice The address of an issuer's account; zero when there is none. Never reverts.
    function accountAt(uint32 issuerId, uint16 accountIndex) external view returns (address);
}
