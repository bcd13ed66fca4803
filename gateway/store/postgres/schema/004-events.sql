-- What happened to documents. Ids are in the order of commits: only `append_events`, of a later
-- file, adds rows.
CREATE TABLE event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type text NOT NULL,
  time bigint NOT NULL,
  document_hash bytea NOT NULL,
  block_number bigint,
  block_hash bytea,
  transaction_hash bytea,
  tenant text,
  -- Of a change: the blind index of the tenant that issued the document or batch. If it is known,
  -- the event is of that tenant alone.
  owner bigint
);

-- Receivers of events. cursor: the event up to which they are in delivery, or were delivered. The
-- secrets are what they are derived from.
CREATE TABLE webhook (
  id text PRIMARY KEY,
  tenant text,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  url text NOT NULL,
  types text[],
  secrets jsonb NOT NULL,
  disabled_reason text,
  failing_since bigint,
  cursor bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0
);
-- Deliveries that failed, or wait for an earlier one of their document.
CREATE TABLE delivery (
  webhook text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  document_hash bytea NOT NULL,
  event bigint NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  attempts integer NOT NULL,
  failed_since bigint,
  next_at bigint NOT NULL,
  PRIMARY KEY (webhook, document_hash, event)
);
CREATE INDEX delivery_by_event ON delivery (event);
CREATE INDEX delivery_by_time ON delivery (webhook, next_at);

-- A transaction that writes outcomes takes this lock first, and has it until it has committed. So
-- events are committed in the order of their ids, and a reader that has seen one has seen all before
-- it. Whoever forgets takes it with the first event, and risks a deadlock only.
CREATE FUNCTION lock_outcomes() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7160018)
$$;

-- An event to write.
CREATE TYPE new_event AS (
  type text,
  document_hash bytea,
  block_number bigint,
  block_hash bytea,
  transaction_hash bytea,
  tenant text,
  -- Whether somebody else may have issued the document or batch.
  has_owner boolean
);
