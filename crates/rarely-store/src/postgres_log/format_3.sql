-- Format 3 of the store in PostgreSQL: bodies of old events are moved into archives. docs/store-format.md explains it.
CREATE FUNCTION rarely.archive(of_chain bigint, of_epoch bigint, numbers bigint[], stubs text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rarely.fence(of_chain, of_epoch);
  UPDATE rarely.events AS event SET body = stub.body
    FROM unnest(numbers, stubs) AS stub(number, body) WHERE event.chain = of_chain AND event.number = stub.number;
  DELETE FROM rarely.marks WHERE chain = of_chain AND number = ANY(numbers);
END $$;
