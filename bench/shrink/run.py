#!/usr/bin/env python3
"""Prints how small `omnilink shrink` makes 20 failures: 10 of a Rust crate and 10 of a CMake project.

The crate is the stack beside this file, the project is the queue of book/src/own-cmake.md; both recycle nodes and have
the ABA problem. `omnilink fuzz` begins with the seeds 1, 1001, 2001 and so on, and ends with the first failure. Fails if a run of
`fuzz` finds no failure, if `shrink` does not end with the exit code of the failure, or if the run that it keeps cannot be
replayed. `omnilink` must be in PATH; `--count N` sets the number of failures of each project.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
BOOK = HERE.parent.parent / "book/src/own-cmake.md"
SIZE = r"(\d+) operations?, (\d+) steps?, (\d+) switch(?:es)?"


def run(directory, *words):
    """The exit code and the output of a command."""
    done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def fail(message):
    sys.exit(f"error: {message}")


def make_stack(directory):
    """The Rust crate, with its harness."""
    shutil.copytree(HERE / "stack", directory, ignore=shutil.ignore_patterns("main.rs", "target"))
    init(directory, "Stack.tla")
    shutil.copy(HERE / "stack/main.rs", directory / "omnilink/src/main.rs")


def make_queue(directory):
    """The CMake project of the book, with its harness."""
    directory.mkdir()
    blocks = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", BOOK.read_text(), re.M | re.S)
    files = dict(blocks)
    main = files.pop("omnilink/main.cpp")
    for name, text in files.items():
        (directory / name).write_text(text)
    init(directory, "Queue.tla")
    (directory / "omnilink/main.cpp").write_text(main)


def init(directory, spec):
    code, said = run(directory, "omnilink", "init", "--spec", spec)
    if code != 0:
        fail(f"`omnilink init` of {spec} ended with {code}: {said}")


def measure(directory, seed, build):
    """One row: the failure from this seed, before and after `shrink`."""
    options = [] if build else ["--no-build"]
    code, said = run(directory, "omnilink", "fuzz", "--seed", str(seed), "--time", "2m", "--progress", "none", *options)
    # A run before the last one may be inconclusive, and is kept too.
    found = re.findall(r"^run \d+ \(seed (\d+), .*\): (.*)$", said, re.M)
    kept = re.findall(r"^found after .*, kept as (\w+):", said, re.M)
    if code not in (1, 5) or not found or not kept:
        fail(f"`omnilink fuzz --seed {seed}` in {directory.name} ended with {code}: {said}")
    (seed, failure), kept = found[-1], kept[-1]
    begin = time.monotonic()
    shrunk, said = run(directory, "omnilink", "shrink", kept)
    took = time.monotonic() - begin
    sizes = re.search(f"^kept as (\\w+): {SIZE} instead of {SIZE};", said, re.M)
    if shrunk != code or not sizes:
        fail(f"`omnilink shrink` of seed {seed} in {directory.name} ended with {shrunk}: {said}")
    small, *sizes = sizes.groups()
    replayed, said = run(directory, "omnilink", "replay", small)
    if replayed != code:
        fail(f"`omnilink replay` of the shrunk seed {seed} in {directory.name} ended with {replayed}: {said}")
    part = re.search(r"this part fails by itself: (\d+) operation", run(directory, "omnilink", "runs", "show", small)[1])
    after, before = [int(size) for size in sizes[:3]], [int(size) for size in sizes[3:]]
    return [failure, seed, before[0], after[0], before[2], after[2], part[1] if part else "", took]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10, help="number of failures of each project [default: 10]")
    count = parser.parse_args().count
    print("| project | failure | seed | operations | shrunk | switches | shrunk | smallest part | time |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in [("stack, Rust", make_stack), ("queue, C++", make_queue)]:
            directory = Path(scratch) / name.partition(",")[0]
            make(directory)
            for number in range(count):
                row = measure(directory, 1 + 1000 * number, number == 0)
                rows.append(row)
                words = [name, *map(str, row[:-1]), f"{row[-1]:.1f} s"]
                print("| " + " | ".join(words) + " |", flush=True)
    middle = [median(row[column] for row in rows) for column in (2, 3, 4, 5, 7)]
    print("| median | | | {:g} | {:g} | {:g} | {:g} | | {:.1f} s |".format(*middle))


main()
