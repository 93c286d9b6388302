#!/usr/bin/env python3
"""Checks recorded histories with `omnilink` and prints how many of each configuration are accepted.

A configuration is a directory of histories. Its histories are checked against a register per key, in real time
(linearizability) and in program order (sequential consistency).
"""

import argparse
import pathlib
import re
import subprocess

ORDERS = ["real-time", "program"]


def verdicts(tool, order, directory):
    """The verdict on each history of a directory, by the path of the history."""
    args = ["check", "--spec", "register", "--order", order, "--progress", "none", str(directory)]
    done = subprocess.run([tool, *args], capture_output=True, text=True)
    found = dict(re.findall(r"^(\S+\.jsonl): (accepted|rejected|inconclusive)\b", done.stdout, re.MULTILINE))
    if len(found) != len(list(directory.glob("*.jsonl"))):
        raise SystemExit(f"{directory}: some histories have no verdict\n{done.stderr}")
    return found


def main():
    parser = argparse.ArgumentParser(description="Count accepted histories per configuration.")
    parser.add_argument("histories", type=pathlib.Path, metavar="DIR", help="directory with one directory each")
    parser.add_argument("--omnilink", default="omnilink", metavar="PATH", help="command [default: omnilink]")
    parser.add_argument("--levels", action="store_true", help="print the strongest levels of each configuration instead")
    parser.add_argument("--rejected", action="store_true", help="also list the histories that are not accepted")
    options = parser.parse_args()
    if options.levels:
        for directory in sorted(path for path in options.histories.iterdir() if path.is_dir()):
            args = ["check", "--spec", "register", "--find-level", "--progress", "none", str(directory)]
            subprocess.run([options.omnilink, *args], check=False)
        return
    print("| configuration | histories | linearizable | sequentially consistent |\n|---|---|---|---|")
    lists = []
    for directory in sorted(path for path in options.histories.iterdir() if path.is_dir()):
        row = [directory.name, str(len(list(directory.glob("*.jsonl"))))]
        for order in ORDERS:
            found = verdicts(options.omnilink, order, directory)
            row.append(str(sum(verdict == "accepted" for verdict in found.values())))
            lists += [f"{order} {verdict} {path}" for path, verdict in sorted(found.items()) if verdict != "accepted"]
        print("| " + " | ".join(row) + " |", flush=True)
    if options.rejected:
        print("\n".join(lists))


if __name__ == "__main__":
    main()
