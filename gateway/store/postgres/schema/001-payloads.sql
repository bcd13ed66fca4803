-- Who the documents and promises belong to.
CREATE TABLE bound_to (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  registry text NOT NULL,
  issuer_id bigint NOT NULL
);
CREATE TABLE issuer_secret (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fingerprint text NOT NULL UNIQUE
);

CREATE TABLE block (
  hash bytea PRIMARY KEY,
  bytes bytea NOT NULL
);
-- Sealed bytes do not compress.
ALTER TABLE block ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE tombstone (
  hash bytea PRIMARY KEY
);

-- Receipts. written_by: the transaction that wrote the tombstone; ones that began before may still
-- be adding the document.
CREATE TABLE erasure (
  hash bytea PRIMARY KEY,
  requested_at bigint NOT NULL,
  erased_at bigint,
  from_database boolean NOT NULL,
  from_kubo boolean NOT NULL DEFAULT false,
  written_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  tenant text
);
CREATE INDEX erasure_unfinished ON erasure (requested_at) WHERE erased_at IS NULL;
