#!/usr/bin/env python3
"""A lease service that writes the events of its nodes as ndjson logs.

An arbiter gives a lease to one of three workers at a time; the holder writes to a storage. The nodes are simulated in
one process with random delays of messages, so that a seed gives the same logs again. Each node has its own log and
its own clock, which is off by up to `--skew` milliseconds. A line has the event, its arguments, the time of the node's
clock, a vector clock, and the keys of the messages that it receives and sends.

`--fault check`: the arbiter forgets once that another worker holds the lease. `--fault stale`: the storage once accepts
a write of an epoch that is too low.
"""

import argparse
import heapq
import itertools
import json
import pathlib
import random

WORKERS = ["w1", "w2", "w3"]
DELAY = (0.001, 0.012)  # Seconds that a message takes.
LEASE = 0.06  # Seconds after which a lease expires.


class Node:
    """A node with its log and its clocks."""

    def __init__(self, world, name, offset):
        self.world, self.name, self.offset = world, name, offset
        self.lines, self.vector = [], {}

    def log(self, event, args=None, received=None):
        """Writes an event; returns the message that it sends, which the caller may use."""
        for node, count in (received or {}).get("vc", {}).items():
            self.vector[node] = max(self.vector.get(node, 0), count)
        self.vector[self.name] = self.vector.get(self.name, 0) + 1
        line = {"node": self.name, "event": event, "args": args or {}, "ts": round(self.world.now + self.offset, 6)}
        if received:
            line["receive"] = received["key"]
        line["vc"] = dict(self.vector)
        self.lines.append(line)
        self.world.events += 1
        return line

    def send(self, line, to, **content):
        key = f"m{next(self.world.keys)}"
        line["send"] = key
        self.world.after(random.uniform(*DELAY), to.receive, {"key": key, "vc": dict(self.vector), **content})


class Arbiter(Node):
    def __init__(self, *args):
        super().__init__(*args)
        self.holder, self.epoch = None, 0

    def receive(self, message):
        worker = message["worker"]
        # The fault: it does not look at the holder, once, in the middle of the run.
        forgets = self.holder and self.world.takes_fault("check")
        if self.holder and not forgets:
            self.send(self.log("Deny", {"w": worker.name}, message), worker, type="deny")
            return
        self.holder, self.epoch = worker, self.epoch + 1
        self.send(self.log("Grant", {"w": worker.name}, message), worker, type="grant", epoch=self.epoch)
        self.world.after(LEASE, self.expire, self.epoch)

    def expire(self, epoch):
        if self.holder and self.epoch == epoch:
            self.holder = None
            self.log("Expire")


class Storage(Node):
    def __init__(self, *args):
        super().__init__(*args)
        self.seen = 0

    def receive(self, message):
        worker, args = message["worker"], {"w": message["worker"].name, "n": message["n"]}
        is_stale = message["epoch"] < self.seen
        if is_stale and not self.world.takes_fault("stale"):
            self.send(self.log("Refuse", args, message), worker, type="stale", n=message["n"])
            return
        self.seen = message["epoch"]
        self.send(self.log("Accept", args, message), worker, type="ok", n=message["n"])


class Worker(Node):
    def __init__(self, *args):
        super().__init__(*args)
        self.epoch, self.writes = 0, itertools.count(1)
        self.world.after(random.uniform(0, 0.02), self.ask)

    def ask(self):
        if self.world.is_over():
            return
        self.send(self.log("Ask", {"w": self.name}), self.world.arbiter, worker=self)

    def write(self):
        if self.world.is_over():
            return
        n = next(self.writes)
        line = self.log("Write", {"w": self.name, "n": n})
        self.send(line, self.world.storage, worker=self, n=n, epoch=self.epoch)

    def receive(self, message):
        args = {"w": self.name}
        kind = message["type"]
        if kind == "deny":
            self.log("Denied", args, message)
            self.world.after(random.uniform(0.005, 0.03), self.ask)
        elif kind == "grant":
            self.log("Granted", args, message)
            self.epoch = message["epoch"]
            self.world.after(random.uniform(0.001, 0.005), self.write)
        elif kind == "ok":
            self.log("Done", {**args, "n": message["n"]}, message)
            # Now and then a pause, after which the lease may be another's.
            pause = random.choice([0.002, 0.002, 0.004, 0.09])
            self.world.after(pause, self.write)
        else:
            self.log("Lost", {**args, "n": message["n"]}, message)
            self.epoch = 0
            self.world.after(random.uniform(0.001, 0.01), self.ask)


class World:
    """Simulated time."""

    def __init__(self, options):
        self.options, self.now, self.events, self.fault = options, 0.0, 0, options.fault
        self.queue, self.order, self.keys = [], itertools.count(), itertools.count(1)
        skew = options.skew / 1000
        offset = lambda: random.uniform(-skew, skew)
        self.arbiter = Arbiter(self, "arbiter", offset())
        self.storage = Storage(self, "storage", offset())
        self.nodes = [self.arbiter, self.storage] + [Worker(self, name, offset()) for name in WORKERS]

    def after(self, delay, action, *args):
        heapq.heappush(self.queue, (self.now + delay, next(self.order), action, args))

    def is_over(self):
        return self.events >= self.options.events

    def takes_fault(self, kind):
        takes = self.fault == kind and self.events >= self.options.events // 2
        if takes:
            self.fault = "done"
        return takes

    def run(self):
        while self.queue and not self.is_over():
            self.now, _, action, args = heapq.heappop(self.queue)
            action(*args)
        if self.fault not in ("none", "done"):
            raise SystemExit("the fault did not happen; try another seed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=340, help="number of events")
    parser.add_argument("--skew", type=float, default=50, help="milliseconds by which clocks are off, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", choices=["none", "check", "stale"], default="none")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="directory of the logs")
    options = parser.parse_args()
    random.seed(options.seed)
    world = World(options)
    world.run()
    options.out.mkdir(parents=True, exist_ok=True)
    for node in world.nodes:
        with open(options.out / f"{node.name}.ndjson", "w", encoding="utf-8") as file:
            for line in node.lines:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
