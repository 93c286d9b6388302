"""Redis with Sentinel, and etcd, on loopback: how they are started, asked, and made to fail.

A cluster has `write`, `read` with the name of a node, and `tick`, which the main thread calls about twice a second: it finds
the primary or leader, and takes the next step of the faults. `setpriv` lets the kernel kill a server if the thread that
started it ends, so that only the main thread starts servers.
"""

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

TIMEOUT = 2.0  # Seconds that a client waits for an answer.


class NoEffect(Exception):
    """The request was not sent, or the server refused it: the operation is known to have had no effect."""


class Lost(Exception):
    """The connection broke, or the answer did not come: the outcome is unknown."""


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [it.getsockname()[1] for it in held]
    finally:
        for it in held:
            it.close()


def wait_until(is_ready, what, seconds=30):
    until = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > until:
            raise RuntimeError(f"{what} did not happen within {seconds} s")
        time.sleep(0.1)


class Cluster:
    """Servers, each a process with a directory of its own."""

    def __init__(self, directory, pause, note):
        self.directory, self.pause, self.note, self.servers = directory, pause, note, {}
        self.local, self.steps = threading.local(), self.faults()
        self.changes = 0  # Faults that ended with another primary or leader.

    def start(self, name, *command):
        log = open(os.path.join(self.directory, f"{name}.log"), "ab")
        with log:
            self.servers[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, name):
        self.servers[name].send_signal(signal.SIGKILL)
        self.servers[name].wait()

    def stop(self):
        for server in self.servers.values():
            if server.poll() is None:
                server.kill()
        for server in self.servers.values():
            server.wait()

    def tick(self):
        self.find_primary()
        next(self.steps)

    def rest(self):
        """The pause between two faults, as steps."""
        until = time.monotonic() + self.pause
        while time.monotonic() < until:
            yield

    def connections(self):
        """The connections of this thread, by node."""
        if not hasattr(self.local, "open"):
            self.local.open = {}
        return self.local.open


class Redis(Cluster):
    """A primary, two replicas and Sentinel. Every fault is a failover: the primary is killed, or Sentinel replaces it."""

    def __init__(self, directory, pause, note):
        super().__init__(directory, pause, note)
        self.ports = dict(zip(("n0", "n1", "n2", "sentinel"), free_ports(4)))
        self.primary, self.nodes = "n0", ("n0", "n1", "n2")
        for name in self.nodes:
            self.start_node(name)
        wait_until(lambda: all(self.is_linked(name) for name in ("n1", "n2")), "replication")
        path = os.path.join(directory, "sentinel.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"bind 127.0.0.1\nport {self.ports['sentinel']}\ndir {directory}\n"
                       f"sentinel monitor soak 127.0.0.1 {self.ports['n0']} 1\n"
                       "sentinel down-after-milliseconds soak 1000\nsentinel failover-timeout soak 5000\n"
                       "sentinel parallel-syncs soak 2\n")
        self.start("sentinel", "redis-server", path, "--sentinel")
        wait_until(lambda: self.find_primary() and self.count_replicas() == 2, "the discovery of the replicas")

    def start_node(self, name):
        directory = os.path.join(self.directory, name)
        os.makedirs(directory, exist_ok=True)
        options = [] if name == self.primary else ["--replicaof", "127.0.0.1", str(self.ports[self.primary])]
        self.start(name, "redis-server", "--bind", "127.0.0.1", "--port", str(self.ports[name]), "--dir", directory,
                   "--save", "", "--repl-diskless-sync-delay", "0", *options)

    def write(self, key, value):
        self.ask(self.primary, "SET", key, value)

    def read(self, name, key):
        value = self.ask(name, "GET", key)
        return None if value is None else int(value)

    def find_primary(self):
        try:
            port = int(self.ask("sentinel", "SENTINEL", "get-master-addr-by-name", "soak")[1])
        except (NoEffect, Lost):
            return False
        found = next(name for name, it in self.ports.items() if it == port)
        self.changes += found != self.primary
        self.primary = found
        return True

    def count_replicas(self):
        """The number of replicas that Sentinel knows."""
        values = self.ask("sentinel", "SENTINEL", "master", "soak")
        return int(dict(zip(values[::2], values[1::2]))[b"num-slaves"])

    def is_linked(self, name):
        try:
            return b"master_link_status:up" in self.ask(name, "INFO", "replication")
        except (NoEffect, Lost):
            return False

    def faults(self):
        while True:
            yield from self.rest()
            old, began = self.primary, time.monotonic_ns()
            self.kill(old)
            while self.primary == old:
                yield
            self.start_node(old)
            self.note("the primary is killed", began, old)
            yield from self.rest()
            # The old primary accepts writes until Sentinel makes it a replica: these writes are lost.
            old, began = self.primary, time.monotonic_ns()
            until = time.monotonic() + 30
            while self.primary == old and time.monotonic() < until:
                try:
                    self.ask("sentinel", "SENTINEL", "FAILOVER", "soak")
                except (NoEffect, Lost):
                    pass  # Sentinel has no replica to promote, or a failover is under way.
                yield
            self.note("a failover is forced", began, old)

    def ask(self, name, *words):
        """Sends a command, and returns its answer."""
        connections = self.connections()
        if name not in connections:
            try:
                connections[name] = socket.create_connection(("127.0.0.1", self.ports[name]), TIMEOUT).makefile("rwb")
            except OSError as error:
                raise NoEffect(str(error)) from error
        file = connections[name]
        try:
            encoded = [str(word).encode() for word in words]
            file.write(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(it), it) for it in encoded))
            file.flush()
            return self.answer(file)
        except (OSError, ValueError) as error:
            del connections[name]
            raise Lost(str(error)) from error

    def answer(self, file):
        line = file.readline()
        if not line.endswith(b"\r\n"):
            raise OSError("the connection is closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise NoEffect(rest.decode())
        if kind == b"$":
            if int(rest) < 0:
                return None
            data = file.read(int(rest) + 2)
            if len(data) != int(rest) + 2:
                raise OSError("the connection is closed")
            return data[:-2]
        if kind == b"*":
            return [self.answer(file) for _ in range(int(rest))]
        return rest


class Etcd(Cluster):
    """Three nodes. Every fault kills one of them, the leader or another in turn, and starts it again after some seconds."""

    def __init__(self, directory, pause, note, is_linearizable):
        super().__init__(directory, pause, note)
        self.is_linearizable, self.nodes, self.primary = is_linearizable, ("n0", "n1", "n2"), None
        ports = free_ports(6)
        self.ports, self.peers = dict(zip(self.nodes, ports[:3])), dict(zip(self.nodes, ports[3:]))
        self.members = {}
        for name in self.nodes:
            self.start_node(name)
        wait_until(lambda: self.find_primary() and all(map(self.is_ready, self.nodes)), "the first election")

    def start_node(self, name):
        client, peer = (f"http://127.0.0.1:{ports[name]}" for ports in (self.ports, self.peers))
        cluster = ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in self.peers.items())
        self.start(name, "etcd", f"--name={name}", f"--data-dir={os.path.join(self.directory, name)}",
                   f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
                   f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                   f"--initial-cluster={cluster}", "--auto-compaction-mode=revision",
                   "--auto-compaction-retention=1000", "--log-level=error")

    def write(self, key, value):
        self.ask(self.primary, "kv/put", key=encode(key), value=encode(value))

    def read(self, name, key, is_serializable=None):
        if is_serializable is None:
            is_serializable = not self.is_linearizable
        found = self.ask(name, "kv/range", key=encode(key), serializable=is_serializable).get("kvs")
        return int(base64.b64decode(found[0]["value"])) if found else None

    def is_ready(self, name):
        try:
            self.read(name, "ready", is_serializable=False)
            return True
        except (NoEffect, Lost):
            return False

    def find_primary(self):
        for name in self.nodes:
            try:
                status = self.ask(name, "maintenance/status")
            except (NoEffect, Lost):
                continue
            self.members[status["header"]["member_id"]] = name
            # A node that was just killed may still be the leader for the others.
            found = self.members.get(status.get("leader"))
            if found and self.servers[found].poll() is None:
                self.changes += self.primary is not None and found != self.primary
                self.primary = found
                return True
        return False

    def faults(self):
        for number in range(1 << 62):
            yield from self.rest()
            others = [name for name in self.nodes if name != self.primary]
            name = others[number // 2 % 2] if number % 2 else self.primary
            began, until = time.monotonic_ns(), time.monotonic() + 4
            self.kill(name)
            while time.monotonic() < until:
                yield
            self.start_node(name)
            self.note("a node is killed", began, name)

    def ask(self, name, path, **body):
        """Sends a request once, on a connection that stays open, and returns its answer."""
        connections = self.connections()
        connection = connections.get(name)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.ports[name], timeout=TIMEOUT)
            try:
                connection.connect()
            except OSError as error:
                raise NoEffect(str(error)) from error
            connections[name] = connection
        try:
            connection.request("POST", f"/v3/{path}", json.dumps(body).encode())
            response = connection.getresponse()
            text = response.read()
            if response.status == 200 and not response.will_close:
                return json.loads(text)
            raise OSError(f"status {response.status}: {text[:200]!r}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            connections.pop(name).close()
            raise Lost(str(error)) from error


def encode(value):
    return base64.b64encode(str(value).encode()).decode()
