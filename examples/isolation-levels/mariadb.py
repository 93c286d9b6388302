#!/usr/bin/env python3
"""MariaDB with InnoDB, one node: its four levels, and `REPEATABLE READ` with `innodb_snapshot_isolation`; and lists, which
one statement reads and extends.

A deadlock (1213) or a changed record (1020) aborts a transaction. A lock that is not granted in time (1205) ends only the
statement, so the client rolls back.
"""

import os
import shutil
import signal
import socket
import struct
import subprocess

import workload
from workload import Aborted

import common
from common import HOST, TIMEOUT, Unknown

# Configuration, level, `innodb_snapshot_isolation`, and whether keys are lists.
CONFIGURATIONS = [
    ("mariadb-read-uncommitted", "READ UNCOMMITTED", "OFF", False),
    ("mariadb-read-committed", "READ COMMITTED", "OFF", False),
    ("mariadb-repeatable-read", "REPEATABLE READ", "OFF", False),
    ("mariadb-repeatable-read-lists", "REPEATABLE READ", "OFF", True),
    ("mariadb-repeatable-read-snapshot", "REPEATABLE READ", "ON", False),
    ("mariadb-serializable", "SERIALIZABLE", "OFF", False),
]

# Capabilities of the client: long passwords, a database at connect, protocol 4.1, transactions, 4.1 authentication.
CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000


class Connection:
    """The text protocol, as a user without a password. Replies are one column of text, or no rows."""

    def __init__(self, port, database="test"):
        self.socket = socket.create_connection((HOST, port), timeout=10 * TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        self.receive()
        head = struct.pack("<IIB23x", CAPABILITIES, 1 << 24, 33)
        self.send(head + b"root\0" + b"\0" + database.encode() + b"\0", 1)
        self.reply()

    def send(self, body, number):
        self.socket.sendall(struct.pack("<I", len(body))[:3] + bytes([number]) + body)

    def receive(self):
        head = self.input.read(4)
        if len(head) < 4:
            raise ConnectionError("the connection was closed")
        return self.input.read(int.from_bytes(head[:3], "little"))

    def reply(self):
        """A packet; an error of the server is an exception."""
        body = self.receive()
        if body[:1] == b"\xff":
            raise RuntimeError(f"{int.from_bytes(body[1:3], 'little')}: {body[3:].decode(errors='replace')}")
        return body

    def query(self, text):
        """Returns the first column of each row, as text."""
        try:
            self.send(b"\x03" + text.encode(), 0)
            first = self.reply()
            if first[0] == 0:
                return []
            for _ in range(first[0]):
                self.receive()
            self.receive()  # The end of the columns.
            rows = []
            while (row := self.reply())[:1] != b"\xfe" or len(row) > 8:
                # A length below 251 takes a byte, and one below 65536 two more.
                rows.append(row[3 if row[0] == 0xFC else 1 :].decode())
            return rows
        except OSError as error:
            raise Unknown(error) from error

    def close(self):
        self.socket.close()


class Client:
    def __init__(self, port, level, has_snapshots, is_list):
        self.port, self.level, self.has_snapshots, self.is_list = port, level, has_snapshots, is_list
        self.connection = None
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connection = Connection(self.port)
        self.query(f"SET SESSION TRANSACTION ISOLATION LEVEL {self.level}")
        self.query(f"SET SESSION innodb_snapshot_isolation = {self.has_snapshots}")
        self.query("SET SESSION innodb_lock_wait_timeout = 2")

    def query(self, text):
        try:
            return self.connection.query(text)
        except RuntimeError as error:
            raise Aborted(error) from error

    def begin(self):
        self.query("BEGIN")

    def read(self, key):
        (value,) = self.query(f"SELECT value FROM registers WHERE name = '{key}'")
        return [int(element) for element in value.split()] if self.is_list else int(value)

    def write(self, key, value):
        self.query(f"UPDATE registers SET value = {value} WHERE name = '{key}'")

    def append(self, key, element):
        self.query(f"UPDATE registers SET value = CONCAT(value, ' {element}') WHERE name = '{key}'")

    def commit(self):
        self.query("COMMIT")

    def abort(self):
        self.query("ROLLBACK")

    def close(self):
        if self.connection:
            self.connection.close()


def run(settings):
    names = ["mariadbd", "mariadb-install-db"]
    programs = {name: shutil.which(name) or shutil.which(name, path="/usr/sbin") for name in names}
    for name, path in programs.items():
        if not path:
            raise common.NotStarted(f"`{name}` is not installed")
    # The server refuses to run as root.
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    with common.Servers() as servers:
        home = servers.directory / "data"
        home.mkdir()
        if user:
            shutil.chown(home, user["user"], user["group"])
        files = ["--no-defaults", f"--datadir={home}/node", f"--tmpdir={home}"]
        init = [programs["mariadb-install-db"], *files, "--auth-root-authentication-method=normal", "--skip-name-resolve"]
        done = subprocess.run(init, cwd=home, capture_output=True, text=True, **user)
        if done.returncode:
            raise common.NotStarted(f"mariadb-install-db: {done.stdout.strip()} {done.stderr.strip()}")
        (port,) = common.free_ports(1)
        network = [f"--port={port}", f"--bind-address={HOST}", f"--socket={home}/socket", f"--pid-file={home}/pid"]
        servers.start("node", programs["mariadbd"], *files, *network, stop=signal.SIGTERM, cwd=home, **user)
        servers.wait("node", lambda: Connection(port, "mysql").query("SELECT 1"))
        Connection(port, "mysql").query("CREATE DATABASE IF NOT EXISTS test")
        for name, level, has_snapshots, is_list in CONFIGURATIONS:
            first, kind = ("''", "text") if is_list else ("0", "integer")
            rows = ", ".join(f"('{key}', {first})" for key in workload.KEYS)
            connection = Connection(port)
            connection.query("DROP TABLE IF EXISTS registers")
            connection.query(f"CREATE TABLE registers (name varchar(8) PRIMARY KEY, value {kind}) ENGINE = InnoDB")
            connection.query(f"INSERT INTO registers VALUES {rows}")
            workload.record(settings, name, lambda: Client(port, level, has_snapshots, is_list), is_list)


if __name__ == "__main__":
    workload.main("Record transactions of MariaDB at each isolation level.", run)
