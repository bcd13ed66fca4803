-- Who writes with an account, or does a chore. The pair of name and token is unique so that the
-- token counts as a key: a writer that holds the row FOR KEY SHARE then waits for no renewal, and
-- a new holder waits for the writer.
CREATE TABLE lease (
  name text PRIMARY KEY,
  token bigint NOT NULL DEFAULT 0,
  holder uuid,
  expires_at timestamptz NOT NULL DEFAULT '-infinity',
  UNIQUE (name, token)
);

CREATE INDEX intent_unclaimed ON intent (id)
  WHERE account IS NULL AND plan IS NULL AND block_number IS NULL;
CREATE INDEX plan_by_account ON plan (account);

-- Whether a revision has to wait for its document, or its batch: it goes to the account that issues
-- it, until that is final. The registry skips the revision of a document that is not on the chain,
-- and only the transactions of one account stay in order after a reorg.
CREATE FUNCTION waits_for_issue(row_kind text, row_hash bytea, row_root bytea, row_account bytea)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT row_kind <> 'issue' AND EXISTS (
    SELECT 1 FROM intent AS issue
    WHERE issue.document_hash = coalesce(row_root, row_hash) AND issue.kind = 'issue'
      AND (issue.account <> row_account
        OR issue.block_number IS NULL AND issue.account IS DISTINCT FROM row_account))
$$;

-- Wakes up the gateways: an intent waits for an engine, or for nobody any more. What changed is in
-- the tables. All intents of a transaction make one notification.
CREATE FUNCTION intent_notified() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('docreg_outbox', '');
  RETURN NULL;
END $$;
CREATE TRIGGER intent_unclaimed_notified AFTER INSERT ON intent
  FOR EACH ROW WHEN (NEW.account IS NULL AND NEW.block_number IS NULL)
  EXECUTE FUNCTION intent_notified();
CREATE TRIGGER intent_moved_notified AFTER UPDATE ON intent
  FOR EACH ROW WHEN (OLD.block_number IS DISTINCT FROM NEW.block_number
    OR OLD.plan IS NOT NULL AND NEW.plan IS NULL)
  EXECUTE FUNCTION intent_notified();
CREATE TRIGGER intent_gone_notified AFTER DELETE ON intent
  FOR EACH ROW WHEN (OLD.block_number IS NULL)
  EXECUTE FUNCTION intent_notified();

-- Requests of each key and client address in all gateways: when its quota is full again, in
-- milliseconds of the Unix epoch. Lost by a crash of the server, as it may be.
CREATE UNLOGGED TABLE rate (
  name text PRIMARY KEY,
  full_at double precision NOT NULL,
  taken integer NOT NULL
);
