-- Format 2 of the store in PostgreSQL: keys of people, which are destroyed when a person is erased. docs/store-format.md explains it.
CREATE TABLE rarely.subjects(
  chain bigint NOT NULL,
  tag   bytea NOT NULL,
  name  bytea NOT NULL,
  key   bytea NOT NULL,
  PRIMARY KEY (chain, tag),
  UNIQUE (chain, name)
);

CREATE FUNCTION rarely.keep_subjects(of_chain bigint, of_epoch bigint, tags bytea[], names bytea[], keys bytea[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rarely.fence(of_chain, of_epoch);
  INSERT INTO rarely.subjects(chain, tag, name, key)
    SELECT of_chain, * FROM unnest(tags, names, keys) ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION rarely.destroy_subjects(of_chain bigint, of_epoch bigint, tags bytea[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rarely.fence(of_chain, of_epoch);
  DELETE FROM rarely.subjects WHERE chain = of_chain AND tag = ANY(tags);
END $$;
