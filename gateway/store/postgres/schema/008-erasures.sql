-- Tells the gateways that an erasure has begun.
CREATE FUNCTION erasure_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('docreg_erasure', '0x' || encode(NEW.hash, 'hex'));
  RETURN NULL;
END $$;
CREATE TRIGGER erasure_begun AFTER INSERT OR UPDATE ON erasure
  FOR EACH ROW WHEN (NEW.erased_at IS NULL)
  EXECUTE FUNCTION erasure_begun();
