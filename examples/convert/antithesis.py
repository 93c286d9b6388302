#!/usr/bin/env python3
"""Converts the output of Antithesis' SDKs: the lines in the file that `ANTITHESIS_SDK_LOCAL_OUTPUT` names.

A line is a JSON object with one key: `antithesis_sdk`, `antithesis_setup`, `antithesis_assert`,
`antithesis_guidance`, or the name of an event that the program sent with its details.

The convention for operations is an event named `omnilink` whose details are a line of JSON Lines:
`send_event("omnilink", {"process": 1, "action": "put", "args": [7], "start": 10, "end": 20})`. It is sent when the
operation has returned, or when its caller gives up and the outcome is unknown. The events of JSON Lines are
converted, too.

An assertion has failed if it was hit, its condition was false, and it is of the type `always` or `reachability`. If
its details have a time `start` in the unit of the operations, and possibly an `end`, it is an event. All other lines
are left out, and counted in a note. They are empty lines of the result, so that an error in an operation has its line.
"""

import re

import source

# The details stay as they are written: their numbers are exact.
OPERATION = re.compile(r'\{\s*"omnilink"\s*:\s*')


def has_failed(assertion):
    """False for assertions that hold, that a program lists at its start, and that may fail."""
    can_fail = assertion.get("assert_type") in ("always", "reachability")
    return assertion.get("hit") is True and assertion.get("condition") is False and can_fail


def text_of(fields, name):
    text = fields.get(name) if isinstance(fields, dict) else None
    return text if isinstance(text, str) else ""


def read_event(assertion):
    """A failed assertion as an event; `None` without a time."""
    details, location = assertion.get("details"), assertion.get("location")

    def time(name):
        time = details.get(name) if isinstance(details, dict) else None
        return time if type(time) is int and 0 <= time < 1 << 64 else None

    start, end = time("start"), time("end")
    if start is None:
        return None
    line = location.get("begin_line") if isinstance(location, dict) else None
    place = text_of(location, "file") + (f":{line}" if type(line) is int else "")
    event = {"event": text_of(assertion, "message"), "start": start}
    if end is not None and end >= start:
        event["end"] = end
    return event | {"note": f"{text_of(assertion, 'display_type')} {place}".strip()}


def convert(data):
    nodes, torn = source.read_lines(data)
    lines, others, untimed = ["\n"] * (nodes[-1].line if nodes else 0), 0, 0
    for node in nodes:
        if not isinstance(node.value, dict):
            raise node.error(f"a line is {source.kind(node.value)}, not an object")
        assertion = node.value.get("antithesis_assert")
        if "omnilink" in node.value:
            _, details = node.only_field()
            if not isinstance(details.value, dict):
                raise node.error(f"the details of `omnilink` are {source.kind(details.value)}, not an object")
            begin = OPERATION.match(node.written).end()
            lines[node.line - 1] = node.written[begin : source.decode(node.written, begin)[1]] + "\n"
        elif not isinstance(assertion, dict) or not has_failed(assertion):
            others += 1
        elif event := read_event(assertion):
            lines[node.line - 1] = event
        else:
            untimed += 1
    if others > 0:
        source.note(f"lines without an operation that were left out: {others}")
    if untimed > 0:
        source.note(f"failed assertions without a time `start` in the details that were left out: {untimed}")
    if torn and not torn[1].startswith('{"antithesis_'):
        lines += ["\n"] * (torn[0] - 1 - len(lines)) + [source.torn_line(torn[1])]
    elif torn:
        source.note(f"line {torn[0]}, the last one, is incomplete")
    return lines


if __name__ == "__main__":
    source.main(convert)
