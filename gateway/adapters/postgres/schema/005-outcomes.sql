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

CREATE FUNCTION intent_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  issues boolean;
  revisions boolean;
BEGIN
  SELECT coalesce(bool_or(after.kind = 'issue'), false),
    coalesce(bool_or(after.kind <> 'issue'), false)
  INTO issues, revisions
  FROM after JOIN before USING (id)
  WHERE (after.block_number, after.block_hash, after.transaction_hash)
      IS DISTINCT FROM (before.block_number, before.block_hash, before.transaction_hash)
    AND (after.block_number IS NOT NULL OR before.block_number IS NOT NULL);
  IF NOT issues AND NOT revisions THEN
    RETURN NULL;
  END IF;
  PERFORM lock_outcomes();

  IF issues THEN
    DELETE FROM history USING before JOIN after USING (id)
    WHERE before.kind = 'issue' AND before.root IS NULL
      AND before.block_number IS DISTINCT FROM after.block_number
      AND history.block_number = before.block_number
      AND history.document_hash = before.document_hash;
    DELETE FROM batch_history USING before JOIN after USING (id)
    WHERE before.kind = 'issue' AND before.root IS NOT NULL
      AND before.block_number IS DISTINCT FROM after.block_number
      AND batch_history.block_number = before.block_number AND batch_history.root = before.root;
    INSERT INTO history
    SELECT block_number, document_hash, transaction_hash FROM after
    WHERE kind = 'issue' AND root IS NULL AND block_number IS NOT NULL
    ON CONFLICT (block_number, document_hash)
      DO UPDATE SET transaction_hash = excluded.transaction_hash;
    INSERT INTO batch_history
    SELECT block_number, root, transaction_hash FROM after
    WHERE kind = 'issue' AND root IS NOT NULL AND block_number IS NOT NULL
    ON CONFLICT (block_number, root) DO UPDATE SET transaction_hash = excluded.transaction_hash;
    UPDATE document SET block_number = after.block_number
    FROM after JOIN before USING (id)
    WHERE after.kind = 'issue' AND after.block_number IS DISTINCT FROM before.block_number
      AND document.document_hash = after.document_hash;
    UPDATE batch SET block_number = after.block_number
    FROM after JOIN before USING (id)
    WHERE after.kind = 'issue' AND after.block_number IS DISTINCT FROM before.block_number
      AND batch.root = after.root;
    INSERT INTO intent (kind, document_hash, root, reason, tenant, promised)
    SELECT 'revoke', succession.document_hash, succession.root, 4, after.tenant, true
    FROM after JOIN before USING (id)
      JOIN succession ON succession.successor_hash = after.document_hash
    WHERE after.kind = 'issue' AND before.block_number IS NULL AND after.block_number IS NOT NULL
      AND NOT succession.revoked
    ON CONFLICT (document_hash, kind) DO UPDATE SET promised = true;
  END IF;

  IF revisions THEN
    UPDATE document
    SET status = status_after(status, after.kind, after.reason, after.block_number IS NOT NULL)
    FROM after JOIN before USING (id)
    WHERE after.kind <> 'issue' AND after.block_number IS DISTINCT FROM before.block_number
      AND document.document_hash = after.document_hash;
    UPDATE batch
    SET status = status_after(status, after.kind, after.reason, after.block_number IS NOT NULL)
    FROM after JOIN before USING (id)
    WHERE after.kind <> 'issue' AND after.block_number IS DISTINCT FROM before.block_number
      AND after.root = after.document_hash AND batch.root = after.root;
    UPDATE succession SET revoked = after.block_number IS NOT NULL
    FROM after JOIN before USING (id)
    WHERE after.kind = 'revoke' AND after.block_number IS DISTINCT FROM before.block_number
      AND succession.document_hash = after.document_hash;
  END IF;

  -- An intent gets an event for each block that it is in; learning a block's hash is not an event.
  PERFORM append_events(array_agg((
      event_type(after.kind, after.reason, is_batch(after.root, after.document_hash)),
      after.document_hash, after.block_number, after.block_hash, after.transaction_hash,
      after.tenant, after.kind <> 'issue')::new_event ORDER BY after.id))
  FROM after JOIN before USING (id)
  WHERE after.block_number IS NOT NULL AND (
    before.block_number IS DISTINCT FROM after.block_number
    OR before.block_hash <> after.block_hash AND before.block_hash <> '');
  RETURN NULL;
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
