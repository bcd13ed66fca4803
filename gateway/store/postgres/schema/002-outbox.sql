-- account: who sends it; lower case in hexadecimal. NULL = nobody has taken it yet.
CREATE TABLE plan (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account bytea,
  nonce bigint NOT NULL,
  -- The newest block when it was planned; of suspensions and releases.
  head bigint
);
CREATE TABLE attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  plan bigint NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
  hash bytea NOT NULL,
  raw bytea NOT NULL,
  gas_limit bigint NOT NULL,
  max_fee_per_gas numeric NOT NULL,
  max_priority_fee_per_gas numeric NOT NULL
);
CREATE INDEX attempt_by_plan ON attempt (plan);

CREATE TABLE intent (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account bytea,
  kind text NOT NULL CHECK (kind IN ('issue', 'revoke', 'suspend', 'release')),
  -- Of a document; of a batch its root, which is then in both columns.
  document_hash bytea NOT NULL,
  root bytea,
  valid_until bigint,
  manifest bytea,
  reason smallint,
  inserted boolean NOT NULL DEFAULT false,
  sealed bytea,
  promised boolean NOT NULL DEFAULT false,
  aside_until bigint,
  plan bigint REFERENCES plan (id) ON DELETE SET NULL,
  block_number bigint,
  -- Empty while the block was not read.
  block_hash bytea NOT NULL DEFAULT '',
  transaction_hash bytea,
  tenant text,
  reported boolean NOT NULL DEFAULT false,
  UNIQUE (document_hash, kind)
);
-- Most intents wait for their block to become final, and are in none of the first three indexes.
CREATE INDEX intent_by_plan ON intent (plan) WHERE plan IS NOT NULL;
CREATE INDEX intent_queued ON intent (id) WHERE plan IS NULL AND block_number IS NULL;
CREATE INDEX intent_sealed ON intent (id) WHERE sealed IS NOT NULL;
CREATE INDEX intent_by_block ON intent (block_number, block_hash) WHERE block_number IS NOT NULL;

-- The blocks of anchored intents; seen: the chain had the block at the last look.
CREATE TABLE anchor_block (
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  seen boolean NOT NULL DEFAULT false,
  PRIMARY KEY (block_number, block_hash)
);
CREATE INDEX anchor_block_unseen ON anchor_block (block_number, block_hash) WHERE NOT seen;
CREATE INDEX anchor_block_seen ON anchor_block (block_number, block_hash) WHERE seen;

CREATE TABLE fee (
  minute bigint PRIMARY KEY,
  gwei numeric NOT NULL
);

-- period: of the claim; a key is remembered until the end of the period after.
CREATE TABLE idempotency (
  key bytea PRIMARY KEY,
  period bigint NOT NULL,
  document_hash bytea NOT NULL
);
CREATE INDEX idempotency_by_period ON idempotency (period);
