#!/usr/bin/env python3
"""Two-phase commit between processes that write their events as ndjson logs.

A transaction manager and N resource managers are processes of their own and talk over TCP on the loopback
interface, one JSON object per line. Each process appends to its own log, `tm.ndjson` or `rm-I.ndjson`: a header
with the resource managers, then one line per event. An event is named after the action of TwoPhase.tla that it
takes. Its line is written before the message of the event is sent, so that the event of a receiver is later.

A resource manager repeats `Prepared` until it receives the decision. With `--bug`, the transaction manager counts
these messages instead of the distinct resource managers, and commits while one of them is still working.
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import selectors
import socket
import time

TM = "tm"
HOST = "127.0.0.1"
REPEAT = 0.04  # Seconds between two `Prepared` messages of one resource manager.
PATIENCE = 0.5  # Seconds until the transaction manager aborts.

# What a line has besides its clocks, for each value of --log.
PARTS = {
    "events": {"event"},
    "args": {"event", "event_args"},
    "values": {"updates"},
    "all": {"event", "event_args", "updates"},
}


def update(op, *args, path=()):
    return [{"op": op, "path": list(path), "args": list(args)}]


class Log:
    """The log of one process, and its logical clocks."""

    def __init__(self, node, options):
        self.node = node
        self.parts = PARTS[options.log]
        self.file = open(pathlib.Path(options.out) / f"{node}.ndjson", "w", encoding="utf-8")
        self.lamport = 0
        self.vector = {}
        self.write({"node": node, "RM": rm_names(options)})

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def event(self, name, *args, **updates):
        """Logs an event: the action `name` with `args`, and an update operation for each variable it changed."""
        self.lamport += 1
        self.vector[self.node] = self.vector.get(self.node, 0) + 1
        line = dict(updates) if "updates" in self.parts else {}
        if "event" in self.parts:
            line["event"] = name
        if "event_args" in self.parts:
            line["event_args"] = list(args)
        if not line:
            return  # Nothing changed, and that is all that `values` would tell.
        clocks = {"clock": time.monotonic_ns(), "node": self.node, "lamport": self.lamport, "vc": self.vector}
        self.write(line | clocks)

    def send(self, connection, message):
        """Sends `message` with the logical clocks of this process."""
        stamped = {"message": message, "lamport": self.lamport, "vc": self.vector}
        try:
            connection.sendall(json.dumps(stamped).encode() + b"\n")
        except OSError:
            pass  # The receiver has ended. It repeats nothing and waits for nothing.

    def receive(self, line):
        """Returns the message in `line`. The next event of this process is after the sender's last one."""
        stamped = json.loads(line)
        self.lamport = max(self.lamport, stamped["lamport"])
        for node, count in stamped["vc"].items():
            self.vector[node] = max(self.vector.get(node, 0), count)
        return stamped["message"]


def rm_names(options):
    return [f"rm-{i}" for i in range(options.rms)]


def manage_transaction(options, listener):
    """The transaction manager: decides once, and tells every resource manager."""
    log = Log(TM, options)
    prepared = set()
    count = 0  # Messages, which --bug takes for resource managers.
    decision = None
    connections = {}  # Socket -> bytes received of an incomplete line.
    ended = 0
    deadline = time.monotonic() + PATIENCE
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)

    while ended < options.rms:
        left = max(0.0, deadline - time.monotonic()) if decision is None else None
        for key, _ in selector.select(left):
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connections[connection] = b""
                selector.register(connection, selectors.EVENT_READ)
                if decision is not None:
                    log.send(connection, decision)
                continue
            connection = key.fileobj
            try:
                data = connection.recv(4096)
            except ConnectionResetError:  # It ended before it read a repeated decision.
                data = b""
            if not data:
                selector.unregister(connection)
                connection.close()
                del connections[connection]
                ended += 1
                continue
            *lines, connections[connection] = (connections[connection] + data).split(b"\n")
            for line in lines:
                if decision is not None:
                    continue  # Late: ignored, and not an event.
                rm = log.receive(line)["rm"]
                prepared.add(rm)
                count += 1
                log.event("TMRcvPrepared", rm, tmPrepared=update("AddElement", rm))
                if (count if options.bug else len(prepared)) == options.rms:
                    decision = {"type": "Commit"}
                    log.event("TMCommit", tmState=update("Update", "committed"), msgs=update("AddElement", decision))
                    for other in connections:
                        log.send(other, decision)
        if decision is None and time.monotonic() >= deadline:
            decision = {"type": "Abort"}
            log.event("TMAbort", tmState=update("Update", "aborted"), msgs=update("AddElement", decision))
            for other in connections:
                log.send(other, decision)


def manage_resource(options, name, port):
    """One resource manager: works for a while, prepares or aborts, and follows the decision."""
    log = Log(name, options)
    names = rm_names(options)
    choice = random.Random(options.seed)
    slow = choice.choice(names)  # The same one in every process, because the seed is the same.
    work = random.Random(f"{options.seed} {name}").uniform(0.01, 0.06)
    connection = socket.create_connection((HOST, port))
    lines = connection.makefile("rb")

    time.sleep(0.3 if name == slow else work)
    aborts = options.abort and name == slow
    if aborts:
        log.event("RMChooseToAbort", name, rmState=update("Update", "aborted", path=[name]))
    else:
        message = {"type": "Prepared", "rm": name}
        log.event(
            "RMPrepare",
            name,
            rmState=update("Update", "prepared", path=[name]),
            msgs=update("AddElement", message),
        )
        log.send(connection, message)
    while True:
        ready = selectors.DefaultSelector()
        ready.register(connection, selectors.EVENT_READ)
        if ready.select(None if aborts else REPEAT):
            break
        log.event("Resend", name)
        log.send(connection, message)
    decision = log.receive(lines.readline())["type"]
    if decision == "Commit":
        log.event("RMRcvCommitMsg", name, rmState=update("Update", "committed", path=[name]))
    else:
        log.event("RMRcvAbortMsg", name, rmState=update("Update", "aborted", path=[name]))
    connection.close()


def main():
    parser = argparse.ArgumentParser(description="Run two-phase commit and log it.")
    parser.add_argument("--rms", type=int, default=4, metavar="N", help="resource managers [default: 4]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the delays [default: 0]")
    parser.add_argument("--out", required=True, metavar="DIR", help="directory of the logs")
    parser.add_argument("--log", choices=PARTS, default="all", help="parts of a line [default: all]")
    parser.add_argument("--abort", action="store_true", help="let one resource manager abort")
    parser.add_argument("--bug", action="store_true", help="count messages instead of resource managers")
    options = parser.parse_args()
    if options.rms < 2:
        parser.error("--rms must be at least 2")
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)

    fork = multiprocessing.get_context("fork")
    with socket.create_server((HOST, 0), backlog=options.rms) as listener:
        port = listener.getsockname()[1]
        processes = [fork.Process(target=manage_transaction, args=(options, listener))]
        processes += [fork.Process(target=manage_resource, args=(options, name, port)) for name in rm_names(options)]
        for process in processes:
            process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit("a process failed")


if __name__ == "__main__":
    main()
