#!/usr/bin/env python3
"""SQLite: a rollback journal, a write-ahead log, and a shared cache with `PRAGMA read_uncommitted`.

A database that is locked or busy aborts a transaction. There is no server: clients are connections of one process.
"""

import sqlite3

import workload
from workload import Aborted

import common

CONFIGURATIONS = [
    ("sqlite-journal", "DELETE", False),
    ("sqlite-wal", "WAL", False),
    ("sqlite-read-uncommitted", "DELETE", True),
]


class Client:
    def __init__(self, path, journal, is_shared):
        mode = "?cache=shared" if is_shared else ""
        self.connection = sqlite3.connect(
            f"file:{path}{mode}", uri=True, timeout=0.05, isolation_level=None, check_same_thread=False
        )
        self.query(f"PRAGMA journal_mode = {journal}")
        # Nothing is left after a crash here, and waiting for a disk shows no more.
        self.query("PRAGMA synchronous = OFF")
        if is_shared:
            self.query("PRAGMA read_uncommitted = ON")

    def query(self, text, *values):
        try:
            return self.connection.execute(text, values).fetchall()
        except sqlite3.OperationalError as error:
            raise Aborted(error) from error

    def begin(self):
        self.query("BEGIN")

    def read(self, key):
        ((value,),) = self.query("SELECT value FROM registers WHERE key = ?", key)
        return value

    def write(self, key, value):
        self.query("UPDATE registers SET value = ? WHERE key = ?", value, key)

    def commit(self):
        self.query("COMMIT")

    def abort(self):
        if self.connection.in_transaction:
            self.query("ROLLBACK")

    def reconnect(self):
        pass

    def close(self):
        self.connection.close()


def run(settings):
    with common.Servers() as servers:
        for name, journal, is_shared in CONFIGURATIONS:
            path = servers.directory / f"{name}.db"
            first = Client(path, journal, is_shared)
            first.query("CREATE TABLE registers (key text PRIMARY KEY, value integer)")
            for key in workload.KEYS:
                first.query("INSERT INTO registers VALUES (?, 0)", key)
            workload.record(settings, name, lambda: Client(path, journal, is_shared))
            first.close()


if __name__ == "__main__":
    workload.main("Record transactions of SQLite.", run)
