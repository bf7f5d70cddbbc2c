-- Format 4 of the store in PostgreSQL: policies are spread over several chains, each with an owner. docs/store-format.md explains it.
CREATE TABLE rarely.placements(
  policy text PRIMARY KEY,
  chain  bigint NOT NULL REFERENCES rarely.chains
);
CREATE TABLE rarely.replicas(
  id      text PRIMARY KEY,
  address text NOT NULL,
  expires timestamptz NOT NULL
);
CREATE TABLE rarely.sessions(
  key     bytea PRIMARY KEY,
  session text NOT NULL,
  expires timestamptz NOT NULL
);
