-- Format 1 of the store in PostgreSQL. docs/store-format.md explains it.
CREATE TABLE rarely.chains(
  chain   bigint PRIMARY KEY,
  id      text NOT NULL,
  copying boolean NOT NULL DEFAULT false
);
CREATE TABLE rarely.leases(
  chain   bigint PRIMARY KEY REFERENCES rarely.chains,
  epoch   bigint NOT NULL,
  owner   text NOT NULL,
  address text NOT NULL,
  expires timestamptz NOT NULL
);
CREATE TABLE rarely.events(
  chain   bigint NOT NULL,
  number  bigint NOT NULL,
  time_ms bigint NOT NULL,
  actor   text NOT NULL,
  policy  bigint NOT NULL,
  kind    text NOT NULL,
  body    text NOT NULL,
  hash    bytea NOT NULL,
  elapsed_ms bigint,
  PRIMARY KEY (chain, number)
);
CREATE INDEX events_by_policy ON rarely.events(chain, policy, number);
CREATE TABLE rarely.marks(
  chain  bigint NOT NULL,
  mark   bytea NOT NULL,
  number bigint NOT NULL,
  seal   bigint NOT NULL,
  PRIMARY KEY (chain, mark)
);
CREATE TABLE rarely.tree(
  chain bigint NOT NULL,
  block bigint NOT NULL,
  root  bytea NOT NULL,
  PRIMARY KEY (chain, block)
);
CREATE TABLE rarely.checkpoints(
  chain bigint NOT NULL,
  size  bigint NOT NULL,
  note  text NOT NULL,
  PRIMARY KEY (chain, size)
);
CREATE TABLE rarely.snapshots(
  chain  bigint PRIMARY KEY,
  header text NOT NULL,
  body   bytea NOT NULL
);

-- Locks the lease until the end of the transaction, and fails unless the epoch is the present one. Whoever takes the lease over
-- waits for this lock, so that no write of an earlier epoch can follow.
CREATE FUNCTION rarely.fence(of_chain bigint, of_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM rarely.leases WHERE chain = of_chain AND epoch = of_epoch FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'epoch % of chain % is over', of_epoch, of_chain USING ERRCODE = 'RL001';
  END IF;
END $$;

CREATE FUNCTION rarely.append(
  of_chain bigint, of_epoch bigint,
  numbers bigint[], times bigint[], actors text[], policies bigint[], kinds text[], bodies text[], hashes bytea[],
  elapsed bigint[], new_marks bytea[], mark_numbers bigint[], seals bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  last_number bigint;
BEGIN
  PERFORM rarely.fence(of_chain, of_epoch);
  SELECT coalesce(max(number), 0) INTO last_number FROM rarely.events WHERE chain = of_chain;
  IF numbers[1] <> last_number + 1 THEN
    RAISE EXCEPTION 'event % cannot follow event %', numbers[1], last_number USING ERRCODE = 'RL002';
  END IF;
  INSERT INTO rarely.events(chain, number, time_ms, actor, policy, kind, body, hash, elapsed_ms)
    SELECT of_chain, * FROM unnest(numbers, times, actors, policies, kinds, bodies, hashes, elapsed);
  INSERT INTO rarely.marks(chain, mark, number, seal)
    SELECT of_chain, * FROM unnest(new_marks, mark_numbers, seals)
    ON CONFLICT ON CONSTRAINT marks_pkey DO UPDATE SET number = excluded.number, seal = excluded.seal;
END $$;

CREATE FUNCTION rarely.keep_checkpoint(
  of_chain bigint, of_epoch bigint, new_size bigint, new_note text, blocks bigint[], roots bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rarely.fence(of_chain, of_epoch);
  INSERT INTO rarely.tree(chain, block, root)
    SELECT of_chain, * FROM unnest(blocks, roots)
    ON CONFLICT ON CONSTRAINT tree_pkey DO UPDATE SET root = excluded.root;
  INSERT INTO rarely.checkpoints(chain, size, note) VALUES (of_chain, new_size, new_note)
    ON CONFLICT ON CONSTRAINT checkpoints_pkey DO UPDATE SET note = excluded.note;
END $$;

CREATE FUNCTION rarely.keep_snapshot(of_chain bigint, of_epoch bigint, new_header text, new_body bytea)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM rarely.snapshots WHERE chain = of_chain;
  IF new_header IS NOT NULL THEN
    INSERT INTO rarely.snapshots(chain, header, body) VALUES (of_chain, new_header, new_body);
  END IF;
  -- Last, because a snapshot may be large and the owner cannot renew its lease while this lock is held.
  PERFORM rarely.fence(of_chain, of_epoch);
END $$;
