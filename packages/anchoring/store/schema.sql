-- The tables of both databases, in PostgreSQL's words. tables.ts puts SQLite's in
-- their place. `-- local` stands behind what is about this copy of the database, or is filled in
-- one of the two only: a move to the other database leaves it out. The order is one that references
-- allow.
--
-- Whatever changes a table, or what a row means, raises SCHEMA_VERSION. Databases of other versions
-- are refused and not converted.

-- The owner of the documents and promises.
CREATE TABLE bound_to ( -- local
  registry text PRIMARY KEY,
  issuer_id bigint NOT NULL
);

CREATE TABLE issuer_secret ( -- local
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fingerprint text NOT NULL UNIQUE
);

-- The hashes of what was erased.
CREATE TABLE tombstone (
  hash bytea PRIMARY KEY
);

-- Payloads, by their sha-256. The hash is not the key of SQLite's tree, because its inner pages
-- would then contain the bytes.
CREATE TABLE payload (
  hash bytea NOT NULL UNIQUE,
  bytes bytea NOT NULL
);

-- What a Kubo node has of the payloads. There is a row while the gateways have a node.
CREATE TABLE mirror ( -- local
  id bigint PRIMARY KEY,
  -- The CID of the group that was pinned last. A node without it has lost pins, or is another one.
  root bytea,
  -- While all payloads are pinned: the hash up to which they are. When that began, in milliseconds
  -- of the Unix epoch.
  cursor bytea,
  since bigint NOT NULL
);

-- The payloads that are to be pinned next: the hashes of some, one after another.
CREATE TABLE unpinned ( -- local
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hashes bytea NOT NULL,
  -- In milliseconds of the Unix epoch.
  since bigint NOT NULL
);

-- The receipts of erasures.
CREATE TABLE erasure (
  hash bytea PRIMARY KEY,
  requested_at bigint NOT NULL,
  erased_at bigint,
  from_database boolean NOT NULL DEFAULT false,
  from_kubo boolean NOT NULL DEFAULT false,
  tenant text,
  -- With SQLite, the end of a document that may not be gone yet, with each byte inverted.
  probe bytea, -- local
  -- With PostgreSQL, the transaction that wrote the tombstone. Earlier ones may still be adding the
  -- document.
  written_by bigint -- local
);
CREATE INDEX erasure_unfinished ON erasure (requested_at) WHERE erased_at IS NULL;

-- The data that the request of a batch stored before the batch was promised: the hashes of some
-- payloads, one after another; or the batch's documents in the index.
CREATE TABLE batch_draft (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request bytea NOT NULL,
  hashes bytea,
  batch bigint
);
CREATE INDEX batch_draft_by_request ON batch_draft (request);

-- The first use of each key of a request for a batch, kept permanently like the salts that depend
-- on the key.
CREATE TABLE batch_request (
  request bytea PRIMARY KEY,
  content bytea NOT NULL,
  checked_at bigint NOT NULL,
  promised boolean NOT NULL DEFAULT false
);

-- The batches that were promised, and those whose documents are being added. `status` is that of the
-- whole batch, as in the table record. Times are in seconds of the Unix epoch.
CREATE TABLE batch (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  root bytea NOT NULL UNIQUE,
  size bigint NOT NULL,
  manifest bytea NOT NULL,
  -- '' = unknown: it was restored from the chain.
  tenant text NOT NULL,
  -- Who issued it; see #promise/acts.ts.
  actor text,
  promised boolean NOT NULL DEFAULT false,
  promised_at bigint,
  status bigint NOT NULL DEFAULT 0,
  created_at bigint -- local
);
CREATE INDEX batch_unpromised ON batch (id) WHERE NOT promised;
CREATE INDEX batch_by_status ON batch (status) WHERE status <> 0;

-- The documents, in the order in which they were requested. There are no names; see
-- #promise/document-index.ts.
CREATE TABLE record (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL,
  -- For a document in a batch, its batch block, and the id of the batch, which may not be promised
  -- yet.
  batch_block bytea,
  batch bigint,
  -- The last status that the gateways know: its place in KEPT_STATUSES. Whether it is pending follows
  -- from `waiting` and `send`.
  status bigint NOT NULL DEFAULT 0,
  issued_on bigint NOT NULL,
  valid_until bigint NOT NULL,
  -- Blind indexes.
  subject bigint,
  category bigint,
  -- NULL = unknown: it was restored from the chain.
  tenant text,
  -- When it was promised, in seconds of the Unix epoch. NULL for a document in a batch, because the
  -- batch has it.
  created_at bigint,
  -- Who issued it; see #promise/acts.ts. NULL for a document in a batch.
  actor text,
  -- The digest of the idempotency key.
  request bytea,
  -- The hash of the document that it supersedes.
  supersedes bytea
);
CREATE UNIQUE INDEX record_by_hash ON record (hash, coalesce(batch, 0));
CREATE INDEX record_by_subject ON record (subject, id) WHERE subject IS NOT NULL;
CREATE INDEX record_by_category ON record (category, id);
CREATE INDEX record_by_tenant ON record (tenant, id);
CREATE INDEX record_by_day ON record ((created_at / 86400), id) WHERE created_at IS NOT NULL;
CREATE INDEX record_by_batch ON record (batch, id) WHERE batch IS NOT NULL;
CREATE INDEX record_by_status ON record (status, id) WHERE status <> 0;
CREATE UNIQUE INDEX record_by_request ON record (request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX record_by_superseded ON record (supersedes) WHERE supersedes IS NOT NULL;

-- The changes of documents and batches that somebody asked for, permanently.
CREATE TABLE change (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- revoke, suspend, release, or erase, which the chain does not see.
  kind text NOT NULL,
  -- The hash of a document, or the root of a batch, which is then in both columns. `root` is that of
  -- its batch for a document in one.
  hash bytea NOT NULL,
  root bytea,
  reason bigint,
  -- In seconds of the Unix epoch.
  time bigint NOT NULL,
  -- Who asked for it, and for which tenant. NULL = a command.
  actor text,
  tenant text,
  -- The record of the successor, which must be in a block before.
  after bigint
);
CREATE INDEX change_by_hash ON change (hash, id);
CREATE INDEX change_after ON change (after) WHERE after IS NOT NULL;

-- The records, batches and changes that no send carries, in their order. This is the queue.
CREATE TABLE waiting (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record bigint,
  batch bigint,
  change bigint,
  -- When it is tried again after a refusal, in milliseconds of the Unix epoch, and how often it was
  -- refused.
  not_before bigint,
  tries bigint NOT NULL DEFAULT 0,
  -- The last send that carried it; 0 = one that this database does not know. It may be on the chain
  -- already.
  sent_in bigint,
  -- Whether it was in a block before, and counted in `tally`.
  counted boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX waiting_record ON waiting (record) WHERE record IS NOT NULL;
CREATE UNIQUE INDEX waiting_batch ON waiting (batch) WHERE batch IS NOT NULL;
CREATE UNIQUE INDEX waiting_change ON waiting (change) WHERE change IS NOT NULL;

-- The transactions. One that another gateway or a command sent has no account and no nonce.
CREATE TABLE send (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account bytea,
  nonce bigint,
  -- For suspensions and releases, the newest block when it was planned.
  head bigint,
  -- The block in which its nonce is used; NULL while it is in flight. The hash is empty until it has
  -- been read.
  block_number bigint,
  block_hash bytea,
  -- The transaction in that block. NULL when it is not one of its attempts, or no node has its
  -- events.
  transaction_hash bytea,
  -- In gwei, rounded up, and when it was known, in milliseconds of the Unix epoch.
  fee bigint,
  settled_at bigint,
  -- Whether the chain had the block when it was last read.
  seen boolean NOT NULL DEFAULT false,
  final boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX send_by_nonce ON send (account, nonce) WHERE nonce IS NOT NULL AND NOT final;
CREATE UNIQUE INDEX send_by_transaction ON send (transaction_hash)
  WHERE transaction_hash IS NOT NULL;
CREATE INDEX send_by_block ON send (block_number, block_hash) WHERE block_number IS NOT NULL;
CREATE INDEX send_in_flight ON send (id) WHERE block_number IS NULL;
CREATE INDEX send_open ON send (block_number, block_hash)
  WHERE block_number IS NOT NULL AND NOT final;
CREATE INDEX send_seen ON send (block_number, block_hash)
  WHERE seen AND block_number IS NOT NULL AND NOT final;
CREATE INDEX send_with_fee ON send (settled_at) WHERE fee IS NOT NULL;

-- What each send carries, in order.
CREATE TABLE member (
  send bigint NOT NULL REFERENCES send (id),
  -- The id that it had in `waiting`; negative when it never waited.
  place bigint NOT NULL,
  record bigint,
  batch bigint,
  change bigint,
  counted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (send, place)
);
CREATE UNIQUE INDEX member_record ON member (record) WHERE record IS NOT NULL;
CREATE UNIQUE INDEX member_batch ON member (batch) WHERE batch IS NOT NULL;
CREATE UNIQUE INDEX member_change ON member (change) WHERE change IS NOT NULL;

-- The signed transactions of each send, until it is final.
CREATE TABLE attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  send bigint NOT NULL REFERENCES send (id),
  hash bytea NOT NULL UNIQUE,
  raw bytea NOT NULL,
  -- How many of the send's members it carries, from the first on.
  carried bigint NOT NULL,
  gas_limit bigint NOT NULL,
  -- Text, because wei may have more than 64 bits.
  max_fee_per_gas text NOT NULL,
  max_priority_fee_per_gas text NOT NULL
);
CREATE INDEX attempt_by_send ON attempt (send);

-- How many documents got into blocks each day, in days since 1970-01-01; tenant '' = a command.
CREATE TABLE tally (
  day bigint NOT NULL,
  tenant text NOT NULL,
  kind text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (day, tenant, kind)
);

-- The status lists of credentials (modules/wallets/), and the places of documents in them. A
-- list is lost when the database does not know all documents that are in it.
CREATE TABLE status_list (
  list bigint PRIMARY KEY,
  used bigint NOT NULL,
  lost boolean NOT NULL DEFAULT false
);

CREATE TABLE status_slot (
  list bigint NOT NULL,
  slot bigint NOT NULL,
  document_hash bytea NOT NULL,
  -- Empty for a document that was issued alone.
  root bytea NOT NULL DEFAULT '',
  PRIMARY KEY (list, slot),
  UNIQUE (document_hash, root)
);

-- The events of documents. Ids are in the order of commits.
CREATE TABLE event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type text NOT NULL,
  -- In milliseconds of the Unix epoch.
  time bigint NOT NULL,
  document_hash bytea NOT NULL,
  block_number bigint,
  block_hash bytea,
  transaction_hash bytea,
  -- The tenant that issued the document or batch; if that is unknown, the one that asked for the
  -- change.
  tenant text
);
CREATE INDEX event_by_tenant ON event (tenant, id);

-- Receivers of events. `cursor` is the event up to which they are being delivered or were
-- delivered. `types` and `secrets` are JSON; `secrets` has the values from which the secrets are
-- derived.
CREATE TABLE webhook (
  id text PRIMARY KEY,
  tenant text,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  url text NOT NULL,
  types text,
  secrets text NOT NULL,
  disabled_reason text,
  failing_since bigint,
  cursor bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0
);

-- Deliveries that failed, or that wait for an earlier one of their document.
CREATE TABLE delivery (
  webhook text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  document_hash bytea NOT NULL,
  event bigint NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  attempts bigint NOT NULL,
  failed_since bigint,
  next_at bigint NOT NULL,
  PRIMARY KEY (webhook, document_hash, event)
);
CREATE INDEX delivery_by_event ON delivery (event);
CREATE INDEX delivery_by_time ON delivery (webhook, next_at);

-- Runs, whose rows the gateway issues by itself, and their rows and results, which are sealed.
-- Times are in milliseconds of the Unix epoch.
CREATE TABLE run (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  -- The key or person that it belongs to.
  owner text NOT NULL,
  mode text NOT NULL,
  size bigint NOT NULL,
  content bytea NOT NULL,
  state text NOT NULL,
  reason text,
  created_at bigint NOT NULL,
  ended_at bigint
);

CREATE TABLE run_row (
  run text NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  line bigint NOT NULL,
  sealed bytea NOT NULL,
  result bytea,
  PRIMARY KEY (run, line)
);
CREATE INDEX run_row_open ON run_row (run, line) WHERE result IS NULL;

-- The versions of kinds of documents. They are never changed or deleted, because credentials name
-- them. At most one of a category has no end: the one that holds. Times are in milliseconds of the
-- Unix epoch.
CREATE TABLE kind (
  category text NOT NULL,
  version bigint NOT NULL,
  -- The file as it is served.
  bytes bytea NOT NULL,
  begun_at bigint NOT NULL,
  ended_at bigint,
  PRIMARY KEY (category, version)
);
CREATE UNIQUE INDEX kind_current ON kind (category) WHERE ended_at IS NULL;

-- What wallets have used, by digests that say nothing about a document. In seconds.
CREATE TABLE spent_nonce (
  nonce bytea PRIMARY KEY,
  expires_at bigint NOT NULL
);
CREATE INDEX spent_nonce_by_time ON spent_nonce (expires_at);

-- Offers that a wallet used, or tried to use with a wrong code.
CREATE TABLE used_offer (
  offer bytea PRIMARY KEY,
  uses bigint NOT NULL DEFAULT 0,
  tries bigint NOT NULL DEFAULT 0,
  expires_at bigint NOT NULL
);
CREATE INDEX used_offer_by_time ON used_offer (expires_at);

-- What the gateway that leads tells the others, as JSON, each second that it changes.
CREATE TABLE leader ( -- local
  id bigint PRIMARY KEY,
  state text NOT NULL,
  -- In milliseconds of the Unix epoch.
  written_at bigint NOT NULL
);

-- The command that has begun to fill this database. Gateways do not start before it has finished.
CREATE TABLE unfinished ( -- local
  command text PRIMARY KEY
);

-- ==== keys.db ====
-- With SQLite, what follows is in a file of its own, which commands change while the gateway runs.
-- Its version is in drivers/sqlite/keys-file.ts. Secrets are their sha-256, 64
-- hexadecimal digits; times are in ISO 8601 unless they are numbers.
CREATE TABLE api_key (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  digest text NOT NULL,
  tenant text NOT NULL,
  scopes text NOT NULL,
  label text,
  categories text,
  rate_limit bigint,
  created_at text NOT NULL,
  expires_at text,
  last_used_at text,
  replaced_by text
);

-- People who sign in to the desk.
CREATE TABLE person (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  name text NOT NULL,
  role text NOT NULL,
  tenant text NOT NULL,
  categories text,
  created_at text NOT NULL,
  is_blocked boolean NOT NULL DEFAULT false
);

CREATE TABLE session (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  digest text NOT NULL UNIQUE,
  person text NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  created_at text NOT NULL,
  expires_at text NOT NULL,
  last_used_at text NOT NULL,
  -- Whether it may register the first passkey of its person.
  may_register boolean NOT NULL DEFAULT false
);
CREATE INDEX session_by_person ON session (person);

CREATE TABLE passkey (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  person text NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  label text NOT NULL,
  -- As the browser names it, in base64url.
  credential text NOT NULL UNIQUE,
  -- A COSE key.
  public_key bytea NOT NULL,
  -- How often the authenticator has signed, if it counts.
  counter bigint NOT NULL,
  -- JSON: the ways to reach the authenticator, for the browser.
  transports text,
  created_at text NOT NULL,
  last_used_at text
);
CREATE INDEX passkey_by_person ON passkey (person);

-- The open invitation of each person. It is deleted by its use.
CREATE TABLE invitation (
  person text PRIMARY KEY REFERENCES person (id) ON DELETE CASCADE,
  digest text NOT NULL UNIQUE,
  expires_at text
);

-- Who signs in with the identity provider: the sha-256 of the issuer and the subject there. Once the
-- person is removed, what limits them if they come back.
CREATE TABLE login (
  digest text PRIMARY KEY,
  person text UNIQUE REFERENCES person (id) ON DELETE SET NULL,
  tenant text,
  categories text
);

-- Challenges for passkeys that were answered, in milliseconds of the Unix epoch.
CREATE TABLE spent_challenge (
  challenge text PRIMARY KEY,
  expires_at bigint NOT NULL
);

-- How often keys have changed; above 0, there have been keys.
CREATE TABLE key_change ( -- local
  version bigint PRIMARY KEY
);
