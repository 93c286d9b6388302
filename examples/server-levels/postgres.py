#!/usr/bin/env python3
"""PostgreSQL: a primary and a streaming standby that lags behind it.

The standby connects to the primary through a proxy, which delays the write-ahead log and its acknowledgments. There is
one row per key. Each operation is one statement at the isolation level read committed, the default.

| configuration | reads | `synchronous_commit` |
|---|---|---|
| postgres-a | at the primary | `local` |
| postgres-b | at the standby | `local` |
| postgres-c | at the standby | `remote_apply` |
| postgres-d | at one of both, chosen at random | `remote_apply` |
"""

import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess

import common
from common import HOST, TIMEOUT, Unknown

# Bounds of the delay of the standby, in seconds.
DELAY = (0.003, 0.009)

PRIMARY, STANDBY = 0, 1


class Connection:
    """The simple query protocol, without authentication."""

    def __init__(self, port, **settings):
        self.socket = socket.create_connection((HOST, port), timeout=TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        pairs = {"user": "postgres", "database": "postgres", **settings}
        parameters = "".join(f"{name}\0{value}\0" for name, value in pairs.items())
        body = struct.pack("!i", 196608) + parameters.encode() + b"\0"
        self.exchange(struct.pack("!i", len(body) + 4) + body)

    def query(self, text):
        """Returns the first column of each row, as text or None."""
        body = text.encode() + b"\0"
        return self.exchange(b"Q" + struct.pack("!i", len(body) + 4) + body)

    def exchange(self, request):
        """Sends a request and returns the first column of each row of the response."""
        rows, error = [], None
        try:
            self.socket.sendall(request)
            while True:
                head = self.input.read(5)
                if len(head) < 5:
                    raise ConnectionError(error or "the connection was closed")
                kind, size = struct.unpack("!ci", head)
                body = self.input.read(size - 4)
                if kind == b"D":
                    (length,) = struct.unpack_from("!i", body, 2)
                    rows.append(None if length < 0 else body[6 : 6 + length].decode())
                elif kind == b"E":
                    error = body.replace(b"\0", b" ").decode()
                elif kind == b"Z":
                    break
        except OSError as problem:
            raise Unknown(problem) from problem
        if error:
            raise RuntimeError(error)
        return rows

    def close(self):
        self.socket.close()


class Client:
    def __init__(self, ports, readable, random, commit):
        self.ports, self.readable, self.random, self.commit = ports, readable, random, commit
        self.connections = []
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connections = [Connection(port, synchronous_commit=self.commit) for port in self.ports]

    def write(self, key, value):
        self.node = PRIMARY
        self.connections[PRIMARY].query(f"UPDATE registers SET value = {value} WHERE key = '{key}'")

    def read(self, key):
        self.node = self.random.choice(self.readable)
        (value,) = self.connections[self.node].query(f"SELECT value FROM registers WHERE key = '{key}'")
        return None if value is None else int(value)

    def close(self):
        for connection in self.connections:
            connection.close()


def find(program):
    """The path of a server program, which Debian keeps out of PATH."""
    found = shutil.which(program) or next(map(str, pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{program}")), None)
    if not found:
        raise common.NotStarted(f"`{program}` is not installed")
    return found


def run(settings):
    # The server refuses to run as root.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    with common.Servers() as servers:
        home = servers.directory / "data"
        home.mkdir()
        if user:
            shutil.chown(home, user["user"], user["group"])
        primary, standby = ports = common.free_ports(2)

        def run_tool(program, *args):
            done = subprocess.run([find(program), *args], cwd=home, capture_output=True, text=True, **user)
            if done.returncode:
                raise common.NotStarted(f"{program}: {done.stderr.strip()}")

        def start(name, port, **values):
            values |= {"port": port, "listen_addresses": HOST, "unix_socket_directories": ""}
            args = [arg for pair in values.items() for arg in ("-c", "=".join(map(str, pair)))]
            servers.start(name, find("postgres"), "-D", home / name, *args, stop=signal.SIGQUIT, cwd=home, **user)
            servers.wait(name, lambda: Connection(port).query("SELECT 1"))

        run_tool("initdb", "-D", "primary", "-A", "trust", "-U", "postgres")
        start("primary", primary, synchronous_standby_names="*", synchronous_commit="local")
        run_tool("pg_basebackup", "-D", "standby", "-R", "-h", HOST, "-p", str(primary), "-U", "postgres")
        proxy = common.Proxy(primary, lambda _: DELAY, both=True)
        start("standby", standby, primary_conninfo=f"host={HOST} port={proxy.port} user=postgres")
        Connection(primary).query("CREATE TABLE registers (key text PRIMARY KEY, value integer)")

        def create(keys):
            Connection(primary).query("INSERT INTO registers VALUES " + ", ".join(f"('{key}')" for key in keys))
            is_there = f"SELECT 1 FROM registers WHERE key = '{keys[-1]}'"
            servers.wait("standby", lambda: Connection(standby).query(is_there))

        for name, readable, commit in [
            ("postgres-a", [PRIMARY], "local"),
            ("postgres-b", [STANDBY], "local"),
            ("postgres-c", [STANDBY], "remote_apply"),
            ("postgres-d", [PRIMARY, STANDBY], "remote_apply"),
        ]:
            common.record(settings, name, lambda _, random: Client(ports, readable, random, commit), create)


if __name__ == "__main__":
    common.main("Record reads and writes of a PostgreSQL primary with a standby.", run)
