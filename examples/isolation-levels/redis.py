#!/usr/bin/env python3
"""Redis, one node: transactions that read first, and write in `MULTI` and `EXEC`.

| configuration | `WATCH` |
|---|---|
| redis-multi | nothing |
| redis-watch-written | each key before it is written, and read again |
| redis-watch-all | each key before it is read |

`EXEC` returns nil if a watched key has changed: the transaction aborts. A connection that is lost after `EXEC` was sent
leaves it unknown.
"""

import signal

import workload
from workload import Aborted

import common
import redis
from common import HOST, Unknown


class Connection(redis.Connection):
    def execute(self):
        """True unless a watched key has changed."""
        count = int(self.call("EXEC"))
        for _ in range(count):
            try:
                if not self.replies.readline():
                    raise ConnectionError("the connection was closed")
            except OSError as error:
                raise Unknown from error
        return count >= 0


class Client:
    def __init__(self, port, prefix, watches):
        self.port, self.prefix, self.watches, self.connection = port, prefix, watches, None
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connection = Connection(self.port)

    def begin(self):
        self.reads, self.writes = {}, {}

    def get(self, key):
        value = self.connection.call("GET", self.prefix + key)
        return None if value is None else int(value)

    def read(self, key):
        if self.watches == "all":
            self.connection.call("WATCH", self.prefix + key)
        self.reads[key] = self.get(key)
        return self.reads[key]

    def write(self, key, value):
        if self.watches == "written":
            self.connection.call("WATCH", self.prefix + key)
            if self.get(key) != self.reads[key]:
                raise Aborted
        self.writes[key] = value

    def commit(self):
        self.connection.call("MULTI")
        for key, value in self.writes.items():
            self.connection.call("SET", self.prefix + key, value)
        if not self.connection.execute():
            raise Aborted

    def abort(self):
        self.connection.call("UNWATCH")

    def close(self):
        if self.connection:
            self.connection.close()


def run(settings):
    with common.Servers() as servers:
        (port,) = common.free_ports(1)
        args = ["--port", port, "--bind", HOST, "--save", "", "--appendonly", "no", "--dir", servers.directory]
        servers.start("node", "redis-server", *args, stop=signal.SIGTERM)
        servers.wait("node", lambda: Connection(port).call("PING") == "PONG")
        for watches in ["nothing", "written", "all"]:
            name = "redis-multi" if watches == "nothing" else f"redis-watch-{watches}"
            workload.record(settings, name, lambda: Client(port, f"{name}/", watches))


if __name__ == "__main__":
    workload.main("Record transactions of Redis.", run)
