#!/usr/bin/env python3
"""ZooKeeper: three servers, one of which hears from the leader late.

The servers 1 and 2 start first, so that one of them leads; server 3 joins as a follower. Its configuration names
proxies in place of the quorum ports of the others, which delay the proposals and commits that it receives. Each client
has a session with one server.

| configuration | reads |
|---|---|
| zookeeper-a | `getData` |
| zookeeper-b | `sync`, then `getData` |
"""

import os
import shutil
import socket
import struct

import common
from common import HOST, TIMEOUT, Unknown

SERVERS = 3
SLOW = 2

# Bounds of the delay of the slow server, in seconds.
DELAY = (0.006, 0.012)

JAR = os.environ.get("ZOOKEEPER_CLASSPATH", "/usr/share/java/zookeeper.jar")
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

# Types of requests.
CREATE, GET_DATA, SET_DATA, SYNC = 1, 4, 5, 9

# All permissions for everyone.
OPEN_ACL = struct.pack("!ii", 1, 31)


def field(data):
    """A string or buffer: its length, then its bytes."""
    data = data.encode() if isinstance(data, str) else data
    return struct.pack("!i", len(data)) + data


class Session:
    """A session with one server, which answers requests in their order."""

    def __init__(self, port, seen=0):
        self.seen = seen  # The last transaction whose effect this client has seen.
        try:
            self.socket = socket.create_connection((HOST, port), timeout=TIMEOUT)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.input = self.socket.makefile("rb")
            self.socket.sendall(field(struct.pack("!iqiq", 0, seen, 30_000, 0) + field(bytes(16))))
            self.receive()
        except OSError as error:
            raise Unknown(error) from error

    def receive(self):
        size = self.input.read(4)
        if len(size) < 4:
            raise ConnectionError("the connection was closed")
        return self.input.read(*struct.unpack("!i", size))

    def call(self, kind, path, rest=b""):
        """Sends a request and returns the body of the reply."""
        try:
            self.socket.sendall(field(struct.pack("!ii", 1, kind) + field(f"/{path}") + rest))
            reply = self.receive()
        except OSError as error:
            raise Unknown(error) from error
        _, seen, problem = struct.unpack_from("!iqi", reply)
        if problem:
            raise RuntimeError(f"error {problem}")
        self.seen = max(self.seen, seen)
        return reply[16:]

    def create(self, path):
        acl = OPEN_ACL + field("world") + field("anyone")
        self.call(CREATE, path, field("") + acl + struct.pack("!i", 0))

    def close(self):
        self.socket.close()


class Client:
    def __init__(self, ports, node, has_sync):
        self.port, self.node, self.has_sync = ports[node], node, has_sync
        self.session = Session(self.port)

    def reconnect(self):
        self.session.close()
        self.session = Session(self.port, self.session.seen)

    def write(self, key, value):
        self.session.call(SET_DATA, key, field(str(value)) + struct.pack("!i", -1))

    def read(self, key):
        if self.has_sync:
            self.session.call(SYNC, key)
        reply = self.session.call(GET_DATA, key, b"\0")
        (length,) = struct.unpack_from("!i", reply)
        return int(reply[4 : 4 + length]) if length > 0 else None

    def close(self):
        self.session.close()


def run(settings):
    if not shutil.which("java"):
        raise common.NotStarted("`java` is not installed")
    if not os.path.exists(JAR.split(":")[0]):
        raise common.NotStarted(f"`{JAR}` is missing: install ZooKeeper, or set ZOOKEEPER_CLASSPATH")
    with common.Servers() as servers:
        ports = common.free_ports(3 * SERVERS)
        clients, quorum, election = (ports[SERVERS * part : SERVERS * (part + 1)] for part in range(3))
        proxies = [common.Proxy(port, lambda _: DELAY) for port in quorum]
        for node in range(SERVERS):
            directory = servers.directory / f"server-{node}"
            directory.mkdir()
            (directory / "myid").write_text(f"{node + 1}\n")
            lines = ["tickTime=2000", "initLimit=10", "syncLimit=5", "maxClientCnxns=0", "admin.enableServer=false"]
            lines += [f"dataDir={directory}", f"clientPort={clients[node]}", f"clientPortAddress={HOST}"]
            for other in range(SERVERS):
                port = proxies[other].port if node == SLOW and other != SLOW else quorum[other]
                lines.append(f"server.{other + 1}={HOST}:{port}:{election[other]}")
            (directory / "zoo.cfg").write_text("\n".join(lines) + "\n")
            if node == SLOW:
                servers.wait("server-0", lambda: Session(clients[0]))
            args = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", JAR, MAIN, directory / "zoo.cfg"]
            servers.start(f"server-{node}", "java", *args, cwd=directory)
        for node, port in enumerate(clients):
            servers.wait(f"server-{node}", lambda: Session(port))

        def create(keys):
            session = Session(clients[0])
            for key in keys:
                session.create(key)
            for port in clients:
                Session(port).call(SYNC, keys[-1])

        for name, has_sync in [("zookeeper-a", False), ("zookeeper-b", True)]:
            common.record(settings, name, lambda index, _: Client(clients, index % SERVERS, has_sync), create)


if __name__ == "__main__":
    common.main("Record reads and writes of three ZooKeeper servers.", run)
