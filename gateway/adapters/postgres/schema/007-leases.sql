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
