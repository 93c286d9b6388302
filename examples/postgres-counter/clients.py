"""Clients that increment a counter in PostgreSQL, and record it: `clients.py TRACE PORT LEVEL`.

An increment is a transaction that reads the counter, adds one, and writes it back, at the given isolation level. It returns
the new value.
"""

import sys
import threading

import psycopg
from omnilink_recorder import Recorder

CLIENTS = 4
INCREMENTS = 50


def increment(connection):
    with connection.transaction():
        (value,) = connection.execute("SELECT value FROM counter").fetchone()
        connection.execute("UPDATE counter SET value = %s", [value + 1])
    return value + 1


def run(client, port, level):
    with psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as connection:
        connection.isolation_level = psycopg.IsolationLevel[level]
        for _ in range(INCREMENTS):
            with client.operation("increment") as op:
                try:
                    op.returns(increment(connection))
                except psycopg.errors.SerializationFailure:
                    op.failed()  # The transaction was rolled back. After any other error, the outcome is unknown.


def main(trace, port, level):
    with psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS counter")
        connection.execute("CREATE TABLE counter AS SELECT 0 AS value")
    with Recorder(trace) as recorder:
        clients = [recorder.process(f"c{number}") for number in range(1, CLIENTS + 1)]
        threads = [threading.Thread(target=run, args=[client, port, level]) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
