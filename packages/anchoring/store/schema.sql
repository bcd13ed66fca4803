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
CREATE TABLE block (
  hash bytea NOT NULL UNIQUE,
  bytes bytea NOT NULL
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
-- blocks, one after another; or the CID of their group on a Kubo node; or the batch's documents in
-- the index.
CREATE TABLE batch_draft (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request bytea NOT NULL,
  hashes bytea,
  kubo_root bytea,
  batch bigint
);
CREATE INDEX batch_draft_by_request ON batch_draft (request);

CREATE TABLE plan (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The address of the account that sends it.
  account bytea NOT NULL,
  nonce bigint NOT NULL,
  -- For suspensions and releases, the newest block when it was planned.
  head bigint
);
CREATE INDEX plan_by_account ON plan (account);

CREATE TABLE attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  plan bigint NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
  hash bytea NOT NULL,
  raw bytea NOT NULL,
  gas_limit bigint NOT NULL,
  -- Text, because wei may have more than 64 bits.
  max_fee_per_gas text NOT NULL,
  max_priority_fee_per_gas text NOT NULL
);
CREATE INDEX attempt_by_plan ON attempt (plan);

-- Most intents wait for their block to become final, and are in few of these indexes.
CREATE TABLE intent (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The account of the newest transaction that carried it.
  account bytea,
  kind text NOT NULL,
  -- The hash of a document, or the root of a batch, which is then in both columns.
  document_hash bytea NOT NULL,
  root bytea,
  valid_until bigint,
  manifest bytea,
  reason bigint,
  sealed bytea,
  -- When it is tried again after a refusal, in milliseconds of the Unix epoch, and how often it was
  -- refused.
  held_until bigint,
  tries bigint NOT NULL DEFAULT 0,
  plan bigint REFERENCES plan (id) ON DELETE SET NULL,
  block_number bigint,
  -- Empty until the block has been read.
  block_hash bytea NOT NULL DEFAULT '',
  transaction_hash bytea,
  tenant text,
  reported boolean NOT NULL DEFAULT false,
  UNIQUE (document_hash, kind)
);
CREATE INDEX intent_by_plan ON intent (plan) WHERE plan IS NOT NULL;
CREATE INDEX intent_queued ON intent (id) WHERE plan IS NULL AND block_number IS NULL;
CREATE INDEX intent_sealed ON intent (id) WHERE sealed IS NOT NULL;
CREATE INDEX intent_by_block ON intent (block_number, block_hash) WHERE block_number IS NOT NULL;

-- The blocks of anchored intents; `seen` = the chain had the block when it was last read.
CREATE TABLE anchor_block (
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  seen boolean NOT NULL DEFAULT false,
  PRIMARY KEY (block_number, block_hash)
);
CREATE INDEX anchor_block_unseen ON anchor_block (block_number, block_hash) WHERE NOT seen;
CREATE INDEX anchor_block_seen ON anchor_block (block_number, block_hash) WHERE seen;

CREATE TABLE fee (
  minute bigint PRIMARY KEY,
  gwei bigint NOT NULL
);

-- `period` is that of the claim. A key is remembered until the end of the next period. Old keys of
-- a period are deleted together.
CREATE TABLE idempotency (
  key bytea PRIMARY KEY,
  period bigint NOT NULL,
  document_hash bytea NOT NULL
);
CREATE INDEX idempotency_by_period ON idempotency (period);

-- The anchoring of each document that was in this outbox, kept permanently because nodes drop old
-- events. It is in the order of blocks, so that the rows of a transaction share pages.
CREATE TABLE history (
  block_number bigint NOT NULL,
  document_hash bytea NOT NULL,
  transaction_hash bytea,
  PRIMARY KEY (block_number, document_hash)
);

CREATE TABLE batch_history (
  block_number bigint NOT NULL,
  root bytea NOT NULL,
  transaction_hash bytea,
  PRIMARY KEY (block_number, root)
);

-- The first use of each key of a request for a batch, kept permanently like the salts that depend
-- on the key.
CREATE TABLE batch_request (
  request bytea PRIMARY KEY,
  content bytea NOT NULL,
  checked_at bigint NOT NULL,
  promised boolean NOT NULL DEFAULT false
);

-- The batches that were promised, and those whose documents are being added to the index. `status`
-- is that of the whole batch, as in the table document. Times are in seconds of the Unix epoch.
CREATE TABLE batch (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  root bytea NOT NULL UNIQUE,
  size bigint NOT NULL,
  manifest bytea NOT NULL,
  tenant text NOT NULL,
  promised boolean NOT NULL DEFAULT false,
  promised_at bigint,
  block_number bigint,
  status bigint NOT NULL DEFAULT 0,
  created_at bigint -- local
);
CREATE INDEX batch_unpromised ON batch (id) WHERE NOT promised;
CREATE INDEX batch_pending ON batch (id) WHERE block_number IS NULL;
CREATE INDEX batch_by_status ON batch (status) WHERE status <> 0;

-- The index of documents for lists and searches, without names; see
-- #promise/document-index.ts. Rows are in the order in which documents were requested.
CREATE TABLE document (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document_hash bytea NOT NULL,
  -- For a document in a batch, its batch block, and the id of the batch, which may not be promised
  -- yet.
  batch_block bytea,
  batch bigint,
  -- NULL while it is not on the chain, and for a document in a batch, because the batch has it.
  block_number bigint,
  -- The status that the gateways know: its place in KEPT_STATUSES.
  status bigint NOT NULL DEFAULT 0,
  issued_on bigint NOT NULL,
  valid_until bigint NOT NULL,
  subject bigint,
  category bigint,
  tenant bigint,
  -- When it was promised, in seconds of the Unix epoch. NULL for a document in a batch, because the
  -- batch has it.
  created_at bigint,
  -- Who issued it; see #promise/acts.ts. NULL for a document in a batch.
  actor text
);
CREATE UNIQUE INDEX document_by_hash ON document (document_hash, coalesce(batch, 0));
CREATE INDEX document_by_subject ON document (subject, id) WHERE subject IS NOT NULL;
CREATE INDEX document_by_category ON document (category, id);
CREATE INDEX document_by_tenant ON document (tenant, id);
CREATE INDEX document_by_day ON document ((created_at / 86400), id) WHERE created_at IS NOT NULL;
CREATE INDEX document_by_batch ON document (batch, id) WHERE batch IS NOT NULL;
CREATE INDEX document_pending ON document (id) WHERE block_number IS NULL AND batch IS NULL;
CREATE INDEX document_by_status ON document (status, id) WHERE status <> 0;

-- Rows below this belong to an index that was dropped, and so do cursors.
CREATE TABLE document_index (
  first bigint PRIMARY KEY
);

-- Documents that were superseded here, written with the intent to issue the successor. Once that is
-- on the chain, the revocation is promised in the same transaction.
CREATE TABLE succession (
  document_hash bytea PRIMARY KEY,
  successor_hash bytea NOT NULL UNIQUE,
  -- The root, for a document in a batch.
  root bytea,
  revoked boolean NOT NULL DEFAULT false
);
CREATE INDEX succession_open ON succession (document_hash) WHERE NOT revoked;

-- Who did what with documents and batches, apart from issuing single documents.
CREATE TABLE act (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The hash of a document, or the root of a batch.
  document_hash bytea NOT NULL,
  kind text NOT NULL,
  -- In seconds of the Unix epoch.
  time bigint NOT NULL,
  actor text NOT NULL,
  tenant text
);
CREATE INDEX act_by_document ON act (document_hash, id);

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
  tenant text,
  -- For a change, the blind index of the tenant that issued the document or batch. If it is known,
  -- the event is only for that tenant.
  owner bigint
);

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
