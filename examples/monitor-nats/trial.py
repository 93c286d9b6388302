"""Kills monitors and their broker while they work, and requires that every operation was checked exactly once.

    trial.py monitor|broker|both|none [--operations N] [--times N]

Starts NATS and two monitors that share four partitions, publishes operations of registers in which some keys are read
wrongly, and kills what is named. At the end the counts that the monitors stored have to add up to all operations, and the
keys of their alerts have to be the planted ones. OMNILINK names the command, NATS_SERVER the server.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from nats import Nats

PARTITIONS, PROCESSES, KEYS, BAD = 4, 4, 300, 5
OMNILINK = os.environ.get("OMNILINK", "omnilink")
SERVER = os.environ.get("NATS_SERVER", "nats-server")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


class Trial:
    def __init__(self, directory, operations, seed):
        self.directory, self.operations = directory, operations
        self.random = random.Random(seed)
        self.port, self.broker, self.monitors = free_port(), None, []
        keys = self.random.sample(range(KEYS), BAD)
        self.bad = {f'"k{key}"' for key in keys}
        self.published = 0

    def start_broker(self):
        log = open(os.path.join(self.directory, "broker.log"), "a")
        command = [SERVER, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", os.path.join(self.directory, "js")]
        self.broker = subprocess.Popen(command, stdout=log, stderr=log)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)

    def start_monitor(self):
        number = len(os.listdir(self.directory))
        alerts = os.path.join(self.directory, f"alerts-{number}.jsonl")
        log = open(os.path.join(self.directory, f"monitor-{number}.log"), "w")
        command = [
            OMNILINK, "monitor", f"nats://127.0.0.1:{self.port}/OPS", "--spec", "register:initial=0",
            "--partitions", str(PARTITIONS), "--lease", "2s", "--checkpoint-every", "500ms", "--every", "50ms",
            "--lateness", "0s", "--retention", "0s", "--idle", "1h", "--alerts", alerts,
        ]  # fmt: skip
        self.monitors.append(subprocess.Popen(command, stdout=log, stderr=log))

    def publish(self):
        """Operations of one key follow each other, so that a wrong read is wrong for certain."""
        client, clock = Nats(self.port), 0
        seqs, values, batches = {}, {}, [[] for _ in range(PARTITIONS)]
        planted = set()
        for partition in range(PARTITIONS):
            for process in range(PROCESSES):
                batches[partition].append({"process": f"p{process}", "progress": 0})

        def flush(partition):
            if batches[partition]:
                text = "\n".join(json.dumps(line) for line in batches[partition]).encode()
                self.count = getattr(self, "count", 0) + 1
                answer = client.persist(f"ops.{partition}", text, f"m{self.count}")
                assert "seq" in answer, answer
                batches[partition] = []

        for number in range(self.operations):
            key = f"k{self.random.randrange(KEYS)}"
            partition = zlib.crc32(key.encode()) % PARTITIONS
            process = f"p{self.random.randrange(PROCESSES)}"
            seq = seqs.get((partition, process), 0)
            seqs[partition, process] = seq + 1
            line = {"process": process, "seq": seq, "args": {"key": key}, "start": clock, "end": clock + 3}
            clock += 4
            if self.random.random() < 0.5:
                values[key] = number
                line |= {"action": "write", "args": {"key": key, "value": number}}
            else:
                value = values.get(key, 0)
                if f'"{key}"' in self.bad and number > self.operations // 3 and key not in planted:
                    planted.add(key)
                    value = -1
                line |= {"action": "read", "results": {"value": value}}
            batches[partition].append(line)
            if len(batches[partition]) >= 10:
                # Every process says how far it is: otherwise the slowest one holds up the watermark.
                for name in (f"p{process}" for process in range(PROCESSES)):
                    count = seqs.get((partition, name), 0)
                    batches[partition].append({"process": name, "progress": clock, "operations": count})
                flush(partition)
                time.sleep(0.001)
            self.published = number + 1
        for partition in range(PARTITIONS):
            for name in (f"p{process}" for process in range(PROCESSES)):
                count = seqs.get((partition, name), 0)
                last = {"process": name, "progress": clock + 1, "operations": count, "is_last": True}
                batches[partition].append(last)
            flush(partition)
        client.close()

    def counts(self, client):
        """What the monitors have stored about each partition."""
        found = []
        for partition in range(PARTITIONS):
            entry = client.value("omnilink", f"partition.{partition}")
            parts = json.loads(entry)["parts"] if entry else []
            values = [client.value("omnilink", part) for part in parts]
            if values and all(values):
                found.append(json.loads(b"".join(values).split(b"\n", 1)[0])["counts"])
        return found

    def kill(self, what):
        if what in ("monitor", "both"):
            victim = self.monitors.pop(self.random.randrange(len(self.monitors)))
            victim.kill()
            victim.wait()
        if what in ("broker", "both"):
            self.broker.kill()
            self.broker.wait()
            time.sleep(self.random.uniform(0.2, 1.5))
            self.start_broker()
        if what in ("monitor", "both"):
            self.start_monitor()

    def run(self, what, kills):
        self.start_broker()
        client = Nats(self.port)
        client.create_stream("OPS", "ops.*")
        self.start_monitor()
        self.start_monitor()
        publisher = threading.Thread(target=self.publish)
        publisher.start()
        for kill in range(kills):
            while self.published < self.operations * (kill + 1) // (kills + 1):
                time.sleep(0.02)
            time.sleep(self.random.uniform(0, 0.3))
            self.kill(what)
        publisher.join()
        published, deadline = time.time(), time.time() + 60
        while time.time() < deadline:
            counts = self.counts(client)
            decided = sum(count["checked"] + count["unknown"] for count in counts)
            if len(counts) == PARTITIONS and decided >= self.operations:
                break
            time.sleep(0.2)
        took = time.time() - published
        for monitor in self.monitors:
            monitor.send_signal(signal.SIGTERM)
        codes = [monitor.wait(timeout=30) for monitor in self.monitors]
        return self.judge(self.counts(client), took, codes)

    def judge(self, counts, took, codes):
        def total(name):
            return sum(count[name] for count in counts)

        alerts = []
        for name in os.listdir(self.directory):
            if name.startswith("alerts-"):
                alerts += [json.loads(line) for line in open(os.path.join(self.directory, name))]
        keys = {alert["key"] for alert in alerts if alert["kind"] == "violation"}
        others = {alert["kind"] for alert in alerts} - {"violation"}
        decided = total("checked") + total("unknown")
        print(
            f"operations {total('operations')} of {self.operations}, decided {decided}, duplicates {total('duplicates')}, "
            f"lost {total('lost')}, keys of violations {len(keys)} of {BAD}, other alerts {sorted(others)}, "
            f"exit codes {codes}, decided {took:.1f} s after the last message"
        )
        return (
            len(counts) == PARTITIONS
            and total("operations") == self.operations
            and decided == self.operations
            and total("duplicates") == total("lost") == total("wrong") == 0
            and total("violations") == BAD
            and keys == self.bad
            and not others
        )

    def stop(self):
        for process in [*self.monitors, self.broker]:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["monitor", "broker", "both", "none"])
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    right = 0
    for time_ in range(args.times):
        directory = tempfile.mkdtemp(prefix="omnilink-nats-")
        trial = Trial(directory, args.operations, args.seed + time_)
        try:
            is_right = trial.run(args.what, 0 if args.what == "none" else args.kills)
        finally:
            trial.stop()
        right += is_right
        if is_right:
            shutil.rmtree(directory)
        else:
            print(f"wrong: seed {args.seed + time_}, see {directory}")
    print(f"{args.what}: {right} of {args.times} right")
    sys.exit(0 if right == args.times else 1)


if __name__ == "__main__":
    main()
