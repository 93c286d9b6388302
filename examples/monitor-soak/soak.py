"""Soaks `omnilink monitor` on real servers: `soak.py redis --minutes 30`, `soak.py etcd --minutes 30 [--linearizable]`.

Clients write distinct values to the primary and read from all nodes, while servers are killed. The monitor gets every
operation while that happens; it is killed once and continues from its checkpoint. At the end a table says what it found and
what it needed, and the exit code is 0 if that is as expected. OMNILINK names the command, if it is not in PATH.
"""

import argparse
import collections
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../recorders/python"))

from omnilink_recorder import Action
from servers import Etcd, Lost, NoEffect, Redis
from watch import Feed, Monitor

KEYS = 300
WRITERS, READERS = 4, 4
PAUSE = 0.02  # Seconds between two operations of a client: at most 400 operations a second.
RECENT = 0.5  # The share of reads that are of the key written last.
READ = Action("read", ("value",))
MIB = 1 << 20

# Bounds of the files. The checkpoint has the keys and the operations since their quiet instants.
MOST_CHECKPOINT = 4 * MIB
MOST_PER_ALERT, MOST_PER_PAGE, PAGES_PER_CAUSE = 2 << 10, 4 * MIB, 3
MOST_GROWTH = 1.3  # Of the memory, from 30 % of the run to its end.


class Keys:
    """The names of the keys. With `rotates`, a key is not used any more after a write of unknown outcome."""

    def __init__(self, rotates):
        self.rotates, self.generations, self.latest = rotates, [0] * KEYS, 0

    def choose(self, random):
        slot = self.latest if random.random() < RECENT else random.randrange(KEYS)
        return self.name(slot)

    def name(self, slot):
        return f"k{slot}.{self.generations[slot]}" if self.rotates else f"k{slot}"

    def retire(self, slot):
        self.generations[slot] += self.rotates


class Clients:
    """Threads that write and read until they are told to stop. Writers also read, from the primary."""

    def __init__(self, cluster, feed, keys):
        self.cluster, self.keys, self.is_over, self.values = cluster, keys, False, itertools.count(1)
        self.unknown, self.failed, self.errors = 0, 0, []
        runs = [(self.write, f"w{it}") for it in range(WRITERS)] + [(self.read, f"r{it}") for it in range(READERS)]
        # All processes are known to the monitor before the first operation.
        self.threads = [threading.Thread(target=self.run, args=[run, feed.process(name)]) for run, name in runs]
        for thread in self.threads:
            thread.start()

    def run(self, run, process):
        draw = random.Random(process.name)
        while not self.is_over:
            try:
                run(process, draw)
            except NoEffect:
                self.failed += 1
                time.sleep(5 * PAUSE)
            except Lost:
                self.unknown += 1
            except Exception as error:  # A mistake of this script: the run is not as expected.
                self.errors.append(repr(error))
                break
            time.sleep(PAUSE)
        process.close()

    def write(self, process, draw):
        slot = draw.randrange(KEYS)
        key = self.keys.name(slot)
        if draw.random() < 0.3:
            return self.observe(process, self.cluster.primary, self.keys.choose(draw))
        value = next(self.values)
        with process.operation("write", key=key, value=value) as op:
            try:
                self.cluster.write(key, value)
                op.returns()
                self.keys.latest = slot
            except NoEffect:
                op.failed()
                raise
            except Lost:
                self.keys.retire(slot)
                raise

    def read(self, process, draw):
        self.observe(process, draw.choice(self.cluster.nodes), self.keys.choose(draw))

    def observe(self, process, node, key):
        with process.operation(READ, key=key) as op:
            try:
                op.returns(value=self.cluster.read(node, key))
            except (NoEffect, Lost) as error:
                op.failed()  # A read has no effect.
                raise NoEffect(str(error)) from error

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()


class Samples:
    """What was measured: memory and sizes every 10 s, the lag at every tick."""

    def __init__(self, monitor, feed, cluster, minutes):
        self.monitor, self.feed, self.cluster, self.whole = monitor, feed, cluster, 60 * minutes
        self.memory, self.lags, self.checkpoints, self.unhealthy = [], [], [], 0
        self.every, self.next = min(10, self.whole / 20), 0

    def tick(self, now):
        """Takes a sample if one is due. `now` is in seconds since the beginning."""
        metrics = self.monitor.metrics()
        if metrics["operations"]:
            self.lags.append(metrics["lag"])
        if now < self.next:
            return
        self.next += self.every
        self.unhealthy += not self.monitor.is_healthy()
        sizes, memory = self.monitor.sizes(), self.monitor.memory()
        self.feed.forget(self.monitor.head().get("position", {}).get("lines", 0))
        self.memory.append((now / self.whole, memory))
        self.checkpoints.append(sizes["checkpoint"])
        names = ("operations", "violations", "unknown", "late", "withdrawn", "kept_operations", "keys", "processes")
        print(f"{now:6.0f} s  memory {memory / MIB:.1f} MiB  lag {metrics['lag'] / 1e9:.2f} s  "
              + "  ".join(f"{name} {metrics[name]:,}" for name in names)
              + "  " + "  ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in sizes.items())
              + f"  lines kept {len(self.feed.lines):,}  primary {self.cluster.primary}", flush=True)

    def memory_at(self, share):
        return next((memory for at, memory in self.memory if at >= share), self.memory[-1][1])

    def lag(self, share):
        return sorted(self.lags)[min(len(self.lags) - 1, int(share * len(self.lags)))] / 1e9 if self.lags else 0


def soak(args, directory):
    files = {name: os.path.join(directory, name) for name in ("servers", "monitor")}
    for path in files.values():
        os.makedirs(path)
    pause = min(60, 60 * args.minutes / 5)
    feed = Feed(os.path.join(directory, "lines.jsonl") if args.keep else None)
    monitor, cluster, clients = None, None, None
    try:
        if args.system == "redis":
            cluster = Redis(files["servers"], pause, feed.event)
            # A server that is killed drops its requests; another one executes a request on loopback sooner than this.
            options, keys = ["--unknown-for", "30s"], Keys(rotates=False)
        else:
            # A put may be committed at any later time, so no bound holds: its key is not used again.
            cluster = Etcd(files["servers"], pause, feed.event, args.linearizable)
            options, keys = [], Keys(rotates=True)
        monitor = Monitor(args.omnilink, files["monitor"], feed, ["--spec", "register", *options])
        clients = Clients(cluster, feed, keys)
        samples, began, is_killed = Samples(monitor, feed, cluster, args.minutes), time.monotonic(), False
        while (now := time.monotonic() - began) < samples.whole:
            monitor.ensure_alive()
            cluster.tick()
            samples.tick(now)
            if now >= samples.whole / 2 and not is_killed:
                is_killed = True
                monitor.kill()
                monitor.start()
                print(f"{now:6.0f} s  the monitor was killed and started again", flush=True)
            time.sleep(0.5)
        clients.stop()
        samples.next = 0
        samples.tick(samples.whole)
        overview = monitor.get("/")
        code = monitor.finish()
    finally:
        if clients:
            clients.stop()
        if monitor:
            monitor.stop()
        if cluster:
            cluster.stop()
    return report(args, samples, clients, code, overview)


def report(args, samples, clients, code, overview):
    """Prints the table, and returns the reasons for which the run is not as expected."""
    monitor, feed, cluster = samples.monitor, samples.feed, samples.cluster
    counts, alerts, sizes = monitor.head()["counts"], monitor.alerts(), monitor.sizes()
    violations = [it for it in alerts if it["kind"] == "violation"]
    causes = collections.Counter(it["cause"] for it in violations)
    places = collections.Counter(place(it["sentence"]) for it in violations)
    pages = os.listdir(monitor.path("pages"))
    # Alerts that were told before the kill and not covered by the checkpoint are told again.
    kept = [json.loads(line) for line in monitor.kept.splitlines() if line.endswith(b"}")]
    # The number of an operation in a sentence is its place in the check, which may be another one after a restart.
    def identify(alert):
        return alert["key"], alert["kind"], re.sub(r"\b([wr]\d(?:\+\d+)?):\d+", r"\1", alert["sentence"])
    last = {identify(alert): alert["number"] for alert in alerts}
    untold = [it for it in kept if it["kind"] == "violation" and identify(it) not in last]
    renumbered = [it for it in kept if last.get(identify(it), it["number"]) != it["number"]]
    rows = [
        ("minutes", f"{args.minutes:g}"),
        ("operations", f"{counts['operations']:,} ({clients.unknown:,} of unknown outcome, {clients.failed:,} failed)"),
        ("failovers", f"{cluster.changes:,}"),
        ("violations", f"{counts['violations']:,}" + "".join(f"; {count:,} {it}" for it, count in places.most_common())),
        *((f"  {count:,}", cause) for cause, count in causes.most_common(10)),
        ("causes", f"{len(causes):,}"),
        ("undecided", f"{counts['unknown']:,} operations of keys in an unknown state"),
        ("late, lost, wrong", ", ".join(f"{counts[it]:,}" for it in ("late", "lost", "wrong"))),
        ("withdrawn", f"{counts['withdrawn']:,}"),
        ("inconclusive", f"{counts['inconclusive']:,}"),
        ("memory", ", ".join(f"{samples.memory_at(it) / MIB:.1f} MiB at {it:.0%}" for it in (0.1, 0.3, 0.5, 1))),
        ("checkpoint", f"{sizes['checkpoint']:,} bytes, at most {max(samples.checkpoints):,}"),
        ("alerts", f"{sizes['alerts']:,} bytes, {len(alerts):,} alerts"),
        ("pages", f"{sizes['pages']:,} bytes, {len(pages):,} pages"),
        ("lines kept", f"{feed.peak:,} at most, for a restart"),
        ("lag", f"p50 {samples.lag(0.5):.2f} s, p99 {samples.lag(0.99):.2f} s, with 1 s of --lateness"),
        ("after the kill", f"{len(kept):,} alerts before, {len(untold):,} violations not told again, "
                           f"{len(renumbered):,} with another number"),
        ("exit code", f"{code}"),
    ]
    print(f"\n{'etcd, linearizable reads' if args.linearizable else args.system}")
    for name, value in rows:
        print(f"{name:18} {value}")
    for alert in alerts if args.linearizable else violations[:3]:
        print(f"  alert {alert['number']} {alert['kind']} key {alert['key']}: {alert['sentence']}")
    wrong = []
    def expect(condition, what):
        if not condition:
            wrong.append(what)
    expect(not clients.errors, f"clients without errors, found {'; '.join(clients.errors)}")
    if args.linearizable:
        expect(not alerts, "no alerts")
        expect(code == 0, "exit code 0")
    else:
        expect(violations, "violations")
        expect(code == 1, "exit code 1")
    expect(all(it["sentence"] for it in alerts), "a sentence in every alert")
    first = [it for it in violations if it["repeated"] < PAGES_PER_CAUSE]
    expect(all(os.path.isfile(it.get("page", "")) for it in first),
           f"a page for the first {PAGES_PER_CAUSE} violations of each cause")
    expect(counts["operations"] == feed.operations,
           f"each operation counted once, found {counts['operations']} of {feed.operations}")
    expect(counts["lost"] == counts["wrong"] == counts["duplicates"] == 0, "no operation lost, wrong or repeated")
    expect(not untold, "all violations told again after the kill")
    expect("<html" in overview and not samples.unhealthy, "an overview, and `ok` at /health")
    growth = samples.memory_at(1) / samples.memory_at(0.3)
    expect(growth <= MOST_GROWTH, f"memory at most {MOST_GROWTH} times that at 30 %, found {growth:.2f}")
    expect(max(samples.checkpoints) <= MOST_CHECKPOINT, f"a checkpoint of at most {MOST_CHECKPOINT:,} bytes")
    expect(sizes["alerts"] <= MOST_PER_ALERT * len(alerts), f"at most {MOST_PER_ALERT:,} bytes for an alert")
    expect(len(pages) <= PAGES_PER_CAUSE * len(causes), f"at most {PAGES_PER_CAUSE} pages for a cause")
    expect(sizes["pages"] <= MOST_PER_PAGE * len(pages), f"at most {MOST_PER_PAGE:,} bytes for a page")
    return wrong


def place(sentence):
    """The node of the operation that a sentence names first, as far as the name of its process tells it."""
    match = re.match(r"([wr])\d", sentence)
    return {"w": "at a read from the primary", "r": "at a read from any node"}[match[1]] if match else "elsewhere"


def main():
    parser = argparse.ArgumentParser(description="Soaks `omnilink monitor` on real servers on loopback.")
    parser.add_argument("system", choices=["redis", "etcd"])
    parser.add_argument("--minutes", type=float, default=30, help="[default: 30]")
    parser.add_argument("--linearizable", action="store_true", help="linearizable reads from etcd: nothing must be found")
    parser.add_argument("--keep", metavar="DIR", help="keep the operations, logs, alerts and pages in this new directory")
    args = parser.parse_args()
    if args.linearizable and args.system != "etcd":
        parser.error("--linearizable: expected `etcd`, found `redis`")
    args.omnilink = shutil.which(os.environ.get("OMNILINK", "omnilink"))
    if not args.omnilink:
        parser.error("the command `omnilink` is not in PATH; OMNILINK names it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    if args.keep:
        os.makedirs(args.keep)
    directory = args.keep or tempfile.mkdtemp(prefix="omnilink-soak-")
    try:
        wrong = soak(args, directory)
    finally:
        if not args.keep:
            shutil.rmtree(directory)
    for what in wrong:
        print(f"expected {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
