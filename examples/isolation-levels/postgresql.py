#!/usr/bin/env python3
"""PostgreSQL, one node: `READ COMMITTED`, `REPEATABLE READ` and `SERIALIZABLE`.

A serialization failure (40001) or a deadlock (40P01) aborts a transaction, and so does any other error before `COMMIT`.
"""

import os
import shutil
import signal
import subprocess

import workload
from workload import Aborted

import common
from common import HOST
from postgres import Connection, find

LEVELS = ["read committed", "repeatable read", "serializable"]


class Client:
    def __init__(self, port, level):
        self.port, self.level, self.connection = port, level, None
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connection = Connection(self.port)

    def query(self, text):
        try:
            return self.connection.query(text)
        except RuntimeError as error:
            raise Aborted(error) from error

    def begin(self):
        self.query(f"BEGIN ISOLATION LEVEL {self.level}")

    def read(self, key):
        (value,) = self.query(f"SELECT value FROM registers WHERE key = '{key}'")
        return int(value)

    def write(self, key, value):
        self.query(f"UPDATE registers SET value = {value} WHERE key = '{key}'")

    def commit(self):
        self.query("COMMIT")

    def abort(self):
        self.query("ROLLBACK")

    def close(self):
        if self.connection:
            self.connection.close()


def run(settings):
    # The server refuses to run as root.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    with common.Servers() as servers:
        home = servers.directory / "data"
        home.mkdir()
        if user:
            shutil.chown(home, user["user"], user["group"])
        init = [find("initdb"), "-D", "node", "-A", "trust", "-U", "postgres"]
        done = subprocess.run(init, cwd=home, capture_output=True, text=True, **user)
        if done.returncode:
            raise common.NotStarted(f"initdb: {done.stderr.strip()}")
        (port,) = common.free_ports(1)
        values = {"port": port, "listen_addresses": HOST, "unix_socket_directories": ""}
        args = [arg for pair in values.items() for arg in ("-c", "=".join(map(str, pair)))]
        servers.start("node", find("postgres"), "-D", home / "node", *args, stop=signal.SIGQUIT, cwd=home, **user)
        servers.wait("node", lambda: Connection(port).query("SELECT 1"))
        for level in LEVELS:
            rows = ", ".join(f"('{key}', 0)" for key in workload.KEYS)
            Connection(port).query("DROP TABLE IF EXISTS registers")
            Connection(port).query("CREATE TABLE registers (key text PRIMARY KEY, value integer)")
            Connection(port).query(f"INSERT INTO registers VALUES {rows}")
            workload.record(settings, f"postgresql-{level.replace(' ', '-')}", lambda: Client(port, level))


if __name__ == "__main__":
    workload.main("Record transactions of PostgreSQL at each isolation level.", run)
