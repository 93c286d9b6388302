"""Transactions on a few registers, recorded as JSON Lines for `omnilink check --isolation`.

Each system has a file of its own, which starts a server and calls `record` once per configuration. A client class has
`begin()`, `read(key)`, `write(key, value)`, `commit()`, `abort()`, `reconnect()` and `close()`; for lists, `append(key,
element)` instead of `write`, and `read` returns a list. It raises `Aborted` if the
transaction had no effect, and `Unknown` if it may have had one: the connection was lost after `commit` was sent.

A transaction reads two to four keys, and writes some of them after it has read them. Every value is written once, so that
a read identifies its writer; since writers read what they replace, the order of the versions of a key is known, too. All
clients are threads of one process, so `time.monotonic_ns()` is one clock for all. It is read before `begin` and after
`commit`.
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import random
import sys
import threading
import time

# Servers in a temporary directory, and clients of PostgreSQL, Redis and etcd.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server-levels"))

import common

KEYS = ["x", "y", "z", "u"]


class Aborted(Exception):
    """The transaction had no effect."""


def options(description):
    """Parses the command line, which all systems share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("out", type=pathlib.Path, metavar="DIR", help="directory of the histories")
    parser.add_argument("--clients", type=int, default=6, metavar="N", help="clients [default: 6]")
    parser.add_argument("--transactions", type=int, default=30, metavar="N", help="of each client [default: 30]")
    parser.add_argument("--pause", type=float, default=2, metavar="MS", help="longest pause in one [default: 2]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the transactions [default: 0]")
    return parser.parse_args()


def record(settings, name, make_client, is_list=False):
    """Records the history of a configuration: `DIR/name.jsonl`. Its last transaction reads all keys. With lists, a
    transaction appends where it would write, and reads the key again."""
    settings.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(settings.clients):
            clients.append(make_client())
            stack.callback(clients[-1].close)
        barrier = threading.Barrier(len(clients))
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
            jobs = [
                pool.submit(run_client, settings, name, index, client, barrier, is_list)
                for index, client in enumerate(clients)
            ]
        lines = [line for job in jobs for line in job.result()]
        lines.append(run_transaction("last", clients[0], [(key, None) for key in KEYS], is_list, lambda: None))
    lines.sort(key=lambda line: line["start"])
    first = lines[0]["start"]
    for line in lines:
        # Times count from the first call.
        line |= {field: line[field] - first for field in ("start", "end") if field in line}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (settings.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
    ended = [line["status"] for line in lines]
    print(f"{name}: {', '.join(f'{ended.count(status)} {status}' for status in sorted(set(ended)))}", flush=True)


def run_client(settings, name, index, client, barrier, is_list):
    """Runs the transactions of one client, and returns their lines."""
    choices = random.Random(f"{settings.seed} {name} {index}")
    losses, lines = 0, []
    barrier.wait()
    for number in range(settings.transactions):
        keys = choices.sample(KEYS, choices.randint(2, len(KEYS)))
        value = 1000 * (index + 1) + 10 * number
        steps = [(key, value + at if choices.random() < 0.4 else None) for at, key in enumerate(keys)]
        process = f"c{index}.{losses}" if losses else f"c{index}"
        pause = choices.uniform(0, settings.pause / 1000)
        line = run_transaction(process, client, steps, is_list, lambda: time.sleep(pause))
        if line["status"] == "unknown":
            # It may still run, so the client goes on as a new process.
            losses += 1
        lines.append(line)
    return lines


def run_transaction(process, client, steps, is_list, pause):
    """Reads each key, and writes or appends the value that a step has for it. Returns the line."""
    txn, is_ending = [], False
    line = {"process": process, "txn": txn, "start": time.monotonic_ns()}
    try:
        client.begin()
        for key, value in steps:
            txn.append(["r", key, client.read(key)])
            pause()
            # A write counts before the server replies: the transaction may be unknown.
            if value is not None and is_list:
                txn.append(["append", key, value])
                client.append(key, value)
                txn.append(["r", key, client.read(key)])
            elif value is not None:
                txn.append(["w", key, value])
                client.write(key, value)
        is_ending = True
        client.commit()
        line["status"] = "committed"
    except Aborted:
        client.abort()
        line["status"] = "aborted"
    except common.Unknown:
        # The server rolls back when the connection ends, unless it was asked to commit.
        common.reconnect(client)
        line["status"] = "unknown" if is_ending else "aborted"
    if line["status"] == "unknown":
        return line
    line["end"] = time.monotonic_ns()
    return line


def main(description, run):
    """Runs `run(settings)`. Exits with 1 if the server cannot be started."""
    settings = options(description)
    try:
        run(settings)
    except (common.NotStarted, OSError, common.Unknown) as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: not run: {error}")
