#!/usr/bin/env python3
"""A transactional key-value store with snapshot isolation that writes its events as an ndjson log.

A server process and several client processes talk over TCP on the loopback interface, one JSON object per line. The
server appends one line per event to `server.ndjson`: an event is named after the action of KeyValueStore.tla that it
takes. Requests are handled by one thread per connection under one lock, and the line is written under the lock, so the
order of the lines is the order of the effects. Each client logs the requests that succeeded in `client-I.ndjson`, with
the times before the request and after the reply. `conf.json` has the sets of keys, values and transactions.

`--bug lost-update` commits a transaction although another one has committed a change of a key that it wrote.
`--bug missing-key` acknowledges the update of a key that the transaction does not see.
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import socket
import socketserver
import threading
import time

HOST = "127.0.0.1"

# What a line has besides its clock, for each value of --log.
PARTS = {
    "events": {"event"},
    "args": {"event", "event_args"},
    "values": {"updates"},
    "all": {"event", "event_args", "updates"},
}


def update(op, *args, path=()):
    return {"op": op, "path": list(path), "args": list(args)}


class Refused(Exception):
    """The request cannot be carried out, and nothing changed."""


class Transaction:
    def __init__(self, copy):
        self.copy = copy
        self.written = set()
        self.missed = set()


class Store:
    """The store, its open transactions and its log. The caller holds `lock`."""

    def __init__(self, options, conf):
        self.lock = threading.Lock()
        self.bug = options.bug
        self.keys = conf["Key"]
        self.store = {key: None for key in self.keys}
        self.open = {}
        self.free = list(conf["TxId"])
        self.parts = PARTS[options.log]
        self.file = open(pathlib.Path(options.out) / "server.ndjson", "w", encoding="utf-8")

    def event(self, client, name, *args, **updates):
        """Logs an event: the action `name` with `args`, and update operations for each variable it changed."""
        line = {variable: ops for variable, ops in updates.items() if ops} if "updates" in self.parts else {}
        if "event" in self.parts:
            line["event"] = name
        if "event_args" in self.parts:
            line["event_args"] = list(args)
        line |= {"clock": time.monotonic_ns(), "node": "server", "client": client}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def open_tx(self, client):
        if not self.free:
            raise Refused("too many transactions")
        t = self.free.pop(0)
        self.open[t] = Transaction(dict(self.store))
        self.event(
            client,
            "OpenTx",
            t,
            tx=[update("AddElement", t)],
            snapshotStore=[update("Update", self.store, path=[t])],
        )
        return t

    def write(self, client, name, t, k, v=None):
        transaction = self.open[t]
        exists = transaction.copy[k] is not None
        if name == "Add" and exists:
            raise Refused("the key exists")
        if name == "Remove" and not exists:
            raise Refused("the key does not exist")
        if name == "Update" and not exists and self.bug != "missing-key":
            raise Refused("the key does not exist")
        transaction.copy[k] = v
        transaction.written.add(k)
        change = update("ResetKey", k, path=[t]) if v is None else update("SetKey", k, v, path=[t])
        self.event(
            client,
            name,
            t,
            k,
            *([] if v is None else [v]),
            snapshotStore=[change],
            written=[update("AddElement", k, path=[t])],
        )

    def rollback_tx(self, client, t):
        self.open.pop(t)
        self.event(client, "RollbackTx", t, **self.forgotten(t))
        self.free.append(t)

    def close_tx(self, client, t):
        transaction = self.open[t]
        if self.bug != "lost-update" and transaction.written & transaction.missed:
            raise Refused("conflict")
        self.open.pop(t)
        written = sorted(transaction.written)
        changes = []
        for k in written:
            self.store[k] = v = transaction.copy[k]
            changes.append(update("ResetKey", k) if v is None else update("SetKey", k, v))
        updates = self.forgotten(t)
        for other, concurrent in self.open.items():
            concurrent.missed |= transaction.written
            updates["missed"].append(update("AddElements", written, path=[other]))
        self.event(client, "CloseTx", t, store=changes, **updates)
        self.free.append(t)

    def forgotten(self, t):
        """The updates for the end of the transaction `t`."""
        return {
            "tx": [update("RemoveElement", t)],
            "snapshotStore": [update("Update", {key: None for key in self.keys}, path=[t])],
            "written": [update("Clear", path=[t])],
            "missed": [update("Clear", path=[t])],
        }

    def handle(self, client, name, args):
        if name == "OpenTx":
            return self.open_tx(client)
        if name == "CloseTx":
            return self.close_tx(client, *args)
        if name == "RollbackTx":
            return self.rollback_tx(client, *args)
        return self.write(client, name, *args)


class Handler(socketserver.StreamRequestHandler):
    """Answers the requests of one client."""

    def handle(self):
        for line in self.rfile:
            request = json.loads(line)
            store = self.server.store
            with store.lock:
                try:
                    reply = {"result": store.handle(request["client"], request["event"], request["event_args"])}
                except Refused as refused:
                    reply = {"refused": str(refused)}
            self.wfile.write(json.dumps(reply).encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


def serve(options, conf, port_to_parent):
    with Server((HOST, 0), Handler) as server:
        server.store = Store(options, conf)
        port_to_parent.send(server.server_address[1])
        server.serve_forever()


class Client:
    """One client process: runs transactions, and logs the requests that succeeded."""

    def __init__(self, options, conf, index, port):
        self.name = f"client-{index}"
        self.options = options
        self.conf = conf
        self.random = random.Random(f"{options.seed} {self.name}")
        self.connection = socket.create_connection((HOST, port))
        self.replies = self.connection.makefile("r", encoding="utf-8")
        self.file = open(pathlib.Path(options.out) / f"{self.name}.ndjson", "w", encoding="utf-8")

    def request(self, event, *args):
        """Returns (whether it succeeded, the result)."""
        start = time.monotonic_ns()
        request = {"event": event, "event_args": args, "client": self.name}
        self.connection.sendall(json.dumps(request).encode() + b"\n")
        reply = json.loads(self.replies.readline())
        end = time.monotonic_ns()
        if "refused" in reply:
            return False, None
        line = {"event": event, "event_args": list(args) or [reply["result"]]}
        self.file.write(json.dumps(line | {"start": start, "end": end, "node": self.name}) + "\n")
        self.file.flush()
        return True, reply["result"]

    def pause(self):
        time.sleep(self.random.uniform(0.0, 0.004))

    def run(self):
        for _ in range(self.options.txs):
            _, t = self.request("OpenTx")
            for _ in range(self.random.randint(2, 5)):
                self.pause()
                name = self.random.choice(["Add", "Add", "Update", "Update", "Remove"])
                k = self.random.choice(self.conf["Key"])
                v = [] if name == "Remove" else [self.random.choice(self.conf["Val"])]
                self.request(name, t, k, *v)
            self.pause()
            if self.random.random() < 0.1 or not self.request("CloseTx", t)[0]:
                self.request("RollbackTx", t)


def run_client(*args):
    Client(*args).run()


def main():
    parser = argparse.ArgumentParser(description="Run clients against a key-value store and log it.")
    parser.add_argument("--clients", type=int, default=4, metavar="N", help="client processes [default: 4]")
    parser.add_argument("--txs", type=int, default=6, metavar="N", help="transactions of each client [default: 6]")
    parser.add_argument("--keys", type=int, default=6, metavar="N", help="keys [default: 6]")
    parser.add_argument("--values", type=int, default=8, metavar="N", help="values [default: 8]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the requests [default: 0]")
    parser.add_argument("--out", required=True, metavar="DIR", help="directory of the logs")
    parser.add_argument("--log", choices=PARTS, default="all", help="parts of a line [default: all]")
    parser.add_argument("--bug", choices=["lost-update", "missing-key"], help="a fault of the server")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    conf = {
        "Key": [f"k{i}" for i in range(options.keys)],
        "Val": [f"v{i}" for i in range(options.values)],
        "TxId": [f"t{i}" for i in range(options.clients)],
    }
    (out / "conf.json").write_text(json.dumps(conf) + "\n", encoding="utf-8")

    fork = multiprocessing.get_context("fork")
    port, port_to_parent = fork.Pipe(duplex=False)
    server = fork.Process(target=serve, args=(options, conf, port_to_parent))
    server.start()
    address = port.recv()
    clients = [fork.Process(target=run_client, args=(options, conf, i, address)) for i in range(options.clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    server.terminate()
    server.join()
    if any(client.exitcode for client in clients):
        raise SystemExit("a client failed")


if __name__ == "__main__":
    main()
