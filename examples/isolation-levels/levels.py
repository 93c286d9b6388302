#!/usr/bin/env python3
"""Prints the strongest levels of each history in a directory, and compares them with the documentation of the systems.

Exits with 1 if a history breaks the level that the system promises.
"""

import argparse
import json
import pathlib
import subprocess

# The level that each configuration promises, or that its comparisons give by construction; none for those without one.
PROMISES = {
    "etcd-compare-all": "strict-serializable",
    "etcd-compare-nothing": "read-committed",
    "etcd-compare-written": "strong-snapshot",
    "mariadb-read-committed": "read-committed",
    "mariadb-read-uncommitted": None,
    "mariadb-repeatable-read": "read-committed",
    "mariadb-repeatable-read-lists": "read-committed",
    "mariadb-repeatable-read-snapshot": "snapshot",
    "mariadb-serializable": "serializable",
    "postgresql-read-committed": "read-committed",
    "postgresql-repeatable-read": "snapshot",
    "postgresql-serializable": "serializable",
    "redis-multi": "read-committed",
    "redis-watch-all": "strict-serializable",
    "redis-watch-written": "read-committed",
    "sqlite-journal": "serializable",
    "sqlite-read-uncommitted": None,
    "sqlite-wal": "serializable",
}


def check(tool, *args):
    done = subprocess.run([tool, "check", "--progress", "none", "--format", "json", *args], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(done.stderr)
    (history,) = json.loads(done.stdout)["histories"]
    return history


def main():
    parser = argparse.ArgumentParser(description="Find the isolation levels of histories.")
    parser.add_argument("histories", type=pathlib.Path, metavar="DIR", help="directory of histories")
    parser.add_argument("--omnilink", default="omnilink", metavar="PATH", help="command [default: omnilink]")
    options = parser.parse_args()
    broken = []
    print("| configuration | no order | session order | real time |\n|---|---|---|---|")
    for path in sorted(options.histories.glob("*.jsonl")):
        found = check(options.omnilink, "--find-level", str(path))["strongest"]
        levels = [", ".join(each["levels"]) + "?" * bool(each["undecided"]) or "none" for each in found]
        print(f"| {path.stem} | {' | '.join(levels)} |")
        promise = PROMISES.get(path.stem)
        if promise and check(options.omnilink, "--isolation", promise, str(path))["verdict"] == "rejected":
            broken.append(f"{path.stem} is not {promise}")
    if broken:
        raise SystemExit("\n".join(broken))


if __name__ == "__main__":
    main()
