#!/usr/bin/env python3
"""Redis: a primary and two replicas that lag behind it by different times.

Each replica connects to the primary through a proxy, which delays the replication stream. Writes are `SET` at the
primary.

| configuration | reads | after a write |
|---|---|---|
| redis-a | at the primary | |
| redis-b | at one replica per client | |
| redis-c | at a random replica | |
| redis-d | at one replica per client | `WAIT 2` |
| redis-e | at a random replica | `WAIT 2` |
"""

import socket

import common
from common import HOST, TIMEOUT, Unknown

# Bounds of the delay of each replica, in seconds.
DELAYS = [(0.001, 0.003), (0.006, 0.012)]


class Connection:
    """Sends commands and parses replies: only strings, integers and nil, the replies of the commands used here."""

    def __init__(self, port):
        self.socket = socket.create_connection((HOST, port), timeout=TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.replies = self.socket.makefile("rb")

    def call(self, *words):
        words = [str(word).encode() for word in words]
        request = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        try:
            self.socket.sendall(request)
            line = self.replies.readline()
            if not line.endswith(b"\r\n"):
                raise ConnectionError("the connection was closed")
            kind, rest = line[:1], line[1:-2]
            if kind == b"$":
                return None if rest == b"-1" else self.replies.read(int(rest) + 2)[:-2].decode()
        except OSError as error:
            raise Unknown from error
        if kind == b"-":
            raise RuntimeError(rest.decode())
        return int(rest) if kind == b":" else rest.decode()

    def close(self):
        self.socket.close()


class Client:
    """Writes to the first port and reads from a random one of `readable`."""

    def __init__(self, ports, readable, random, wait):
        self.ports, self.readable, self.random, self.wait = ports, readable, random, wait
        self.connections = []
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connections = [Connection(port) for port in self.ports]

    def write(self, key, value):
        self.node = 0
        self.connections[0].call("SET", key, value)
        if self.wait and self.connections[0].call("WAIT", self.wait, 0) < self.wait:
            raise Unknown

    def read(self, key):
        self.node = self.random.choice(self.readable)
        value = self.connections[self.node].call("GET", key)
        return None if value is None else int(value)

    def close(self):
        for connection in self.connections:
            connection.close()


def run(settings):
    with common.Servers() as servers:
        ports = common.free_ports(1 + len(DELAYS))
        for node, port in enumerate(ports):
            directory = servers.directory / f"node-{node}"
            directory.mkdir()
            args = ["--bind", HOST, "--port", port, "--dir", directory, "--save", "", "--repl-diskless-sync-delay", 0]
            if node:
                proxy = common.Proxy(ports[0], lambda _, bounds=DELAYS[node - 1]: bounds)
                args += ["--replicaof", f"{HOST} {proxy.port}", "--replica-read-only", "yes"]
            servers.start(f"node-{node}", "redis-server", *args)
        servers.wait("node-0", lambda: Connection(ports[0]).call("PING"))
        for node, port in enumerate(ports[1:], start=1):
            is_up = "master_link_status:up"
            servers.wait(f"node-{node}", lambda: is_up in Connection(port).call("INFO", "replication"))

        replicas = list(range(1, len(ports)))
        count = len(replicas)
        for name, readable, wait in [
            ("redis-a", lambda _: [0], 0),
            ("redis-b", lambda index: [replicas[index % count]], 0),
            ("redis-c", lambda _: replicas, 0),
            ("redis-d", lambda index: [replicas[index % count]], count),
            ("redis-e", lambda _: replicas, count),
        ]:
            common.record(settings, name, lambda index, random: Client(ports, readable(index), random, wait))


if __name__ == "__main__":
    common.main("Record reads and writes of a Redis primary with two replicas.", run)
