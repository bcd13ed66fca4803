-- position: the order in which keys were made.
CREATE TABLE api_key (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  digest text NOT NULL,
  tenant text NOT NULL,
  scopes text NOT NULL,
  label text,
  categories text,
  rate_limit integer,
  created_at text NOT NULL,
  expires_at text,
  last_used_at text,
  replaced_by text
);
-- How often keys have changed; above 0, there have been keys.
CREATE TABLE key_change (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version bigint NOT NULL
);
INSERT INTO key_change (version) VALUES (0);
