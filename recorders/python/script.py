"""Records the calls of a script with the recorder for Python: `script.py TRACE < SCRIPT`.

The language of scripts is described in `recorders/cpp/test/script.cpp`. The scripts in `tests/golden/recorder` have the
expected trace beside them. The clock shows the time that the script sets.
"""

import re
import sys

from omnilink_recorder import Action, Recorder

WORD = re.compile(r'\s*(--|[\[\]{}()]|"(?:\\.|[^"\\])*"|\w+=|[^\s\[\]{}()]+)')
CLOSING = {"[": "]", "{": "}", "(": ")"}
ENDS = ("done", "as", "failed", "drop", "unknown", "call", "named")


def value(words):
    """Takes a value off the front of the words."""
    word = words.pop(0)
    if word in CLOSING:
        items = []
        while words[0] != CLOSING[word]:
            items.append(value(words))
        words.pop(0)
        return {"[": tuple, "{": frozenset, "(": lambda it: dict(zip(it[::2], it[1::2]))}[word](items)
    if word[0] == '"':
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    if word in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[word]
    return float(word) if set(word) & set(".eE") else int(word)


def row(words):
    """The values up to `--` or the end: a tuple, or a dict if they have names."""
    values, names = [], []
    while words:
        if words[0] == "--":
            words.pop(0)
            break
        names += [words.pop(0)[:-1]] if words[0].endswith("=") else []
        values.append(value(words))
    return dict(zip(names, values)) if names else tuple(values)


def results_after(commands, process):
    """The names of the results that the open call of `process` will have."""
    current = process
    for command, rest in commands:
        current = rest if command == "process" else current
        if (command, rest) == ("close", process) or (current == process and command in ENDS):
            results = row(WORD.findall(rest)) if command == "done" else ()
            return tuple(results) if isinstance(results, dict) else ("",) * len(results)
    return ()


def run(script, trace):
    now, processes, open_calls, current = 0, {}, {}, None
    commands = [tuple(line.partition(" ")[::2]) for line in script.splitlines() if line and line[0] != "#"]
    with Recorder(trace, clock=lambda: now) as recorder:
        for index, (command, rest) in enumerate(commands):
            words = WORD.findall(rest)
            if command == "process":
                current = rest
                if current not in processes:
                    processes[current] = recorder.process(current)
            elif command == "time":
                now = int(rest)
            elif command == "close":
                processes.pop(rest).close()
            elif command in ("call", "named"):
                if current in open_calls:
                    open_calls[current].unknown()
                action, arguments = words.pop(0), row(words)
                action = Action(action, results_after(commands[index + 1:], current))
                by_name = isinstance(arguments, dict)
                open_calls[current] = processes[current].operation(
                    action, *(() if by_name else arguments), **(arguments if by_name else {}))
            elif command == "meta":
                open_calls[current].meta(words.pop(0), value(words))
            elif command in ("refine_start", "refine_end"):
                getattr(open_calls[current], command)()
            elif command == "done":
                results = row(words)
                by_name = isinstance(results, dict)
                open_calls.pop(current).returns(*(() if by_name else results), **(results if by_name else {}))
            elif command == "as":
                action, arguments = words.pop(0), row(words)
                open_calls.pop(current).returns_as(action, arguments, row(words))
            else:
                getattr(open_calls.pop(current), {"drop": "unknown", "unknown": "unknown_by_now"}.get(command, command))()


if __name__ == "__main__":
    run(sys.stdin.read(), sys.argv[1])
