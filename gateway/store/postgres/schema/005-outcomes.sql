-- Triggers, so that every write of an outcome also writes history, index and events, in the same
-- transaction. Each runs once for a statement, which may be of hundreds of intents.

-- The event of an intent that is on the chain; of a batch the same, with another prefix.
CREATE FUNCTION event_type(row_kind text, row_reason smallint, is_batch boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN is_batch THEN 'batch.' ELSE 'document.' END || CASE row_kind
    WHEN 'issue' THEN 'issued'
    WHEN 'revoke' THEN CASE row_reason WHEN 4 THEN 'superseded' ELSE 'revoked' END
    WHEN 'suspend' THEN 'suspended'
    ELSE 'released' END
$$;

CREATE FUNCTION is_batch(row_root bytea, row_hash bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT row_root IS NOT DISTINCT FROM row_hash
$$;

-- The status of a document or batch after a change of it.
CREATE FUNCTION status_after(status smallint, row_kind text, row_reason smallint, anchored boolean)
RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE
    WHEN row_kind = 'revoke' AND anchored THEN CASE row_reason WHEN 4 THEN 3 ELSE 2 END
    WHEN row_kind = 'revoke' THEN 0
    WHEN status > 1 THEN status
    WHEN (row_kind = 'suspend') = anchored THEN 1
    ELSE 0 END)::smallint
$$;

-- What an update changed of an intent that is on the chain, or was.
CREATE TYPE changed_intent AS (
  id bigint,
  kind text,
  document_hash bytea,
  root bytea,
  reason smallint,
  tenant text,
  old_block bigint,
  old_block_hash bytea,
  block_number bigint,
  block_hash bytea,
  transaction_hash bytea
);

CREATE FUNCTION intent_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes changed_intent[];
BEGIN
  -- Planned each time, by the number of rows: the plan for one row takes quadratic time for many.
  EXECUTE $join$
    SELECT array_agg((id, after.kind, after.document_hash, after.root, after.reason, after.tenant,
        before.block_number, before.block_hash, after.block_number, after.block_hash,
        after.transaction_hash)::changed_intent ORDER BY id)
    FROM after JOIN before USING (id)
    WHERE (after.block_number IS NOT NULL OR before.block_number IS NOT NULL)
      AND (after.block_number, after.block_hash, after.transaction_hash)
        IS DISTINCT FROM (before.block_number, before.block_hash, before.transaction_hash)
  $join$ INTO changes;
  IF changes IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM lock_outcomes();
  IF EXISTS (SELECT 1 FROM unnest(changes) WHERE kind = 'issue') THEN
    PERFORM follow_issues(changes);
  END IF;
  IF EXISTS (SELECT 1 FROM unnest(changes) WHERE kind <> 'issue') THEN
    PERFORM follow_revisions(changes);
  END IF;
  -- An intent gets an event for each block that it is in; learning a block's hash is not an event.
  PERFORM append_events(array_agg((
      event_type(kind, reason, is_batch(root, document_hash)), document_hash, block_number,
      block_hash, transaction_hash, tenant, kind <> 'issue')::new_event ORDER BY id))
  FROM unnest(changes)
  WHERE block_number IS NOT NULL AND (
    old_block IS DISTINCT FROM block_number
    OR old_block_hash <> block_hash AND old_block_hash <> '');
  RETURN NULL;
END $$;

-- Of documents and batches to issue: history, index, and the revocation of what they supersede.
CREATE FUNCTION follow_issues(changes changed_intent[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM history USING unnest(changes) AS item
  WHERE item.kind = 'issue' AND item.root IS NULL
    AND item.old_block IS DISTINCT FROM item.block_number
    AND history.block_number = item.old_block AND history.document_hash = item.document_hash;
  DELETE FROM batch_history USING unnest(changes) AS item
  WHERE item.kind = 'issue' AND item.root IS NOT NULL
    AND item.old_block IS DISTINCT FROM item.block_number
    AND batch_history.block_number = item.old_block AND batch_history.root = item.root;
  INSERT INTO history
  SELECT block_number, document_hash, transaction_hash FROM unnest(changes)
  WHERE kind = 'issue' AND root IS NULL AND block_number IS NOT NULL
  ON CONFLICT (block_number, document_hash)
    DO UPDATE SET transaction_hash = excluded.transaction_hash;
  INSERT INTO batch_history
  SELECT block_number, root, transaction_hash FROM unnest(changes)
  WHERE kind = 'issue' AND root IS NOT NULL AND block_number IS NOT NULL
  ON CONFLICT (block_number, root) DO UPDATE SET transaction_hash = excluded.transaction_hash;
  UPDATE document SET block_number = item.block_number FROM unnest(changes) AS item
  WHERE item.kind = 'issue' AND item.block_number IS DISTINCT FROM item.old_block
    AND document.document_hash = item.document_hash;
  UPDATE batch SET block_number = item.block_number FROM unnest(changes) AS item
  WHERE item.kind = 'issue' AND item.block_number IS DISTINCT FROM item.old_block
    AND batch.root = item.root;
  INSERT INTO intent (kind, document_hash, root, reason, tenant, promised)
  SELECT 'revoke', succession.document_hash, succession.root, 4, item.tenant, true
  FROM unnest(changes) AS item
    JOIN succession ON succession.successor_hash = item.document_hash
  WHERE item.kind = 'issue' AND item.old_block IS NULL AND item.block_number IS NOT NULL
    AND NOT succession.revoked
  ON CONFLICT (document_hash, kind) DO UPDATE SET promised = true;
END $$;

CREATE FUNCTION follow_revisions(changes changed_intent[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE document
  SET status = status_after(status, item.kind, item.reason, item.block_number IS NOT NULL)
  FROM unnest(changes) AS item
  WHERE item.kind <> 'issue' AND item.block_number IS DISTINCT FROM item.old_block
    AND document.document_hash = item.document_hash;
  UPDATE batch
  SET status = status_after(status, item.kind, item.reason, item.block_number IS NOT NULL)
  FROM unnest(changes) AS item
  WHERE item.kind <> 'issue' AND item.block_number IS DISTINCT FROM item.old_block
    AND item.root = item.document_hash AND batch.root = item.root;
  UPDATE succession SET revoked = item.block_number IS NOT NULL FROM unnest(changes) AS item
  WHERE item.kind = 'revoke' AND item.block_number IS DISTINCT FROM item.old_block
    AND succession.document_hash = item.document_hash;
END $$;

CREATE TRIGGER intent_updated AFTER UPDATE ON intent
  REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION intent_updated();

-- An adopted document is on the chain already. One that was reported before it left the outbox is
-- not reported again.
CREATE FUNCTION intent_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM after WHERE block_number IS NOT NULL) THEN
    INSERT INTO history
    SELECT block_number, document_hash, transaction_hash FROM after
    WHERE kind = 'issue' AND block_number IS NOT NULL
    ON CONFLICT (block_number, document_hash)
      DO UPDATE SET transaction_hash = excluded.transaction_hash;
    PERFORM append_events(array_agg((
        event_type(kind, reason, is_batch(root, document_hash)), document_hash, block_number,
        block_hash, transaction_hash, tenant, kind <> 'issue')::new_event ORDER BY id))
    FROM after WHERE block_number IS NOT NULL AND NOT reported;
  END IF;
  -- Whatever writes an intent, an erased document does not come back.
  IF EXISTS (SELECT 1 FROM after WHERE sealed IS NOT NULL) THEN
    UPDATE intent SET sealed = NULL FROM after JOIN tombstone ON hash = after.document_hash
    WHERE intent.id = after.id AND after.sealed IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER intent_inserted AFTER INSERT ON intent
  REFERENCING NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION intent_inserted();

-- An intent to issue that leaves before it was on the chain: withdrawn, or a promise that cannot be
-- kept. A withdrawn intent was neither promised nor sent.
CREATE FUNCTION intent_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM before WHERE kind = 'issue' AND block_number IS NULL) THEN
    RETURN NULL;
  END IF;
  PERFORM append_events(array_agg((
      CASE WHEN is_batch(root, document_hash) THEN 'batch.failed' ELSE 'document.failed' END,
      document_hash, NULL, NULL, NULL, tenant, false)::new_event ORDER BY id))
  FROM before WHERE kind = 'issue' AND block_number IS NULL
    AND (promised OR transaction_hash IS NOT NULL);
  DELETE FROM document USING before
  WHERE before.kind = 'issue' AND before.block_number IS NULL
    AND document.document_hash = before.document_hash
    AND document.block_number IS NULL AND document.batch IS NULL;
  UPDATE batch SET promised = false FROM before
  WHERE before.kind = 'issue' AND before.block_number IS NULL AND batch.root = before.root
    AND batch.block_number IS NULL;
  DELETE FROM succession USING before
  WHERE before.kind = 'issue' AND before.block_number IS NULL
    AND succession.successor_hash = before.document_hash AND NOT succession.revoked;
  RETURN NULL;
END $$;
CREATE TRIGGER intent_deleted AFTER DELETE ON intent
  REFERENCING OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION intent_deleted();

CREATE FUNCTION erasure_finished() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_events(array_agg(('document.erased', after.hash, NULL, NULL, NULL, after.tenant,
      true)::new_event ORDER BY after.requested_at))
  FROM after JOIN before USING (hash)
  WHERE before.erased_at IS NULL AND after.erased_at IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER erasure_finished AFTER UPDATE ON erasure
  REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION erasure_finished();
