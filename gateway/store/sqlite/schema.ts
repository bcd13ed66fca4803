import { REVOCATION_REASONS } from '#verifier/reasons.ts'
import { SORTED_KEYS_SCHEMA } from './sorted-keys.ts'

/** The schema version. A file of another version is refused, not converted. */
export const SCHEMA_VERSION = 14

const ANCHORED_TYPE = `CASE NEW.kind
      WHEN 'issue' THEN 'document.issued'
      WHEN 'revoke' THEN iif(NEW.reason = ${REVOCATION_REASONS.superseded},
        'document.superseded', 'document.revoked')
      WHEN 'suspend' THEN 'document.suspended'
      WHEN 'release' THEN 'document.released'
    END`

/** @returns A condition on `document_by_key`: the document has this hash, an expression. */
export function isDocument(hash: string): string {
  return `key = substr(${hash}, 1, 8) AND document_hash = ${hash}`
}

/** @returns A condition on `document`, as {@link isDocument}. */
function isDocumentOf(hash: string): string {
  return `id = (SELECT id FROM document_by_key WHERE ${isDocument(hash)})`
}

/** The status of a document or batch after a change of it. */
const STATUS_REVISED = `CASE
      WHEN NEW.kind = 'revoke' AND NEW.block_number IS NOT NULL THEN iif(NEW.reason = 4, 3, 2)
      WHEN NEW.kind = 'revoke' THEN 0
      WHEN status > 1 THEN status
      ELSE (NEW.kind = 'suspend') = (NEW.block_number IS NOT NULL) END`

/**
 * @param row An intent's row, as the statement knows it.
 * @param type An expression; of a batch the same, with another prefix.
 * @returns A statement that writes its event. The time is in milliseconds of the Unix epoch.
 */
export function eventOf(row: string, type: string): string {
  return `INSERT INTO event (
      type, time, document_hash, block_number, block_hash, transaction_hash, tenant, owner)
    SELECT iif(${row}.root IS ${row}.document_hash,
        replace(${type}, 'document.', 'batch.'), ${type}), CAST(unixepoch('subsec') * 1000 AS INTEGER),
      unhex(substr(${row}.document_hash, 3)), ${row}.block_number,
      iif(${row}.block_hash = '0x', NULL, unhex(substr(${row}.block_hash, 3))),
      iif(${row}.block_number IS NULL, NULL, unhex(substr(${row}.transaction_hash, 3))),
      ${row}.tenant, ${ownerOf(row)}`
}

/**
 * @returns An expression: the blind index of who issued what a change is of. All documents of a
 *   batch are of one tenant; the newest row is of the newest index.
 */
function ownerOf(row: string): string {
  const hash = `unhex(substr(${row}.document_hash, 3))`
  return `CASE
      WHEN ${row}.kind = 'issue' THEN NULL
      WHEN ${row}.root = ${row}.document_hash THEN (
        SELECT owned.tenant FROM document AS owned
        WHERE owned.batch = (SELECT id FROM batch WHERE batch.root = ${hash})
        ORDER BY owned.id DESC LIMIT 1)
      ELSE (SELECT owned.tenant FROM document_by_key AS owned WHERE ${isDocument(hash)}) END`
}

/** The schema of the gateway's one SQLite file. */
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
  -- Found by hash through sorted keys, which do not keep a hash from being here twice.
  CREATE TABLE IF NOT EXISTS block (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tombstone (
    hash BLOB PRIMARY KEY
  ) STRICT, WITHOUT ROWID;
  -- Receipts. probe: the end of a document that may not be gone yet, each byte inverted.
  CREATE TABLE IF NOT EXISTS erasure (
    hash BLOB PRIMARY KEY,
    requested_at INTEGER NOT NULL,
    erased_at INTEGER,
    from_database INTEGER NOT NULL,
    from_kubo INTEGER NOT NULL DEFAULT 0,
    probe BLOB,
    tenant TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS erasure_unfinished ON erasure (requested_at)
    WHERE erased_at IS NULL;
  CREATE TABLE IF NOT EXISTS plan (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    nonce INTEGER NOT NULL,
    -- The newest block when it was planned; of suspensions and releases.
    head INTEGER
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
    -- Of a document; of a batch its root, which is then in both columns.
    document_hash TEXT NOT NULL,
    root TEXT,
    valid_until INTEGER,
    manifest TEXT,
    reason INTEGER,
    inserted INTEGER NOT NULL DEFAULT 0,
    sealed BLOB,
    promised INTEGER NOT NULL DEFAULT 0,
    aside_until INTEGER,
    plan INTEGER REFERENCES plan (id) ON DELETE SET NULL,
    block_number INTEGER,
    block_hash TEXT NOT NULL DEFAULT '0x',
    transaction_hash TEXT,
    tenant TEXT,
    reported INTEGER NOT NULL DEFAULT 0,
    UNIQUE (document_hash, kind)
  ) STRICT;
  -- Most intents wait for their block to become final, and are in none of the first three indexes.
  CREATE INDEX IF NOT EXISTS intent_by_plan ON intent (plan) WHERE plan IS NOT NULL;
  CREATE INDEX IF NOT EXISTS intent_queued ON intent (id)
    WHERE plan IS NULL AND block_number IS NULL;
  CREATE INDEX IF NOT EXISTS intent_sealed ON intent (id) WHERE sealed IS NOT NULL;
  CREATE INDEX IF NOT EXISTS intent_by_block ON intent (block_number, block_hash)
    WHERE block_number IS NOT NULL;
  -- The blocks of anchored intents; seen: the chain had the block at the last look.
  CREATE TABLE IF NOT EXISTS anchor_block (
    block_number INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (block_number, block_hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS anchor_block_unseen ON anchor_block (block_number, block_hash)
    WHERE seen = 0;
  CREATE INDEX IF NOT EXISTS anchor_block_seen ON anchor_block (block_number, block_hash)
    WHERE seen = 1;
  CREATE TABLE IF NOT EXISTS fee (
    minute INTEGER PRIMARY KEY,
    gwei INTEGER NOT NULL
  ) STRICT;
  -- Where each document that was in this outbox is anchored; kept permanently, since nodes forget.
  -- Ordered by block, so that the rows of a transaction share pages: ordered by document, each row
  -- would write a page of its own.
  CREATE TABLE IF NOT EXISTS history (
    block_number INTEGER NOT NULL,
    document_hash BLOB NOT NULL,
    transaction_hash BLOB,
    PRIMARY KEY (block_number, document_hash)
  ) STRICT, WITHOUT ROWID;
  -- Likewise, where each batch that was issued with this data folder is anchored.
  CREATE TABLE IF NOT EXISTS batch_history (
    block_number INTEGER NOT NULL,
    root BLOB NOT NULL,
    transaction_hash BLOB,
    PRIMARY KEY (block_number, root)
  ) STRICT, WITHOUT ROWID;
  -- The first use of each key of a request for a batch; kept permanently, like the salts that the
  -- key goes into.
  CREATE TABLE IF NOT EXISTS batch_request (
    request BLOB PRIMARY KEY,
    content BLOB NOT NULL,
    checked_at INTEGER NOT NULL,
    promised INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  -- What the request of a batch stored before the batch was promised: blocks, by the first and the
  -- last of their ids; or the CID of their group on a Kubo node; or the batch's documents in the index.
  CREATE TABLE IF NOT EXISTS batch_draft (
    id INTEGER PRIMARY KEY,
    request BLOB NOT NULL,
    first_block INTEGER,
    last_block INTEGER,
    kubo_root BLOB,
    batch INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS batch_draft_by_request ON batch_draft (request);
  -- The batches that were promised, and those whose documents are being added to the index. status:
  -- of the whole batch, as in the table document.
  CREATE TABLE IF NOT EXISTS batch (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    manifest BLOB NOT NULL,
    tenant TEXT NOT NULL,
    promised INTEGER NOT NULL DEFAULT 0,
    -- Seconds of the Unix epoch.
    promised_at INTEGER,
    block_number INTEGER,
    status INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS batch_unpromised ON batch (id) WHERE promised = 0;
  CREATE INDEX IF NOT EXISTS batch_pending ON batch (id) WHERE block_number IS NULL;
  CREATE INDEX IF NOT EXISTS batch_by_status ON batch (status) WHERE status <> 0;
  -- Triggers, so that every write of an outcome also writes the history, in the same transaction.
  CREATE TRIGGER IF NOT EXISTS history_written
  AFTER UPDATE OF block_number, transaction_hash ON intent
  WHEN NEW.kind = 'issue' AND NEW.root IS NULL AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT OR REPLACE INTO history VALUES (
      NEW.block_number,
      unhex(substr(NEW.document_hash, 3)),
      unhex(substr(NEW.transaction_hash, 3))
    );
  END;
  CREATE TRIGGER IF NOT EXISTS history_adopted
  AFTER INSERT ON intent WHEN NEW.kind = 'issue' AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT OR REPLACE INTO history VALUES (
      NEW.block_number,
      unhex(substr(NEW.document_hash, 3)),
      unhex(substr(NEW.transaction_hash, 3))
    );
  END;
  CREATE TRIGGER IF NOT EXISTS history_dropped
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'issue' AND NEW.root IS NULL AND OLD.block_number IS NOT NEW.block_number
  BEGIN
    DELETE FROM history WHERE block_number = OLD.block_number
      AND document_hash = unhex(substr(NEW.document_hash, 3));
  END;
  -- What happened to documents, in the order in which it was committed. Ids are never used again.
  CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    time INTEGER NOT NULL,
    document_hash BLOB NOT NULL,
    block_number INTEGER,
    block_hash BLOB,
    transaction_hash BLOB,
    tenant TEXT,
    -- Of a change: the blind index of the tenant that issued the document or batch. If it is
    -- known, the event is of that tenant alone.
    owner INTEGER
  ) STRICT;
  -- Triggers, so that every write of an outcome also writes its event, in the same transaction. An
  -- intent gets an event for each block that it is in; learning a block's hash is not an event.
  -- Made anew: those of a file from before did not know whose a batch is.
  DROP TRIGGER IF EXISTS event_anchored;
  CREATE TRIGGER event_anchored
  AFTER UPDATE OF block_number, block_hash ON intent
  WHEN NEW.block_number IS NOT NULL AND (
    OLD.block_number IS NOT NEW.block_number
    OR OLD.block_hash <> NEW.block_hash AND OLD.block_hash <> '0x')
  BEGIN
    ${eventOf('NEW', ANCHORED_TYPE)};
  END;
  -- A document that was reported before it left the outbox is not reported again.
  DROP TRIGGER IF EXISTS event_adopted;
  CREATE TRIGGER event_adopted
  AFTER INSERT ON intent WHEN NEW.block_number IS NOT NULL AND NEW.reported = 0
  BEGIN
    ${eventOf('NEW', ANCHORED_TYPE)};
  END;
  -- A promise that cannot be kept. A withdrawn intent was neither promised nor sent.
  CREATE TRIGGER IF NOT EXISTS event_failed
  AFTER DELETE ON intent
  WHEN OLD.kind = 'issue' AND OLD.block_number IS NULL
    AND (OLD.promised = 1 OR OLD.transaction_hash IS NOT NULL)
  BEGIN
    ${eventOf('OLD', "'document.failed'")};
  END;
  -- Whatever writes an intent, an erased document does not come back.
  CREATE TRIGGER IF NOT EXISTS erased_stays_erased
  AFTER INSERT ON intent WHEN NEW.sealed IS NOT NULL
    AND EXISTS (SELECT 1 FROM tombstone WHERE hash = unhex(substr(NEW.document_hash, 3)))
  BEGIN
    UPDATE intent SET sealed = NULL WHERE id = NEW.id;
  END;
  CREATE TRIGGER IF NOT EXISTS event_erased
  AFTER UPDATE OF erased_at ON erasure WHEN OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
  BEGIN
    INSERT INTO event (type, time, document_hash, tenant, owner)
    SELECT 'document.erased', NEW.erased_at, NEW.hash, NEW.tenant, (
      SELECT owned.tenant FROM document_by_key AS owned WHERE ${isDocument('NEW.hash')});
  END;
  CREATE TRIGGER IF NOT EXISTS batch_history_written
  AFTER UPDATE OF block_number, transaction_hash ON intent
  WHEN NEW.kind = 'issue' AND NEW.root IS NOT NULL AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT OR REPLACE INTO batch_history VALUES (
      NEW.block_number,
      unhex(substr(NEW.root, 3)),
      unhex(substr(NEW.transaction_hash, 3))
    );
  END;
  CREATE TRIGGER IF NOT EXISTS batch_history_dropped
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'issue' AND NEW.root IS NOT NULL AND OLD.block_number IS NOT NEW.block_number
  BEGIN
    DELETE FROM batch_history WHERE block_number = OLD.block_number
      AND root = unhex(substr(NEW.root, 3));
  END;
  -- Ordered by the period in which a key was claimed: keys of one period expire together.
  CREATE TABLE IF NOT EXISTS idempotency (
    period INTEGER NOT NULL,
    key BLOB NOT NULL,
    document_hash BLOB NOT NULL,
    PRIMARY KEY (period, key)
  ) STRICT, WITHOUT ROWID;
  -- The index of documents, for lists and searches: no names, see gateway/promise/document-index.ts. Rows
  -- are in the order in which documents were requested. Sorted keys find them by hash and subject.
  CREATE TABLE IF NOT EXISTS document (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_hash BLOB NOT NULL,
    -- Of a document of a batch: its block, and the id of the batch, which may not be promised yet.
    batch_block BLOB,
    batch INTEGER,
    -- NULL while it is not on the chain, and of a document of a batch: the batch has it.
    block_number INTEGER,
    -- What this gateway knows: 0 none of these, 1 suspended, 2 revoked, 3 superseded, 4 distrusted.
    status INTEGER NOT NULL DEFAULT 0,
    issued_on INTEGER NOT NULL,
    valid_until INTEGER NOT NULL,
    subject INTEGER,
    category INTEGER,
    tenant INTEGER,
    -- When it was promised, in seconds of the Unix epoch. NULL of a document of a batch: the batch
    -- has it.
    created_at INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS document_by_category ON document (category);
  CREATE INDEX IF NOT EXISTS document_by_tenant ON document (tenant);
  CREATE INDEX IF NOT EXISTS document_by_day ON document (created_at / 86400)
    WHERE created_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS document_by_batch ON document (batch) WHERE batch IS NOT NULL;
  CREATE INDEX IF NOT EXISTS document_pending ON document (id)
    WHERE block_number IS NULL AND batch IS NULL;
  CREATE INDEX IF NOT EXISTS document_by_status ON document (status) WHERE status <> 0;
  ${SORTED_KEYS_SCHEMA}
  -- Rows below this are of an index that was dropped, and so are cursors.
  CREATE TABLE IF NOT EXISTS document_index (
    first INTEGER NOT NULL
  ) STRICT;
  -- Triggers, so that every write of an outcome also changes the index, in the same transaction.
  CREATE TRIGGER IF NOT EXISTS document_anchored
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'issue' AND OLD.block_number IS NOT NEW.block_number
  BEGIN
    UPDATE document SET block_number = NEW.block_number
    WHERE ${isDocumentOf('unhex(substr(NEW.document_hash, 3))')};
    UPDATE batch SET block_number = NEW.block_number
    WHERE NEW.root IS NOT NULL AND root = unhex(substr(NEW.root, 3));
  END;
  CREATE TRIGGER IF NOT EXISTS document_withdrawn
  AFTER DELETE ON intent WHEN OLD.kind = 'issue' AND OLD.block_number IS NULL
  BEGIN
    DELETE FROM document
    WHERE ${isDocumentOf('unhex(substr(OLD.document_hash, 3))')} AND block_number IS NULL
      AND batch IS NULL;
    UPDATE batch SET promised = 0
    WHERE OLD.root IS NOT NULL AND root = unhex(substr(OLD.root, 3)) AND block_number IS NULL;
  END;
  CREATE TRIGGER IF NOT EXISTS document_revised
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind <> 'issue' AND OLD.block_number IS NOT NEW.block_number
  BEGIN
    UPDATE document SET status = ${STATUS_REVISED}
    WHERE ${isDocumentOf('unhex(substr(NEW.document_hash, 3))')};
    UPDATE batch SET status = ${STATUS_REVISED}
    WHERE NEW.root = NEW.document_hash AND root = unhex(substr(NEW.root, 3));
  END;
  -- Documents that were superseded here, written with the intent to issue the successor. Once that
  -- is on the chain, a trigger promises the revocation, so that no kill comes between the two.
  CREATE TABLE IF NOT EXISTS succession (
    document_hash BLOB PRIMARY KEY,
    successor_hash BLOB NOT NULL UNIQUE,
    -- Of a document of a batch.
    root BLOB,
    revoked INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS succession_open ON succession (document_hash) WHERE revoked = 0;
  CREATE TRIGGER IF NOT EXISTS succession_anchored
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'issue' AND OLD.block_number IS NULL AND NEW.block_number IS NOT NULL
  BEGIN
    INSERT INTO intent (kind, document_hash, root, reason, tenant, promised)
    SELECT 'revoke', '0x' || lower(hex(document_hash)),
      iif(root IS NULL, NULL, '0x' || lower(hex(root))), 4, NEW.tenant, 1
    FROM succession
    WHERE successor_hash = unhex(substr(NEW.document_hash, 3)) AND revoked = 0
    ON CONFLICT DO UPDATE SET promised = 1;
  END;
  CREATE TRIGGER IF NOT EXISTS succession_withdrawn
  AFTER DELETE ON intent WHEN OLD.kind = 'issue' AND OLD.block_number IS NULL
  BEGIN
    DELETE FROM succession
    WHERE successor_hash = unhex(substr(OLD.document_hash, 3)) AND revoked = 0;
  END;
  CREATE TRIGGER IF NOT EXISTS succession_revoked
  AFTER UPDATE OF block_number ON intent
  WHEN NEW.kind = 'revoke' AND OLD.block_number IS NOT NEW.block_number
  BEGIN
    UPDATE succession SET revoked = NEW.block_number IS NOT NULL
    WHERE document_hash = unhex(substr(NEW.document_hash, 3));
  END;
  CREATE TRIGGER IF NOT EXISTS document_erased
  AFTER INSERT ON tombstone
  BEGIN
    UPDATE document SET subject = NULL, category = NULL
    WHERE ${isDocumentOf('NEW.hash')};
  END;
  -- Receivers of events. cursor: the event up to which they are in delivery, or were delivered.
  -- types and secrets are JSON; the secrets are what they are derived from.
  CREATE TABLE IF NOT EXISTS webhook (
    id TEXT PRIMARY KEY,
    tenant TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    url TEXT NOT NULL,
    types TEXT,
    secrets TEXT NOT NULL,
    disabled_reason TEXT,
    failing_since INTEGER,
    cursor INTEGER NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  -- Deliveries that failed, or wait for an earlier one of their document.
  CREATE TABLE IF NOT EXISTS delivery (
    webhook TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    document_hash BLOB NOT NULL,
    event INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    attempts INTEGER NOT NULL,
    failed_since INTEGER,
    next_at INTEGER NOT NULL,
    PRIMARY KEY (webhook, document_hash, event)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS delivery_by_event ON delivery (event);
  CREATE INDEX IF NOT EXISTS delivery_by_time ON delivery (webhook, next_at);
`
