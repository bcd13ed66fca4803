-- The blind index of the tenant that issued a batch. All documents of a batch are of one tenant;
-- the newest row is of the newest index. Only `document_by_batch` has this order: with an equality,
-- the planner may read the rows of other batches until it meets one of this batch.
CREATE FUNCTION batch_owner(batch_root bytea) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN newest.batch = asked.id THEN newest.tenant END
  FROM batch AS asked, LATERAL (
    SELECT batch, tenant FROM document WHERE batch <= asked.id
    ORDER BY batch DESC, id DESC LIMIT 1) AS newest
  WHERE asked.root = batch_root
$$;

-- The time is in milliseconds of the Unix epoch, and never falls: ids rise with it.
CREATE OR REPLACE FUNCTION append_events(added new_event[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint;
BEGIN
  IF added IS NULL OR cardinality(added) = 0 THEN
    RETURN;
  END IF;
  PERFORM lock_outcomes();
  SELECT greatest(
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT time FROM event ORDER BY id DESC LIMIT 1)) INTO now_ms;
  INSERT INTO event (type, time, document_hash, block_number, block_hash, transaction_hash, tenant,
    owner)
  SELECT one.type, now_ms, one.document_hash, one.block_number, nullif(one.block_hash, ''),
    one.transaction_hash, one.tenant,
    CASE
      WHEN NOT one.has_owner THEN NULL
      WHEN one.type LIKE 'batch.%' THEN batch_owner(one.document_hash)
      ELSE (SELECT owned.tenant FROM document AS owned
        WHERE owned.document_hash = one.document_hash LIMIT 1) END
  FROM unnest(added) WITH ORDINALITY AS one
  ORDER BY one.ordinality;
END $$;
