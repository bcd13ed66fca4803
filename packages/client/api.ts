// Made by `npm run generate` from the OpenAPI document of the gateway. Do not edit.

export type NewDocument = {
  /** Well-formed Unicode with at least one visible letter, digit, punctuation mark or symbol. It is kept exactly as sent. */
  subjectName: string
  /** Digits. */
  subjectId: string
  /** A category in lower snake case. */
  category: string
  /** A real date from 1970-01-02, at most 366 days after today (UTC). The form of an answer is accepted too. */
  issuedAt: string
  /** The last valid day, not before issuedAt; absent or null if the document never expires. */
  expiresAt?: string | null
  /** At most 32768 bytes of UTF-8 in total. */
  metadata?: Record<string, string>
}

export type IssuedDocument = {
  publicId: PublicId
  subjectName: string
  subjectId: string
  category: string
  metadata?: Record<string, string>
  /** The documentHash of the document that this one supersedes. */
  supersedes?: string
  /** The documentHash of its successor, if this gateway issued it. */
  supersededBy?: string
  issuedAt: string
  /** The last valid day. */
  expiresAt?: string
  /** The first instant at which it is no longer valid. */
  validUntil?: string
  /** When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved. */
  createdAt?: string
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  /** The key of its record and the digest of its CID. */
  documentHash: string
  /** The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`. */
  blockchainHash: string | null
  status: Status
  network: Network
  qrCodeUrl: string
  verifyUrl: string
  /** Present with `wait=safe` or `wait=finalized`. */
  finality?: 'included' | 'safe' | 'finalized' | null
}

export type Revocation = {
  reason?:
    | 'unspecified'
    | 'keyCompromise'
    | 'cACompromise'
    | 'affiliationChanged'
    | 'superseded'
    | 'cessationOfOperation'
    | 'privilegeWithdrawn'
    | 'aACompromise'
}

export type RevokedDocument = {
  /** Names a document and opens it, so it is as secret as the document itself. */
  publicId: string | null
  documentHash: Hash
  status: Status
  reason: Reason
  revokedAt: string | null
  network: Network
  /** The transaction of the change; null while there is none. */
  blockchainHash: string | null
}

export type SuspendedDocument = {
  /** Names a document and opens it, so it is as secret as the document itself. */
  publicId: string | null
  documentHash: Hash
  status: Status
  reason: Reason
  suspendedAt: string | null
  network: Network
  /** The transaction of the change; null while there is none. */
  blockchainHash: string | null
}

export type ReleasedDocument = {
  /** Names a document and opens it, so it is as secret as the document itself. */
  publicId: string | null
  documentHash: Hash
  status: Status
  releasedAt: string | null
  network: Network
  /** The transaction of the change; null while there is none. */
  blockchainHash: string | null
}

export type SuccessorDocument = {
  publicId: PublicId
  subjectName: string
  subjectId: string
  category: string
  metadata?: Record<string, string>
  /** The documentHash of the document that this one supersedes. */
  supersedes?: string
  /** The documentHash of its successor, if this gateway issued it. */
  supersededBy?: string
  issuedAt: string
  /** The last valid day. */
  expiresAt?: string
  /** The first instant at which it is no longer valid. */
  validUntil?: string
  /** When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved. */
  createdAt?: string
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  /** The key of its record and the digest of its CID. */
  documentHash: string
  /** The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`. */
  blockchainHash: string | null
  status: Status
  network: Network
  qrCodeUrl: string
  verifyUrl: string
  superseded: {
    /** Names a document and opens it, so it is as secret as the document itself. */
    publicId: string | null
    documentHash: Hash
    supersededBy: Hash
    status: Status
    reason?: Reason
    revokedAt: string | null
    /** The transaction of the revocation; null while there is none. */
    blockchainHash: string | null
  }
}

export type Search = {
  status?: 'pending' | 'valid' | 'expired' | 'suspended' | 'revoked' | 'superseded' | 'distrusted'
  category?: string
  issuedFrom?: string
  issuedTo?: string
  createdFrom?: string
  createdTo?: string
  /** Only documents of the batch with this root. */
  batchRoot?: string
  /** The nextCursor of a page. */
  cursor?: string
  subjectId?: string
  limit?: number
}

export type UnopenedDocument = {
  /** The documentHash of its successor, if this gateway issued it. */ supersededBy?: string
  /** When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved. */
  createdAt?: string
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  /** The key of its record and the digest of its CID. */
  documentHash: string
  /** The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`. */
  blockchainHash: string | null
  status: Status
  network: Network
}

export type Batch = {
  root: Hash
  /** The number of documents. */
  size: number
  status: Status
  /** The CID of its manifest; null for a batch that another gateway issued. */
  manifest: string | null
  blockNumber: number | null
  blockTime: string | null
  blockchainHash: string | null
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  network: Network
}

export type RevokedBatch = {
  root: Hash
  status: Status
  reason: Reason
  revokedAt: string | null
  network: Network
  blockchainHash: string | null
}

export type SuspendedBatch = {
  root: Hash
  status: Status
  reason: Reason
  suspendedAt: string | null
  network: Network
  blockchainHash: string | null
}

export type ReleasedBatch = {
  root: Hash
  status: Status
  releasedAt: string | null
  network: Network
  blockchainHash: string | null
}

export type ErasureReceipt = {
  documentHash: Hash
  status: 'erased' | 'pending'
  /** When it was erased; null while the erasure is pending. */
  erasedAt: string | null
  /** The places that had the bytes; empty if these had been lost before. */
  removed: Array<'database' | 'kubo'>
  /** Where copies may be left, which the service does not delete. `database_files`: until the database writes over them or its tables are rewritten (`VACUUM FULL` of PostgreSQL, `VACUUM` of SQLite). `write_ahead_log`: the log of PostgreSQL and its archive, until the segments are written over or deleted. `replicas`: files and log of each replica, as long. `backups`: of the database, of Kubo and of file systems, until you delete them. */
  remains: Array<'database_files' | 'write_ahead_log' | 'replicas' | 'backups'>
  network: Network
}

export type Verdict = {
  /** True only for the status `valid`. */ valid: boolean
  status: Status
  network: Network
  document: Document | null
  blockchainProof:
    | BlockchainProof
    | {
        chainId: number
        /** The CAIP-10 account ID of the registry, in lower case. */
        registry: string
        documentHash: Hash
        stateProof: StateProof
      }
    | null
  checks: Array<Check>
  asOf: { blockNumber: number; blockHash: string | null; blockTime: Instant } | null
}

export type Event = {
  id: string
  type: EventType
  timestamp: string
  data: {
    documentHash?: Hash
    /** The root of the batch, in an event of a batch. */
    batchRoot?: string
    blockNumber: number | null
    blockHash: string | null
    transactionHash: string | null
    tenant: string | null
    /** The person or API key that asked for it, with the name or label of that time; `null` for a command, for what is from before actors were recorded, and for an actor of another tenant. */
    actor: { kind: 'person' | 'key'; id: string; label: string | null } | null
  }
}

export type JsonRpcRequest = {
  jsonrpc: '2.0'
  id?: string | number | null
  method: string
  params?: Array<unknown>
}

export type JsonRpcResponse = {
  jsonrpc: '2.0'
  id: string | number | null
  result?: unknown
  error?: { code: number; message: string; data?: string }
}

export type ApiKey = {
  /** The id of the key, which is not secret. */ id: string
  tenant: string
  scopes: Array<Scope>
  label: string | null
  /** The only categories that the key may issue and change; `null` = all. */
  categories: Array<string> | null
  /** Requests per second; `null` = the service's default. */
  rateLimit: number | null
  createdAt: string
  /** When the key expires; `null` = never. */
  expiresAt: string | null
  /** When the key was last used, exact to a minute. */
  lastUsedAt: string | null
  /** The id of the key that replaced it. */
  replacedBy: string | null
}

export type ApiKeyWithSecret = {
  /** The id of the key, which is not secret. */ id: string
  tenant: string
  scopes: Array<Scope>
  label: string | null
  /** The only categories that the key may issue and change; `null` = all. */
  categories: Array<string> | null
  /** Requests per second; `null` = the service's default. */
  rateLimit: number | null
  createdAt: string
  /** When the key expires; `null` = never. */
  expiresAt: string | null
  /** When the key was last used, exact to a minute. */
  lastUsedAt: string | null
  /** The id of the key that replaced it. */
  replacedBy: string | null
  /** The API key itself, which is shown only here. */
  secret: string
}

export type Run = {
  id: string
  mode: 'single' | 'batch'
  state: 'loading' | 'running' | 'stopped' | 'done'
  /** Of a stopped run, why: `requested`, `forbidden` (its owner may not issue any more) or `internal`. Of one that is running, the error for which it waits. */
  reason: string | null
  /** The number of rows. */
  size: number
  /** How many of them have a result. */
  done: number
  createdAt: Instant
  endedAt: string | null
  tenant: string
  owner: { kind: 'key' | 'person'; id: string }
}

export type Person = {
  /** The id of the person, which is not secret. */ id: string
  name: string
  role: 'reader' | 'clerk' | 'registrar' | 'administrator'
  tenant: string
  /** The only categories that the person may issue and change; `null` = all. */
  categories: Array<string> | null
  /** Whether the identity provider signs the person in, and decides name and role. */
  isFromProvider: boolean
  /** Whether the person may not sign in, in any way, nor do anything. */
  isBlocked: boolean
}

export type Session = {
  person: Person
  scopes: Array<Scope>
  /** For `X-CSRF-Token` of every request with the cookie, except GET and HEAD. */
  csrfToken: string
  /** When the session ends at the latest. It also ends after an hour without use. */
  expiresAt: string
  /** The number of passkeys of the person. */
  passkeys: number
  network: Network
}

export type Passkey = {
  id: string
  label: string
  createdAt: string
  /** When it was last used. */
  lastUsedAt: string | null
}

export type ListedPerson = {
  /** The id of the person, which is not secret. */ id: string
  name: string
  role: 'reader' | 'clerk' | 'registrar' | 'administrator'
  tenant: string
  /** The only categories that the person may issue and change; `null` = all. */
  categories: Array<string> | null
  /** Whether the identity provider signs the person in, and decides name and role. */
  isFromProvider: boolean
  /** Whether the person may not sign in, in any way, nor do anything. */
  isBlocked: boolean
  createdAt: string
  /** The sessions that have not ended, the oldest first. */
  sessions: Array<{ id: string; createdAt: string; expiresAt: string; lastUsedAt: string }>
  /** The number of passkeys. */
  passkeys: number
  /** The invitation that was not used yet. */
  invitation: { expiresAt: string | null } | null
}

export type Webhook = {
  id: string
  url: string
  types: Array<EventType> | null
  tenant: string | null
  allTenants: boolean
  enabled: boolean
  disabledReason: 'request' | 'failing' | 'gone' | 'behind' | null
  failingSince: string | null
  /** Until then, deliveries are also signed with older secrets. */
  olderSecretsUntil: string | null
  createdAt: string | null
  createdBy: string
}

export type WebhookWithSecret = {
  id: string
  url: string
  types: Array<EventType> | null
  tenant: string | null
  allTenants: boolean
  enabled: boolean
  disabledReason: 'request' | 'failing' | 'gone' | 'behind' | null
  failingSince: string | null
  /** Until then, deliveries are also signed with older secrets. */
  olderSecretsUntil: string | null
  createdAt: string | null
  createdBy: string
  /** The signing secret, which is shown only here. */
  secret?: string
}

export type Document = {
  publicId: PublicId
  subjectName: string
  subjectId: string
  category: string
  metadata?: Record<string, string>
  /** The documentHash of the document that this one supersedes. */
  supersedes?: string
  /** The documentHash of its successor, if this gateway issued it. */
  supersededBy?: string
  issuedAt: string
  /** The last valid day. */
  expiresAt?: string
  /** The first instant at which it is no longer valid. */
  validUntil?: string
  /** When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved. */
  createdAt?: string
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  /** The key of its record and the digest of its CID. */
  documentHash: string
  /** The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`. */
  blockchainHash: string | null
  status: Status
  network: Network
  qrCodeUrl: string
  verifyUrl: string
}

export type RetrievedDocument = {
  publicId: PublicId
  subjectName: string
  subjectId: string
  category: string
  metadata?: Record<string, string>
  /** The documentHash of the document that this one supersedes. */
  supersedes?: string
  /** The documentHash of its successor, if this gateway issued it. */
  supersededBy?: string
  issuedAt: string
  /** The last valid day. */
  expiresAt?: string
  /** The first instant at which it is no longer valid. */
  validUntil?: string
  /** When the gateway accepted it, or after a recovery the time of its block. Present in lists and when it is retrieved. */
  createdAt?: string
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  /** The issuer's number in the registry. */
  issuerId: number
  /** The key of its record and the digest of its CID. */
  documentHash: string
  /** The transaction that anchored it; while it is pending, the newest attempt, or null. It may change until finality is `finalized`. */
  blockchainHash: string | null
  status: Status
  network: Network
  qrCodeUrl: string
  verifyUrl: string
  blockchainProof?: BlockchainProof
}

export type Check = {
  check:
    | 'batch'
    | 'chain'
    | 'record'
    | 'issuer'
    | 'identity'
    | 'supersession'
    | 'revocation'
    | 'suspension'
    | 'payload'
    | 'key'
    | 'content'
    | 'expiry'
    | 'dating'
    | 'event'
  outcome: 'pass' | 'fail' | 'unknown'
  /** The reason, as a stable code. */
  code: string
}

export type BlockchainProof = {
  chainId: number
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: string
  documentHash: Hash
  batchRoot: string | null
  issuer: {
    /** The issuer's number in the registry. */ id: number
    account: string
    name: string
    uri: string
    domain: string | null
    /** The block in which the registry's admin closed the issuer. */
    closedBlock: number | null
    /** The time of that block; null also when it could not be read. */
    closedAt: string | null
  }
  account: Account
  transactionHash: string | null
  blockNumber: number
  blockHash: string | null
  blockTime: Instant
  logIndex: number | null
  finality: 'included' | 'safe' | 'finalized' | null
  validUntil: string | null
  revokedAt: string | null
  /** The reason of RFC 5280 §5.3.1; `certificateHold` is a suspension. */
  reason:
    | 'unspecified'
    | 'keyCompromise'
    | 'cACompromise'
    | 'affiliationChanged'
    | 'superseded'
    | 'cessationOfOperation'
    | 'privilegeWithdrawn'
    | 'aACompromise'
    | 'certificateHold'
    | null
  /** A release does not count if the revoker is distrusted from that block or an earlier one. */
  releasedAt: string | null
  revoker: Account | null
  /** The block in which the revoker revoked, suspended or released it. */
  revokedBlock: number | null
  setAside: boolean
  stateProof?: StateProof
}

export type StateProof = {
  header: string
  accountProof: Array<string>
  storageProof: Array<{ key: Hash; value: Hash; proof: Array<string> }>
}

export type Account = {
  address: string
  addedBlock: number
  changedBlock: number | null
  retiredBlock: number | null
  /** From this block on, its actions are not trusted. */
  distrustedFrom: number | null
}

export type EventType =
  | 'document.issued'
  | 'document.final'
  | 'document.revoked'
  | 'document.suspended'
  | 'document.released'
  | 'document.superseded'
  | 'document.erased'
  | 'document.failed'
  | 'batch.issued'
  | 'batch.final'
  | 'batch.revoked'
  | 'batch.suspended'
  | 'batch.released'
  | 'batch.superseded'
  | 'batch.failed'

export type Scope =
  | 'documents:issue'
  | 'documents:read'
  | 'documents:revoke'
  | 'documents:erase'
  | 'webhooks'
  | 'verify'
  | 'admin'

export type PublicId = string

export type Hash = string

export type Instant = string

export type Status =
  | 'valid'
  | 'expired'
  | 'suspended'
  | 'revoked'
  | 'superseded'
  | 'distrusted'
  | 'not_issued'
  | 'erased'
  | 'wrong_key'
  | 'tampered'
  | 'pending'

export type Reason =
  | 'unspecified'
  | 'keyCompromise'
  | 'cACompromise'
  | 'affiliationChanged'
  | 'superseded'
  | 'cessationOfOperation'
  | 'privilegeWithdrawn'
  | 'aACompromise'
  | 'certificateHold'

export type Finality = 'included' | 'safe' | 'finalized'

export type Network = 'test' | 'live'

export type FieldProblem = { field: string; message: string }

export type Failure = {
  success: boolean
  data: Record<string, never>
  error: {
    /** Stable. `/docs#error-<code>` says what to do. */
    code:
      | 'bad_request'
      | 'bad_json'
      | 'bad_public_id'
      | 'bad_cid'
      | 'bad_query'
      | 'bad_idempotency_key'
      | 'method_not_allowed'
      | 'not_acceptable'
      | 'too_large'
      | 'not_json'
      | 'bad_fields'
      | 'unauthorized'
      | 'forbidden'
      | 'category_not_allowed'
      | 'csrf_token_required'
      | 'already_rotated'
      | 'too_many_keys'
      | 'invitation_invalid'
      | 'passkey_invalid'
      | 'passkey_required'
      | 'person_blocked'
      | 'provider_refused'
      | 'no_role'
      | 'provider_unavailable'
      | 'provider_decides'
      | 'last_administrator'
      | 'too_many_people'
      | 'too_many_passkeys'
      | 'kind_changed'
      | 'too_many_kinds'
      | 'rate_limited'
      | 'other_issuer'
      | 'not_found'
      | 'no_offers'
      | 'not_issued'
      | 'conflict'
      | 'distrusted'
      | 'already_revoked'
      | 'already_superseded'
      | 'not_suspended'
      | 'change_pending'
      | 'too_many_runs'
      | 'too_many_webhooks'
      | 'erased'
      | 'unknown_event'
      | 'batch_refused'
      | 'not_valid'
      | 'unprintable'
      | 'idempotency_key_reused'
      | 'internal'
      | 'certificates_unavailable'
      | 'fonts_missing'
      | 'unverifiable'
      | 'chain_unavailable'
      | 'registry_refused'
      | 'fee_too_high'
      | 'overloaded'
      | 'store_unavailable'
      | 'outcome_unknown'
      | 'signer_unavailable'
      | 'account_shared'
      | 'stopping'
    /** A text for people, which may change. */
    message: string
    details?: Array<FieldProblem | Check>
    requestId: string
  }
}

/** The parameters of each call, and the data that it resolves to. */
export type Calls = {
  /** Issue a document. */
  issueDocument: {
    input: { query?: { wait?: 'included' | 'safe' | 'finalized' }; body: NewDocument }
    data: IssuedDocument
  }
  /** List documents, the newest first. */
  listDocuments: {
    input: {
      query?: {
        status?:
          | 'pending'
          | 'valid'
          | 'expired'
          | 'suspended'
          | 'revoked'
          | 'superseded'
          | 'distrusted'
        category?: string
        issuedFrom?: string
        issuedTo?: string
        createdFrom?: string
        createdTo?: string
        batchRoot?: string
        cursor?: string
        limit?: number
      }
    }
    data: {
      documents: Array<Document | UnopenedDocument>
      /** The cursor of the next page; null on the last page. */
      nextCursor: string | null
    }
  }
  /** Retrieve a document. */
  retrieveDocument: { input: { path: { publicId: string } }; data: RetrievedDocument }
  /** Revoke a document, permanently. */
  revokeDocument: {
    input: { path: { publicId: string }; body?: Revocation }
    data: RevokedDocument
  }
  /** Suspend a document. */
  suspendDocument: {
    input: { path: { publicId: string }; body?: Record<string, never> }
    data: SuspendedDocument
  }
  /** Release a suspended document. */
  releaseDocument: {
    input: { path: { publicId: string }; body?: Record<string, never> }
    data: ReleasedDocument
  }
  /** Issue a corrected document to replace another. */
  supersedeDocument: {
    input: { path: { publicId: string }; body: NewDocument }
    data: SuccessorDocument
  }
  /** List who did what with a document. */
  listActs: {
    input: { path: { publicId: string } }
    data: {
      documentHash: Hash
      acts: Array<{
        act: 'issue' | 'revoke' | 'suspend' | 'release' | 'supersede' | 'erase'
        at: string | null
        /** The person or API key that asked for it, with the name or label of that time; `null` for a command, for what is from before actors were recorded, and for an actor of another tenant. */
        actor: { kind: 'person' | 'key'; id: string; label: string | null } | null
        /** Whether it was on the whole batch. */
        isOfBatch: boolean
      }>
    }
  }
  /** Search documents, also by subjectId. */
  searchDocuments: {
    input: { body?: Search }
    data: {
      documents: Array<Document | UnopenedDocument>
      /** The cursor of the next page; null on the last page. */
      nextCursor: string | null
    }
  }
  /** List batches, the newest first. */
  listBatches: {
    input: { query?: { limit?: number; cursor?: string } }
    data: { batches: Array<Batch>; nextCursor: string | null }
  }
  /** Retrieve a batch. */
  retrieveBatch: { input: { path: { root: string } }; data: Batch }
  /** Revoke all documents of a batch, permanently. */
  revokeBatch: { input: { path: { root: string }; body?: Revocation }; data: RevokedBatch }
  /** Suspend all documents of a batch. */
  suspendBatch: {
    input: { path: { root: string }; body?: Record<string, never> }
    data: SuspendedBatch
  }
  /** Release a suspended batch. */
  releaseBatch: {
    input: { path: { root: string }; body?: Record<string, never> }
    data: ReleasedBatch
  }
  /** Retrieve a proof that works offline. */
  retrieveBundle: {
    input: { path: { publicId: string } }
    data: {
      type: 'document-registry-bundle'
      v: 1
      publicId: PublicId
      /** The CAIP-10 account ID of the registry, in lower case. */
      registry: string
      batch: string | null
      sealed: string | null
      stateProof: StateProof
      unprovenEvent: { transactionHash: Hash; blockHash: Hash; logIndex: number } | null
    }
  }
  /** Erase the content of a document, permanently. */
  eraseDocument: { input: { path: { publicId: string } }; data: ErasureReceipt }
  /** Verify a document. */
  verifyDocument: { input: { query: { publicId: string; proof?: 'full' } }; data: Verdict }
  /** List events of documents, the oldest first. */
  listEvents: {
    input: { query?: { after?: string; type?: string; limit?: number } }
    data: { events: Array<Event>; next: string | null; hasMore: boolean }
  }
  /** Check whether the process responds. */
  checkHealth: { input: object; data: { status: 'ok'; version: string } }
  /** Check whether the service can issue. */
  checkReadiness: {
    input: object
    data: {
      status: 'ready'
      network: Network
      /** The CAIP-10 account ID of the registry, in lower case. */
      registry: string
      warnings: Array<'low_balance' | 'may_not_revoke' | 'clock_behind_chain'>
    }
  }
  /** List the API keys. */
  listKeys: { input: object; data: { keys: Array<ApiKey> } }
  /** Create an API key. */
  createKey: {
    input: {
      body: {
        scopes: Array<Scope>
        tenant?: string
        label?: string
        categories?: Array<string>
        rateLimit?: number
        /** When the key expires, in the future. */
        expiresAt?: string
      }
    }
    data: ApiKeyWithSecret
  }
  /** Retrieve an API key. */
  retrieveKey: { input: { path: { id: string } }; data: ApiKey }
  /** Change an API key. */
  changeKey: {
    input: {
      path: { id: string }
      body?: {
        scopes?: Array<Scope>
        label?: string | null
        categories?: Array<string> | null
        rateLimit?: number | null
        /** When the key expires, in the future. */
        expiresAt?: string | null
      }
    }
    data: ApiKey
  }
  /** Revoke an API key. */
  revokeKey: { input: { path: { id: string } }; data: { id: string; deleted: boolean } }
  /** Replace an API key. */
  rotateKey: {
    input: {
      path: { id: string }
      body?: {
        overlapSeconds?: number
        /** When the key expires, in the future. */
        expiresAt?: string
      }
    }
    data: {
      /** The id of the key, which is not secret. */ id: string
      tenant: string
      scopes: Array<Scope>
      label: string | null
      /** The only categories that the key may issue and change; `null` = all. */
      categories: Array<string> | null
      /** Requests per second; `null` = the service's default. */
      rateLimit: number | null
      createdAt: string
      /** When the key expires; `null` = never. */
      expiresAt: string | null
      /** When the key was last used, exact to a minute. */
      lastUsedAt: string | null
      /** The id of the key that replaced it. */
      replacedBy: string | null
      /** The API key itself, which is shown only here. */
      secret: string
      replaces: { id: string; expiresAt: string }
    }
  }
  /** List the kinds of documents. */
  listKinds: {
    input: object
    data: {
      kinds: Array<{
        category: string
        /** Grows by one with each change. */
        version: number
        updatedAt: string
        /** The SD-JWT VC Type Metadata, as wallets read it at its `vct`. */
        metadata: Record<string, unknown>
      }>
    }
  }
  /** Define a kind of documents. */
  putKind: {
    input: {
      path: { category: string }
      query?: { version?: string }
      body: {
        vct?: string
        name?: string
        description?: string
        display: Array<{ locale: string; name: string; description?: string }>
        claims?: Array<{
          path: Array<string>
          display?: Array<{ locale: string; label: string; description?: string }>
          mandatory?: boolean
          sd?: 'always'
          document_registry?: {
            type: 'text' | 'date' | 'number' | 'choice'
            choices?: Array<string>
          }
        }>
        document_registry?: { category?: string; template?: string }
      }
    }
    data: {
      category: string
      /** Grows by one with each change. */
      version: number
      updatedAt: string
      /** The SD-JWT VC Type Metadata, as wallets read it at its `vct`. */
      metadata: Record<string, unknown>
    }
  }
  /** Remove a kind of documents. */
  removeKind: {
    input: { path: { category: string }; query?: { version?: string } }
    data: { category: string; deleted: boolean }
  }
  /** Retrieve the type metadata of a category. */
  retrieveType: { input: { path: { issuerId: string; category: string } }; data: { vct: string } }
  /** Retrieve a version of type metadata. */
  retrieveTypeVersion: {
    input: { path: { issuerId: string; category: string; version: string } }
    data: { vct: string }
  }
  /** List the templates of certificates. */
  listTemplates: { input: object; data: { isAvailable: boolean; templates: Array<string> } }
  /** Print documents as PDF. */
  printCertificates: {
    input: { query?: { template?: string }; body: { documents: Array<string> } }
    data: Uint8Array
  }
  /** Print how a document would look, before it is issued. */
  printSpecimen: { input: { query?: { template?: string }; body: NewDocument }; data: Uint8Array }
  /** Issue up to 100,000 documents without waiting for them. */
  beginRun: {
    input: { query?: { mode?: 'single' | 'batch' }; body: Array<NewDocument> }
    data: Run
  }
  /** List the caller's runs, the newest first. */
  listRuns: { input: { query?: { all?: 'true' | 'false' } }; data: { runs: Array<Run> } }
  /** See how far a run is. */
  retrieveRun: { input: { path: { id: string } }; data: Run }
  /** Stop a run, and delete its rows and results. */
  removeRun: { input: { path: { id: string } }; data: { id: string } }
  /** Read the rows of a run with what became of them. */
  retrieveRunRows: {
    input: { path: { id: string }; query?: { limit?: number; after?: string } }
    data: {
      rows: Array<{
        /** From 1. */ line: number
        document: NewDocument
        issued: {
          publicId: PublicId
          documentHash: Hash
          status: 'valid' | 'pending'
          batchRoot?: Hash
          verifyUrl: string
        } | null
        problem: {
          code: string
          message: string
          details?: Array<{ field: string; message: string }>
        } | null
      }>
    }
  }
  /** Stop a run before its next rows. */
  stopRun: { input: { path: { id: string } }; data: Run }
  /** Go on with a run that was stopped. */
  resumeRun: { input: { path: { id: string } }; data: Run }
  /** Retrieve who is signed in. */
  retrieveSession: { input: object; data: Session }
  /** Sign out. */
  signOut: { input: object; data: { deleted: boolean } }
  /** Sign in with an invitation. */
  useInvitation: { input: { body: { invitation: string } }; data: Session }
  /** Ask for a challenge to sign in with a passkey. */
  passkeySignInOptions: {
    input: object
    data: { challenge: string; rpId: string; timeout: number; userVerification: string }
  }
  /** Sign in with a passkey. */
  signInWithPasskey: {
    input: {
      body: {
        response: {
          id: string
          rawId: string
          type: 'public-key'
          authenticatorAttachment?: string | null
          clientExtensionResults?: Record<string, unknown>
          response: {
            clientDataJSON: string
            authenticatorData: string
            signature: string
            userHandle?: string | null
          }
        }
      }
    }
    data: Session
  }
  /** Retrieve the ways to sign in. */
  retrieveSignInWays: {
    input: object
    data: {
      /** The host of the organisation's identity provider; `null` if none. */
      provider: string | null
    }
  }
  /** Begin to sign in with the identity provider. */
  beginProviderSignIn: { input: object; data: { url: string } }
  /** Return from the identity provider. */
  returnFromProvider: { input: object; data: Uint8Array }
  /** List your passkeys. */
  listPasskeys: { input: object; data: { passkeys: Array<Passkey> } }
  /** Register a passkey. */
  registerPasskey: {
    input: {
      body: {
        response: {
          id: string
          rawId: string
          type: 'public-key'
          authenticatorAttachment?: string | null
          clientExtensionResults?: Record<string, unknown>
          response: {
            clientDataJSON: string
            attestationObject: string
            transports?: Array<string>
          }
        }
        label: string
        /** The answer to the `proof` of the options. */
        proof?: {
          id: string
          rawId: string
          type: 'public-key'
          authenticatorAttachment?: string | null
          clientExtensionResults?: Record<string, unknown>
          response: {
            clientDataJSON: string
            authenticatorData: string
            signature: string
            userHandle?: string | null
          }
        }
      }
    }
    data: Passkey
  }
  /** Ask for a challenge to register a passkey. */
  passkeyOptions: {
    input: object
    data: {
      /** For `navigator.credentials.get`, with a passkey that the person has; `null` for the first. */
      proof: {
        challenge: string
        rpId: string
        timeout: number
        userVerification: string
        allowCredentials: Array<{ id: string; type: string; transports?: Array<string> }>
      } | null
      challenge: string
      rp: { id: string; name: string }
      user: { id: string; name: string; displayName: string }
      pubKeyCredParams: Array<{ type: string; alg: number }>
      timeout: number
      attestation: string
      excludeCredentials: Array<{ id: string; type: string; transports?: Array<string> }>
      authenticatorSelection: Record<string, unknown>
      extensions: Record<string, unknown>
      hints: Array<string>
    }
  }
  /** Remove one of your passkeys. */
  removePasskey: { input: { path: { id: string } }; data: { id: string; deleted: boolean } }
  /** List the people. */
  listPeople: { input: object; data: { people: Array<ListedPerson> } }
  /** Add a person. */
  addPerson: {
    input: {
      body: {
        name: string
        role: 'reader' | 'clerk' | 'registrar' | 'administrator'
        tenant?: string
        categories?: Array<string>
      }
    }
    data: {
      person: Person
      /** The link that signs the person in once. It is shown only here. */
      invitation: string
      expiresAt: string
    }
  }
  /** Change a person. */
  changePerson: {
    input: {
      path: { id: string }
      body?: {
        name?: string
        role?: 'reader' | 'clerk' | 'registrar' | 'administrator'
        tenant?: string
        categories?: Array<string> | null
        isBlocked?: boolean
      }
    }
    data: Person
  }
  /** Remove a person. */
  removePerson: { input: { path: { id: string } }; data: { id: string; deleted: boolean } }
  /** Sign a person out. */
  endPersonSessions: { input: { path: { id: string } }; data: { id: string; deleted: boolean } }
  /** List the passkeys of a person. */
  listPersonPasskeys: { input: { path: { id: string } }; data: { passkeys: Array<Passkey> } }
  /** Remove a passkey of a person. */
  removePersonPasskey: {
    input: { path: { id: string; passkey: string } }
    data: { id: string; deleted: boolean }
  }
  /** Make another invitation. */
  invitePerson: {
    input: {
      path: { id: string }
      body?: {
        /** Whether the passkeys of the person are removed, and their sessions ended. */
        removePasskeys?: boolean
      }
    }
    data: {
      person: Person
      /** The link that signs the person in once. It is shown only here. */
      invitation: string
      expiresAt: string
    }
  }
  /** Retrieve what an office wants to know at a glance. */
  retrieveOverview: {
    input: object
    data: {
      /** This week and the seven before it, the oldest first. */
      weeks: Array<{
        /** The Monday, in UTC. */ from: string
        issued: number
        revoked: number
        superseded: number
      }>
      /** Requests that wait for a transaction, those that the chain refused and that are tried again, and transactions that wait for a block. */
      waiting: { queued: number; refused: number; inFlight: number }
      account: {
        balance: string | null
        /** What issuing one document costs now. */
        fee: string | null
        /** How many documents the balance pays for at that price, one by one. */
        documents: number | null
      }
      fees: {
        lastHour: string | null
        /** `null` = no cap. */
        cap: string | null
      }
      /** What the operator must act on, the most urgent first. */
      alerts: Array<
        | 'issuing_stopped'
        | 'low_balance'
        | 'may_not_revoke'
        | 'clock_behind_chain'
        | 'stale_head'
        | 'hourly_fees_near_cap'
        | 'queue_grows'
        | 'webhooks_fail'
        | 'erasures_unfinished'
      >
      backup: {
        /** The last `docreg-gateway backup` while the service ran; `null` if unknown. */
        madeAt: string | null
      }
    }
  }
  /** Add a receiver of events. */
  createWebhook: {
    input: { body: { url: string; types?: Array<EventType> | null; allTenants?: boolean } }
    data: WebhookWithSecret
  }
  /** List the receivers of events. */
  listWebhooks: { input: object; data: { webhooks: Array<Webhook> } }
  /** Retrieve a receiver. */
  retrieveWebhook: { input: { path: { id: string } }; data: Webhook }
  /** Change a receiver, or stop and start it. */
  changeWebhook: {
    input: {
      path: { id: string }
      body?: { url?: string; types?: Array<EventType> | null; enabled?: boolean }
    }
    data: Webhook
  }
  /** Remove a receiver. */
  removeWebhook: { input: { path: { id: string } }; data: { id: string; deleted: boolean } }
  /** Give a receiver a new secret. */
  rotateWebhookSecret: {
    input: { path: { id: string }; body?: { overlapSeconds?: number } }
    data: WebhookWithSecret
  }
  /** Send events to a receiver again. */
  replayEvents: {
    input: { path: { id: string }; body: { after?: string; since?: string } }
    data: Webhook
  }
  /** Send a test message to a receiver. */
  testWebhook: {
    input: { path: { id: string } }
    data: { outcome: 'delivered' | 'gone' | 'failed' }
  }
  /** Offer a document to a wallet. */
  offerDocument: {
    input: {
      path: { publicId: string }
      body?: {
        /** Whether the holder must type a code. The answer has it; send it another way. */
        txCode?: boolean
        /** How many wallets may use it; 1 by default. */
        uses?: number
        /** How the credential names its issuer, because some wallets know only one way; `https` by default where the key has a certificate, else `did:web`. */
        iss?: 'https' | 'did:web'
        /** How long it may be used, in seconds; 600 by default. */
        expiresIn?: number
      }
    }
    data: {
      /** Opens a wallet; also what a QR code for wallets holds. It is a secret. */ link: string
      /** Where the wallet fetches the offer. */
      offerUrl: string
      /** The same offer by value. */
      offer: {
        credential_issuer: string
        credential_configuration_ids: Array<string>
        grants: Record<string, unknown>
      }
      /** What the holder must type. */
      txCode?: string
      expiresAt: Instant
      network: Network
    }
  }
}

/** The parameters of each call about many documents, and the data of a line of its answer. */
export type LineCalls = {
  /** Revoke many documents. */
  revokeDocuments: {
    input: {
      body: Array<{
        publicId?: string
        /** Names the document in place of the publicId. */
        documentHash?: string
        /** The root of its batch, in addition to the documentHash. */
        batchRoot?: string
        reason?:
          | 'unspecified'
          | 'keyCompromise'
          | 'cACompromise'
          | 'affiliationChanged'
          | 'superseded'
          | 'cessationOfOperation'
          | 'privilegeWithdrawn'
          | 'aACompromise'
      }>
    }
    data: {
      publicId?: PublicId
      documentHash: Hash
      status: Status
      reason: Reason
      revokedAt: string | null
      network: Network
      /** The transaction of the change; null while there is none. */
      blockchainHash: string | null
    }
  }
  /** Suspend many documents. */
  suspendDocuments: {
    input: {
      body: Array<{
        publicId?: string
        /** Names the document in place of the publicId. */
        documentHash?: string
        /** The root of its batch, in addition to the documentHash. */
        batchRoot?: string
      }>
    }
    data: {
      publicId?: PublicId
      documentHash: Hash
      status: Status
      reason: Reason
      suspendedAt: string | null
      network: Network
      /** The transaction of the change; null while there is none. */
      blockchainHash: string | null
    }
  }
  /** Release many suspended documents. */
  releaseDocuments: {
    input: {
      body: Array<{
        publicId?: string
        /** Names the document in place of the publicId. */
        documentHash?: string
        /** The root of its batch, in addition to the documentHash. */
        batchRoot?: string
      }>
    }
    data: {
      publicId?: PublicId
      documentHash: Hash
      status: Status
      releasedAt: string | null
      network: Network
      /** The transaction of the change; null while there is none. */
      blockchainHash: string | null
    }
  }
  /** Issue up to 100,000 documents in one transaction. */
  issueBatch: {
    input: {
      query?: { atomic?: 'true' | 'false'; dry_run?: 'true' | 'false' }
      body: Array<NewDocument>
    }
    data:
      | {
          status: 'checked'
          batch: {
            /** The number of valid lines. */ size: number
            gas: string
            /** The cost in wei at the current price. */
            fee: string
            /** The maximum cost in wei. */
            maxFee: string
            /** About how long a run of the lines takes in seconds, while nothing else waits: an estimate from the time between blocks. */
            seconds: number
          }
          /** The cost in wei at the current price of issuing the lines without a batch. */
          unbatched: {
            /** With a transaction for each document. */ alone: string
            /** With transactions of many documents. */
            grouped: string
            /** About how long a run of the lines takes in seconds, while nothing else waits: an estimate from the time between blocks. */
            seconds: number
          }
        }
      | {
          publicId: PublicId
          documentHash: Hash
          batchRoot: Hash
          blockchainHash: string | null
          status: 'valid' | 'pending'
          network: Network
          verifyUrl: string
        }
  }
}

/** Where each call goes, and whether it takes an Idempotency-Key. */
export const CALLS = {
  issueDocument: { method: 'POST', path: '/v1/documents', hasIdempotencyKey: true },
  listDocuments: { method: 'GET', path: '/v1/documents', hasIdempotencyKey: false },
  retrieveDocument: { method: 'GET', path: '/v1/documents/{publicId}', hasIdempotencyKey: false },
  revokeDocument: {
    method: 'POST',
    path: '/v1/documents/{publicId}/revoke',
    hasIdempotencyKey: false,
  },
  suspendDocument: {
    method: 'POST',
    path: '/v1/documents/{publicId}/suspend',
    hasIdempotencyKey: false,
  },
  releaseDocument: {
    method: 'POST',
    path: '/v1/documents/{publicId}/release',
    hasIdempotencyKey: false,
  },
  supersedeDocument: {
    method: 'POST',
    path: '/v1/documents/{publicId}/supersede',
    hasIdempotencyKey: true,
  },
  listActs: { method: 'GET', path: '/v1/documents/{publicId}/acts', hasIdempotencyKey: false },
  searchDocuments: { method: 'POST', path: '/v1/documents/search', hasIdempotencyKey: false },
  listBatches: { method: 'GET', path: '/v1/batches', hasIdempotencyKey: false },
  retrieveBatch: { method: 'GET', path: '/v1/batches/{root}', hasIdempotencyKey: false },
  revokeBatch: { method: 'POST', path: '/v1/batches/{root}/revoke', hasIdempotencyKey: false },
  suspendBatch: { method: 'POST', path: '/v1/batches/{root}/suspend', hasIdempotencyKey: false },
  releaseBatch: { method: 'POST', path: '/v1/batches/{root}/release', hasIdempotencyKey: false },
  retrieveBundle: {
    method: 'GET',
    path: '/v1/documents/{publicId}/bundle',
    hasIdempotencyKey: false,
  },
  eraseDocument: {
    method: 'DELETE',
    path: '/v1/documents/{publicId}/payload',
    hasIdempotencyKey: false,
  },
  verifyDocument: { method: 'GET', path: '/v1/verify', hasIdempotencyKey: false },
  listEvents: { method: 'GET', path: '/v1/events', hasIdempotencyKey: false },
  checkHealth: { method: 'GET', path: '/healthz', hasIdempotencyKey: false },
  checkReadiness: { method: 'GET', path: '/readyz', hasIdempotencyKey: false },
  listKeys: { method: 'GET', path: '/v1/keys', hasIdempotencyKey: false },
  createKey: { method: 'POST', path: '/v1/keys', hasIdempotencyKey: false },
  retrieveKey: { method: 'GET', path: '/v1/keys/{id}', hasIdempotencyKey: false },
  changeKey: { method: 'PATCH', path: '/v1/keys/{id}', hasIdempotencyKey: false },
  revokeKey: { method: 'DELETE', path: '/v1/keys/{id}', hasIdempotencyKey: false },
  rotateKey: { method: 'POST', path: '/v1/keys/{id}/rotate', hasIdempotencyKey: false },
  listKinds: { method: 'GET', path: '/v1/kinds', hasIdempotencyKey: false },
  putKind: { method: 'PUT', path: '/v1/kinds/{category}', hasIdempotencyKey: false },
  removeKind: { method: 'DELETE', path: '/v1/kinds/{category}', hasIdempotencyKey: false },
  retrieveType: {
    method: 'GET',
    path: '/v1/types/{issuerId}/{category}',
    hasIdempotencyKey: false,
  },
  retrieveTypeVersion: {
    method: 'GET',
    path: '/v1/types/{issuerId}/{category}/{version}',
    hasIdempotencyKey: false,
  },
  listTemplates: { method: 'GET', path: '/v1/certificates', hasIdempotencyKey: false },
  printCertificates: {
    method: 'POST',
    path: '/v1/certificates',
    hasIdempotencyKey: false,
    isFile: true,
  },
  printSpecimen: {
    method: 'POST',
    path: '/v1/certificates/specimen',
    hasIdempotencyKey: false,
    isFile: true,
  },
  beginRun: { method: 'POST', path: '/v1/runs', hasIdempotencyKey: true, isNdjson: true },
  listRuns: { method: 'GET', path: '/v1/runs', hasIdempotencyKey: false },
  retrieveRun: { method: 'GET', path: '/v1/runs/{id}', hasIdempotencyKey: false },
  removeRun: { method: 'DELETE', path: '/v1/runs/{id}', hasIdempotencyKey: false },
  retrieveRunRows: { method: 'GET', path: '/v1/runs/{id}/rows', hasIdempotencyKey: false },
  stopRun: { method: 'POST', path: '/v1/runs/{id}/stop', hasIdempotencyKey: false },
  resumeRun: { method: 'POST', path: '/v1/runs/{id}/resume', hasIdempotencyKey: false },
  retrieveSession: { method: 'GET', path: '/v1/session', hasIdempotencyKey: false },
  signOut: { method: 'DELETE', path: '/v1/session', hasIdempotencyKey: false },
  useInvitation: { method: 'POST', path: '/v1/session/invitation', hasIdempotencyKey: false },
  passkeySignInOptions: {
    method: 'POST',
    path: '/v1/session/passkey/options',
    hasIdempotencyKey: false,
  },
  signInWithPasskey: { method: 'POST', path: '/v1/session/passkey', hasIdempotencyKey: false },
  retrieveSignInWays: { method: 'GET', path: '/v1/session/ways', hasIdempotencyKey: false },
  beginProviderSignIn: { method: 'POST', path: '/v1/session/provider', hasIdempotencyKey: false },
  returnFromProvider: {
    method: 'GET',
    path: '/v1/session/provider/return',
    hasIdempotencyKey: false,
    isFile: true,
  },
  listPasskeys: { method: 'GET', path: '/v1/passkeys', hasIdempotencyKey: false },
  registerPasskey: { method: 'POST', path: '/v1/passkeys', hasIdempotencyKey: false },
  passkeyOptions: { method: 'POST', path: '/v1/passkeys/options', hasIdempotencyKey: false },
  removePasskey: { method: 'DELETE', path: '/v1/passkeys/{id}', hasIdempotencyKey: false },
  listPeople: { method: 'GET', path: '/v1/people', hasIdempotencyKey: false },
  addPerson: { method: 'POST', path: '/v1/people', hasIdempotencyKey: false },
  changePerson: { method: 'PATCH', path: '/v1/people/{id}', hasIdempotencyKey: false },
  removePerson: { method: 'DELETE', path: '/v1/people/{id}', hasIdempotencyKey: false },
  endPersonSessions: {
    method: 'DELETE',
    path: '/v1/people/{id}/sessions',
    hasIdempotencyKey: false,
  },
  listPersonPasskeys: { method: 'GET', path: '/v1/people/{id}/passkeys', hasIdempotencyKey: false },
  removePersonPasskey: {
    method: 'DELETE',
    path: '/v1/people/{id}/passkeys/{passkey}',
    hasIdempotencyKey: false,
  },
  invitePerson: { method: 'POST', path: '/v1/people/{id}/invitations', hasIdempotencyKey: false },
  retrieveOverview: { method: 'GET', path: '/v1/overview', hasIdempotencyKey: false },
  createWebhook: { method: 'POST', path: '/v1/webhooks', hasIdempotencyKey: false },
  listWebhooks: { method: 'GET', path: '/v1/webhooks', hasIdempotencyKey: false },
  retrieveWebhook: { method: 'GET', path: '/v1/webhooks/{id}', hasIdempotencyKey: false },
  changeWebhook: { method: 'PATCH', path: '/v1/webhooks/{id}', hasIdempotencyKey: false },
  removeWebhook: { method: 'DELETE', path: '/v1/webhooks/{id}', hasIdempotencyKey: false },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v1/webhooks/{id}/rotate',
    hasIdempotencyKey: false,
  },
  replayEvents: { method: 'POST', path: '/v1/webhooks/{id}/replay', hasIdempotencyKey: false },
  testWebhook: { method: 'POST', path: '/v1/webhooks/{id}/test', hasIdempotencyKey: false },
  offerDocument: {
    method: 'POST',
    path: '/v1/documents/{publicId}/offer',
    hasIdempotencyKey: false,
  },
} as const

/** The same of calls about many documents. */
export const LINE_CALLS = {
  revokeDocuments: { method: 'POST', path: '/v1/revocations', hasIdempotencyKey: false },
  suspendDocuments: { method: 'POST', path: '/v1/suspensions', hasIdempotencyKey: false },
  releaseDocuments: { method: 'POST', path: '/v1/releases', hasIdempotencyKey: false },
  issueBatch: { method: 'POST', path: '/v1/batches', hasIdempotencyKey: true, isNdjson: true },
} as const
