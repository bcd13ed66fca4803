-- When a document was promised, in seconds of the Unix epoch. NULL of a document of a batch, since the
-- batch has it, and of what was promised before this file ran: `docreg-gateway reindex` then takes
-- the time of the block. The default comes later, so that it is not given to those.
ALTER TABLE document ADD COLUMN created_at bigint;
ALTER TABLE document ALTER COLUMN created_at
  SET DEFAULT floor(extract(epoch FROM now()))::bigint;
ALTER TABLE batch ADD COLUMN promised_at bigint;
CREATE INDEX document_by_day ON document ((created_at / 86400), id) WHERE created_at IS NOT NULL;
