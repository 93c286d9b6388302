#!/usr/bin/env python3
"""How soon seeded mistakes are found with default options, and whether corrected programs pass.

Prints a table: for each mistake and each way to look for it, in how many of the seeds it is found within the time, and the
median time. Builds are not counted. `--right TIME` runs the corrected programs instead, each for this time. `--shrink` shrinks each
failure and replays both runs: the three exit codes have to be the same. `--litmus` runs litmus tests instead, and prints which
outcomes are shown of those that C++20 allows and forbids.

`omnilink` and `cargo-omnilink` have to be in PATH, and c++ and cargo.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# The specification of each mistake for `fuzz`.
MISTAKES = {
    "wrong_empty_check": "queue",
    "tearing_length": "queue:capacity=4",
    "early_publish": "queue:capacity=4",
    "weakened_ordering": "queue:capacity=4",
    "aba": "stack",
    "lost_wake_up": "Buffer.tla",
    "missing_recheck": "Buffer.tla",
    "double_free": "stack",
    "use_after_free": "register:initial=0",
    "lock_order": "bank:0=10,1=10",
    "read_modify_write": "counter",
    "seqlock_without_fences": "register:initial=0",
}

# Exit codes of `omnilink` for a failure: rejected, crashed or stuck, data race.
FAILURES = {1, 5, 7}


class Unexpected(Exception):
    """A command that neither found something nor nothing."""


def run(command, directory, limit, **variables):
    """The exit code, the time and the output of a command; no code if it takes longer."""
    environment = dict(os.environ, **variables)
    began = time.monotonic()
    try:
        ran = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, limit, ""
    return ran.returncode, time.monotonic() - began, ran.stdout + ran.stderr


def built(command, directory, **variables):
    code, _, said = run(command, directory, 1800, **variables)
    if code != 0:
        raise Unexpected(f"{' '.join(command)}: exit code {code}\n{said}")


class Harness:
    """A program that is a harness and an object, with the command that builds it."""

    def __init__(self, work, name, command, program):
        self.directory = os.path.join(work, name)
        self.command, self.program = command, program
        os.makedirs(self.directory)
        for file in ("Buffer.tla", "Buffer.cfg"):
            shutil.copy(os.path.join(HERE, file), self.directory)

    def build(self):
        """Builds it for control: once, for all mistakes."""
        self.write("aba", "fuzz", "right")
        built(["omnilink", "lineup", "--calls", "--", self.program, "lineup", "aba", "right"], self.directory)

    def write(self, mistake, mode, version):
        with open(os.path.join(self.directory, "omnilink.toml"), "w", encoding="utf-8") as settings:
            settings.write(f"spec = {json.dumps(MISTAKES[mistake])}\n\n[harness]\nbuild = {json.dumps(self.command)}\n")
            settings.write(f"run = {json.dumps([self.program, mode, mistake, version])}\n")

    def fuzz(self, mistake, version, seed, limit):
        self.write(mistake, "fuzz", version)
        options = ["--no-build", "--seed", str(seed), "--time", f"{limit}s", "--progress", "none", "--format", "json"]
        code, took, said = run(["omnilink", "fuzz", *options], self.directory, limit + 60)
        if code in FAILURES:
            # After a data race it goes on, to see what the race leads to.
            failures = json.JSONDecoder().raw_decode(said)[0]["failures"]
            took = min(failure["first_after_seconds"] for failure in failures)
        return code, took, said

    def lineup(self, mistake, version, seed, limit):
        self.write(mistake, "lineup", version)
        # By default it tells what it found at once, and then makes it smaller, for up to all the time.
        options = ["--no-build", "--no-reduce", "--seed", str(seed), "--time", f"{limit}s", "--progress", "none"]
        return run(["omnilink", "lineup", *options], self.directory, limit + 60)


def cpp(work):
    include, source = os.path.join(ROOT, "recorders/cpp/include"), os.path.join(HERE, "cpp/seeded.cpp")
    command = ["c++", "-std=c++20", "-O1", "-g", "-pthread", f"-I{include}", source, "-o", "seeded"]
    return Harness(work, "cpp", command, "./seeded")


def rust_objects(work):
    manifest = os.path.join(HERE, "rust-objects/Cargo.toml")
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", "target"]
    return Harness(work, "rust-objects", command, "target/release/seeded")


class Rust:
    """The tests in Rust, built once for each way to look."""

    def __init__(self, work, ways):
        self.directory = os.path.join(work, "rust")
        shutil.copytree(os.path.join(HERE, "rust"), self.directory, ignore=shutil.ignore_patterns("target"))
        if "test" in ways:
            built(["cargo", "omnilink", "test", "--no-run"], self.directory)
        for checker in {"loom", "shuttle"} & set(ways):
            built(self.command(checker, "none") + ["--no-run"], self.directory)

    def command(self, checker, test):
        return ["cargo", "test", "--quiet", "--release", "--features", checker, "--target-dir", f"target/{checker}",
                "--test", "seeded", test]

    def test(self, mistake, version, seed, limit):
        options = ["--test", "seeded", "--seed", str(seed)]
        if version == "right":
            options += ["--runs", "1000000000", "--time", f"{limit}s"]
        # Arguments after the name are those of the test program.
        return run(["cargo", "omnilink", "test", *options, f"{version}::{mistake}"], self.directory, limit + 60)

    def checker(self, name, mistake, version, seed, limit):
        code, took, said = run(self.command(name, f"{version}::{mistake}"), self.directory, limit, SEED=str(seed))
        # A failed test, or a double free that ends the process.
        return (code if code in (None, 0) else 1), took, said

    def loom(self, *what):
        return self.checker("loom", *what)

    def shuttle(self, *what):
        return self.checker("shuttle", *what)


def is_found(name, result, limit):
    code, took, said = result
    if code in FAILURES or (name in ("test", "loom", "shuttle") and code not in (0, None)):
        return took <= limit
    if code in (0, 3, None):
        return False
    raise Unexpected(f"{name}: exit code {code}\n{said}")


def measure(ways, seeds, limit, mistakes):
    print("| mistake | " + " | ".join(label for label, _, _ in ways) + " |")
    print("|---" * (len(ways) + 1) + "|")
    found = 0
    for mistake in mistakes:
        cells = []
        for _, name, look in ways:
            # loom has no seed.
            repetitions = range(1, 2 if name == "loom" else seeds + 1)
            results = [look(mistake, "wrong", seed, limit) for seed in repetitions]
            times = [result[1] for result in results if is_found(name, result, limit)]
            median = f", {statistics.median(times):.2g} s" if times else ""
            cells.append(f"{len(times)} of {len(repetitions)}{median}")
            found += name in ("fuzz", "test") and len(times) >= 0.95 * len(repetitions)
        print(f"| {mistake.replace('_', ' ')} | " + " | ".join(cells) + " |", flush=True)
    return found


def pass_right(ways, limit, mistakes):
    wrong = 0
    for mistake in mistakes:
        for label, name, look in ways:
            code, took, said = look(mistake, "right", 1, limit)
            is_right = code == 0
            wrong += not is_right
            print(f"{mistake}, {label}: {'nothing found' if is_right else f'exit code {code}'} in {took:.0f} s", flush=True)
            if not is_right:
                print(said)
    return wrong


def shrink(ways, seeds, limit, mistakes):
    """Shrinks every failure. Returns how many did not fail as before."""
    wrong = failures = 0
    for mistake in mistakes:
        for label, name, look in ways:
            directory = look.__self__.directory
            shutil.rmtree(os.path.join(directory, "target", "omnilink"), ignore_errors=True)
            for seed in range(1, seeds + 1):
                if not is_found(name, look(mistake, "wrong", seed, limit), limit):
                    continue
                steps = [run(["omnilink", *words], directory, 300) for words in (["replay"], ["shrink"], ["replay"])]
                codes = [code for code, _, _ in steps]
                failures += 1
                if len(set(codes)) > 1 or codes[0] not in FAILURES:
                    wrong += 1
                    print(f"{mistake}, {label}, seed {seed}: exit codes {codes}")
                    print("".join(said for _, _, said in steps), flush=True)
    print(f"{failures} failures shrunk, {failures - wrong} fail as before")
    return wrong


def litmus(rust):
    """Prints which outcomes of litmus tests are shown. Returns how many of OmniLink's are not as the standard says."""
    omnilink = ["cargo", "omnilink", "test", "--test", "litmus"]
    loom = ["cargo", "test", "--release", "--features", "loom", "--target-dir", "target/loom", "--test", "litmus"]
    tools = {"`cargo omnilink test`": omnilink, "with `--weak-memory`": [*omnilink, "--weak-memory"], "loom": loom}
    shown = {}
    for tool, command in tools.items():
        _, _, said = run(command, rust.directory, 1800)
        for verdict, name, ended in re.findall(r"^test (\w+)::(\w+) \.\.\. (ok|FAILED)", said, re.MULTILINE):
            shown.setdefault((verdict, name), {})[tool] = ended == "FAILED"
    wrong = 0
    print(f"| litmus test | C++20 | {' | '.join(tools)} |")
    print("|---" * (len(tools) + 2) + "|")
    for (verdict, name), by_tool in sorted(shown.items()):
        # No tool that executes a program step by step shows it.
        is_shown = verdict == "allowed" and not name.startswith("load_buffering")
        if set(by_tool) != set(tools):
            raise Unexpected(f"{verdict}::{name} was run by {', '.join(by_tool)} only")
        by_default, when_weak = by_tool["`cargo omnilink test`"], by_tool["with `--weak-memory`"]
        wrong += when_weak != is_shown or (by_default and not is_shown)
        cells = ["shown" if by_tool[tool] else "-" for tool in tools]
        print(f"| {name.replace('_', ' ')} | {verdict} | {' | '.join(cells)} |")
    if not shown:
        raise Unexpected(f"no litmus test was run\n{said}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--limit", type=int, default=10, help="seconds for each seed")
    parser.add_argument("--right", type=int, metavar="SECONDS", help="run the corrected programs for this long instead")
    parser.add_argument("--shrink", action="store_true", help="shrink the failures instead, and replay them")
    parser.add_argument("--litmus", action="store_true", help="run litmus tests instead")
    parser.add_argument("--at-least", type=int, default=0, metavar="COUNT",
                        help="fail if `fuzz` in C++ and `cargo omnilink test` find fewer, of 24")
    parser.add_argument("--only", help="only mistakes whose names contain this")
    parser.add_argument("--ways", default="fuzz,lineup,rust-fuzz,rust-lineup,test,loom,shuttle",
                        help="which ones, separated by commas")
    parser.add_argument("--work", default="/tmp/omnilink-seeded", help="a directory, which is made anew")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    chosen = options.ways.split(",")
    if options.litmus:
        sys.exit(1 if litmus(Rust(options.work, [])) else 0)
    harnesses = in_cpp, in_rust = cpp(options.work), rust_objects(options.work)
    rust = Rust(options.work, chosen)
    ways = [
        ("C++, `fuzz`", "fuzz", in_cpp.fuzz),
        ("C++, `lineup`", "lineup", in_cpp.lineup),
        ("Rust, `fuzz`", "rust-fuzz", in_rust.fuzz),
        ("Rust, `lineup`", "rust-lineup", in_rust.lineup),
        ("Rust, `cargo omnilink test`", "test", rust.test),
        ("Rust, loom", "loom", rust.loom),
        ("Rust, shuttle", "shuttle", rust.shuttle),
    ]
    ways = [way for way in ways if way[1] in chosen]
    for harness in harnesses:
        if any(look.__self__ is harness for _, _, look in ways):
            harness.build()
    mistakes = [mistake for mistake in MISTAKES if options.only is None or options.only in mistake]
    controlled = [way for way in ways if way[1] in ("fuzz", "rust-fuzz", "test")]
    if options.right:
        sys.exit(1 if pass_right(controlled, options.right, mistakes) else 0)
    if options.shrink:
        sys.exit(1 if shrink(controlled, options.seeds, options.limit, mistakes) else 0)
    found = measure(ways, options.seeds, options.limit, mistakes)
    print(f"\n{found} found by `fuzz` in C++ or `cargo omnilink test` in at least 95 % of the seeds")
    if found < options.at_least:
        sys.exit(f"error: expected at least {options.at_least}")


if __name__ == "__main__":
    try:
        main()
    except Unexpected as error:
        sys.exit(f"error: {error}")
