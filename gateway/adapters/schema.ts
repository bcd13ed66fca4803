/** Of the schema. A file with another is refused, not changed. */
export const SCHEMA_VERSION = 7

/** Of the gateway's one SQLite file. */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS bound_to (
    registry TEXT NOT NULL,
    issuer_id INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS issuer_secret (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS probe (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    written_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS block (
    hash BLOB PRIMARY KEY,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tombstone (
    hash BLOB PRIMARY KEY
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS plan (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    nonce INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    raw TEXT NOT NULL,
    gas_limit INTEGER NOT NULL,
    max_fee_per_gas TEXT NOT NULL,
    max_priority_fee_per_gas TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS attempt_by_plan ON attempt (plan);
  CREATE TABLE IF NOT EXISTS intent (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    document_hash TEXT NOT NULL,
    valid_until INTEGER,
    reason INTEGER,
    inserted INTEGER NOT NULL DEFAULT 0,
    sealed BLOB,
    promised INTEGER NOT NULL DEFAULT 0,
    aside_until INTEGER,
    plan INTEGER REFERENCES plan (id) ON DELETE SET NULL,
    block_number INTEGER,
    block_hash TEXT NOT NULL DEFAULT '0x',
    transaction_hash TEXT,
    UNIQUE (document_hash, kind)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS intent_by_plan ON intent (plan);
  CREATE INDEX IF NOT EXISTS intent_by_block ON intent (block_number, block_hash)
    WHERE block_number IS NOT NULL;
  CREATE TABLE IF NOT EXISTS fee (
    minute INTEGER PRIMARY KEY,
    gwei INTEGER NOT NULL
  ) STRICT;
  -- For good, since nodes forget: where each document was anchored that this gateway had in its outbox.
  CREATE TABLE IF NOT EXISTS history (
    document_hash BLOB PRIMARY KEY,
    block_number INTEGER NOT NULL,
    transaction_hash BLOB
  ) STRICT, WITHOUT ROWID;
  -- By triggers: whatever writes the outcome of an intent writes this in the same transaction.
  CREATE TRIGGER IF NOT EXISTS history_written
  AFTER UPDATE OF block_number, transaction_hash ON intent
  WHEN NEW.kind = 'issue' AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT INTO history VALUES (
      unhex(substr(NEW.document_hash, 3)),
      NEW.block_number,
      unhex(substr(NEW.transaction_hash, 3))
    ) ON CONFLICT DO UPDATE SET
      block_number = excluded.block_number, transaction_hash = excluded.transaction_hash;
  END;
  CREATE TRIGGER IF NOT EXISTS history_adopted
  AFTER INSERT ON intent WHEN NEW.kind = 'issue' AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT OR REPLACE INTO history VALUES (
      unhex(substr(NEW.document_hash, 3)),
      NEW.block_number,
      unhex(substr(NEW.transaction_hash, 3))
    );
  END;
  CREATE TRIGGER IF NOT EXISTS history_dropped
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'issue' AND NEW.block_number IS NULL AND OLD.block_number IS NOT NULL
  BEGIN
    DELETE FROM history WHERE document_hash = unhex(substr(NEW.document_hash, 3));
  END;
  CREATE TABLE IF NOT EXISTS idempotency (
    key BLOB PRIMARY KEY,
    document_hash TEXT NOT NULL,
    claimed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS idempotency_by_time ON idempotency (claimed_at);
`
