-- Where each document that was in this outbox is anchored; kept permanently, since nodes forget.
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

-- The first use of each key of a request for a batch; kept permanently, like the salts that the key
-- goes into.
CREATE TABLE batch_request (
  request bytea PRIMARY KEY,
  content bytea NOT NULL,
  checked_at bigint NOT NULL,
  promised boolean NOT NULL DEFAULT false
);
-- What the request of a batch stored before the batch was promised: the hashes of some blocks, one
-- after the other; or the CID of their group on a Kubo node; or the batch's documents in the index.
CREATE TABLE batch_draft (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request bytea NOT NULL,
  hashes bytea,
  kubo_root bytea,
  batch bigint,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX batch_draft_by_request ON batch_draft (request);
-- The batches that were promised, and those whose documents are being added to the index. status:
-- of the whole batch, as in the table document.
CREATE TABLE batch (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  root bytea NOT NULL UNIQUE,
  size bigint NOT NULL,
  manifest bytea NOT NULL,
  tenant text NOT NULL,
  promised boolean NOT NULL DEFAULT false,
  block_number bigint,
  status smallint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX batch_unpromised ON batch (id) WHERE NOT promised;
CREATE INDEX batch_pending ON batch (id) WHERE block_number IS NULL;
CREATE INDEX batch_by_status ON batch (status) WHERE status <> 0;

-- The index of documents, for lists and searches: no names, see gateway/promise/document-index.ts. Rows are
-- in the order in which documents were requested.
CREATE TABLE document (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document_hash bytea NOT NULL,
  -- Of a document of a batch: its block, and the id of the batch, which may not be promised yet.
  batch_block bytea,
  batch bigint,
  -- NULL while it is not on the chain, and of a document of a batch: the batch has it.
  block_number bigint,
  -- What the gateways know: 0 none of these, 1 suspended, 2 revoked, 3 superseded, 4 distrusted.
  status smallint NOT NULL DEFAULT 0,
  issued_on integer NOT NULL,
  valid_until bigint NOT NULL,
  subject bigint,
  category bigint,
  tenant bigint
);
CREATE UNIQUE INDEX document_by_hash ON document (document_hash, coalesce(batch, 0));
CREATE INDEX document_by_subject ON document (subject, id) WHERE subject IS NOT NULL;
CREATE INDEX document_by_category ON document (category, id);
CREATE INDEX document_by_tenant ON document (tenant, id);
CREATE INDEX document_by_batch ON document (batch, id) WHERE batch IS NOT NULL;
CREATE INDEX document_pending ON document (id) WHERE block_number IS NULL AND batch IS NULL;
CREATE INDEX document_by_status ON document (status, id) WHERE status <> 0;
-- Rows below this are of an index that was dropped, and so are cursors.
CREATE TABLE document_index (
  first bigint NOT NULL
);

-- Documents that were superseded here, written with the intent to issue the successor. Once that is
-- on the chain, a trigger promises the revocation, so that no kill comes between the two.
CREATE TABLE succession (
  document_hash bytea PRIMARY KEY,
  successor_hash bytea NOT NULL UNIQUE,
  -- Of a document of a batch.
  root bytea,
  revoked boolean NOT NULL DEFAULT false
);
CREATE INDEX succession_open ON succession (document_hash) WHERE NOT revoked;
