#!/usr/bin/env python3
"""etcd, one node: transactions that read first, and write in one `Txn` that compares revisions.

| configuration | the first read of a key | `Txn` compares |
|---|---|---|
| etcd-compare-nothing | its current version | nothing |
| etcd-compare-written | all keys, at one revision | the keys that it writes |
| etcd-compare-all | its current version | all keys that were read |

A `Txn` whose comparison fails has no effect, so the transaction aborts. A request without a reply is unknown.
"""

import base64
import http.client

import workload
from workload import Aborted

import common
from common import HOST, TIMEOUT
from etcd import call, encode, status


class Client:
    def __init__(self, port, prefix, compares, has_snapshot):
        self.port, self.prefix, self.compares, self.has_snapshot = port, prefix, compares, has_snapshot
        self.connection = None
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connection = http.client.HTTPConnection(HOST, self.port, timeout=TIMEOUT)

    def begin(self):
        self.revision, self.versions, self.writes = None, {}, {}

    def read(self, key):
        if key in self.writes:
            return self.writes[key]
        request = {"key": encode(self.prefix + key)}
        if self.revision:
            request["revision"] = self.revision
        reply = call(self.connection, "/v3/kv/range", request)
        if self.has_snapshot and not self.revision:
            self.revision = reply["header"]["revision"]
        found = reply.get("kvs")
        self.versions.setdefault(key, found[0]["mod_revision"] if found else "0")
        return int(base64.b64decode(found[0]["value"])) if found else None

    def write(self, key, value):
        self.writes[key] = value

    def commit(self):
        compared = {"nothing": [], "written": self.writes, "all": self.versions}[self.compares]
        compare = [
            {"key": encode(self.prefix + key), "target": "MOD", "result": "EQUAL", "mod_revision": self.versions[key]}
            for key in compared
        ]
        puts = [
            {"requestPut": {"key": encode(self.prefix + key), "value": encode(value)}}
            for key, value in self.writes.items()
        ]
        # Without writes, there is nothing to compare, unless the reads have to be of one instant.
        if (puts or self.compares == "all") and not call(
            self.connection, "/v3/kv/txn", {"compare": compare, "success": puts}
        ).get("succeeded"):
            raise Aborted

    def abort(self):
        pass

    def close(self):
        if self.connection:
            self.connection.close()


def run(settings):
    with common.Servers() as servers:
        client, peer = common.free_ports(2)
        args = {
            "data-dir": servers.directory / "node",
            "listen-client-urls": f"http://{HOST}:{client}",
            "advertise-client-urls": f"http://{HOST}:{client}",
            "listen-peer-urls": f"http://{HOST}:{peer}",
            "initial-advertise-peer-urls": f"http://{HOST}:{peer}",
            "initial-cluster": f"default=http://{HOST}:{peer}",
        }
        servers.start("node", "etcd", *(f"--{name}={value}" for name, value in args.items()))
        servers.wait("node", lambda: int(status(client).get("leader", 0)))
        for compares, has_snapshot in [("nothing", False), ("written", True), ("all", False)]:
            name = f"etcd-compare-{compares}"
            workload.record(settings, name, lambda: Client(client, f"{name}/", compares, has_snapshot))


if __name__ == "__main__":
    workload.main("Record transactions of etcd.", run)
