#!/usr/bin/env python3
"""etcd: three nodes, one of which hears from its peers late.

A node receives the messages of a peer over a connection that it opens itself, and its request names it. So each node
is behind a proxy, and all proxies delay the connections of the slow node, which is a follower. Clients use the JSON
gateway.

| configuration | reads | nodes |
|---|---|---|
| etcd-a | linearizable, the default | a random node for each operation |
| etcd-b | `serializable: true` | a random node for each operation |
| etcd-c | `serializable: true` | one node per client, for reads and writes |
"""

import base64
import http.client
import json

import common
from common import HOST, TIMEOUT, Unknown

NODES = 3

# Bounds of the delay of the slow node, in seconds.
DELAY = (0.006, 0.012)


def call(connection, path, request):
    """Sends a request to the gateway and returns the response."""
    try:
        connection.request("POST", path, json.dumps(request), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unknown from error
    if response.status != 200:
        # The server may have forwarded the request before it gave up.
        raise Unknown(body)
    return json.loads(body)


def encode(text):
    return base64.b64encode(str(text).encode()).decode()


class Client:
    def __init__(self, ports, node, random, is_serializable):
        self.ports, self.sticky, self.random, self.is_serializable = ports, node, random, is_serializable
        self.connections = []
        self.reconnect()

    def reconnect(self):
        self.close()
        self.connections = [http.client.HTTPConnection(HOST, port, timeout=TIMEOUT) for port in self.ports]

    def call(self, path, **request):
        self.node = self.random.randrange(NODES) if self.sticky is None else self.sticky
        return call(self.connections[self.node], path, request)

    def write(self, key, value):
        self.call("/v3/kv/put", key=encode(key), value=encode(value))

    def read(self, key):
        found = self.call("/v3/kv/range", key=encode(key), serializable=self.is_serializable).get("kvs")
        return int(base64.b64decode(found[0]["value"])) if found else None

    def close(self):
        for connection in self.connections:
            connection.close()


def status(port):
    return call(http.client.HTTPConnection(HOST, port, timeout=TIMEOUT), "/v3/maintenance/status", {})


def run(settings):
    slow = []

    def delay(opening):
        return DELAY if any(b"x-server-from: " + node in opening.lower() for node in slow) else (0, 0)

    with common.Servers() as servers:
        ports = common.free_ports(2 * NODES)
        clients, peers = ports[:NODES], ports[NODES:]
        proxies = [common.Proxy(peer, delay) for peer in peers]
        cluster = ",".join(f"n{node}=http://{HOST}:{proxy.port}" for node, proxy in enumerate(proxies))
        for node in range(NODES):
            args = {
                "name": f"n{node}",
                "data-dir": servers.directory / f"n{node}",
                "listen-client-urls": f"http://{HOST}:{clients[node]}",
                "advertise-client-urls": f"http://{HOST}:{clients[node]}",
                "listen-peer-urls": f"http://{HOST}:{peers[node]}",
                "initial-advertise-peer-urls": f"http://{HOST}:{proxies[node].port}",
                "initial-cluster": cluster,
            }
            servers.start(f"n{node}", "etcd", *(f"--{name}={value}" for name, value in args.items()))
        for node, port in enumerate(clients):
            servers.wait(f"n{node}", lambda: int(status(port).get("leader", 0)))
        leader = status(clients[0])["leader"]
        members = [status(port)["header"]["member_id"] for port in clients]
        slow.append(b"%x" % int([member for member in members if member != leader][0]))

        for name, is_serializable, is_sticky in [
            ("etcd-a", False, False),
            ("etcd-b", True, False),
            ("etcd-c", True, True),
        ]:
            common.record(
                settings,
                name,
                lambda index, random: Client(clients, index % NODES if is_sticky else None, random, is_serializable),
            )


if __name__ == "__main__":
    common.main("Record reads and writes of three etcd nodes.", run)
