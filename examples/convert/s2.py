#!/usr/bin/env python3
"""Converts histories of S2, a service for streams of records, as `collect-history` of its verification writes them.

Each line is a JSON object with an event, `client_id` and `op_id`. The event is the start of an operation or its
finish, and the number of its line is its time.

| started | operation |
|---|---|
| `Append` | `append(num_records, record_hashes, set_fencing_token, fencing_token, match_seq_num) = tail` |
| `Read` | `read() = tail, stream_hash` |
| `CheckTail` | `check-tail() = tail` |

After `AppendDefiniteFailure`, `ReadFailure` and `CheckTailFailure`, an operation failed: it had no effect. After
`AppendIndefiniteFailure`, and without a finish, its outcome is unknown. A client that continues after such an
operation does so as a new process whose name has one more prime. `op_id` is a note.
"""

import source

STARTS = {"Append": "append", "Read": "read", "CheckTail": "check-tail"}
TOKENS = ("set_fencing_token", "fencing_token")
APPEND = ("num_records", "record_hashes", *TOKENS, "match_seq_num")
# The action that each finish belongs to, and the results of one that succeeded.
SUCCESSES = {
    "AppendSuccess": ("append", ("tail",)),
    "ReadSuccess": ("read", ("tail", "stream_hash")),
    "CheckTailSuccess": ("check-tail", ("tail",)),
}
FAILURES = {
    "AppendDefiniteFailure": "append",
    "AppendIndefiniteFailure": "append",
    "ReadFailure": "read",
    "CheckTailFailure": "check-tail",
}


def read_start(node):
    """The action and the arguments."""
    if node.value in ("Read", "CheckTail"):
        return STARTS[node.value], {}
    name, append = (node.value, None) if isinstance(node.value, str) else node.only_field()
    if name != "Append" or append is None:
        raise node.error(f"unsupported operation `{name}`")
    append.only(*APPEND)
    args = {"num_records": append.required("num_records").unsigned()}
    hashes = append.required("record_hashes")
    args["record_hashes"] = [each.unsigned() for each in hashes.elements()]
    if len(args["record_hashes"]) != args["num_records"]:
        found = len(args["record_hashes"])
        raise hashes.error(f"number of hashes: expected {args['num_records']}, found {found}")
    for key in TOKENS:
        token = append.field(key)
        args[key] = token and token.text()
    position = append.field("match_seq_num")
    args["match_seq_num"] = position and position.unsigned()
    return "append", args


def read_finish(node):
    """The action, and what the finish adds to the operation: nothing if its outcome is unknown."""
    if isinstance(node.value, str):
        if node.value not in FAILURES:
            raise node.error(f"unsupported result `{node.value}`")
        return FAILURES[node.value], None if node.value == "AppendIndefiniteFailure" else {"failed": True}
    name, success = node.only_field()
    if name not in SUCCESSES:
        raise node.error(f"unsupported result `{name}`")
    action, keys = SUCCESSES[name]
    success.only(*keys)
    return action, {"results": {key: success.required(key).unsigned() for key in keys}}


def convert(data):
    nodes, torn = source.read_lines(data)
    clients, lines, started, over = source.Clients(), [], {}, set()
    for node in nodes:
        node.only("event", "client_id", "op_id")
        client, number = node.required("client_id").unsigned(), node.required("op_id").unsigned()
        event = node.required("event")
        event.only("Start", "Finish")
        start, finish = event.field("Start"), event.field("Finish")
        if (start is None) == (finish is None):
            raise event.error("expected either `Start` or `Finish`")
        if start is not None:
            action, args = read_start(start)
            if number in started:
                raise start.error(f"operation {number} starts twice")
            lines.append(source.operation(clients.call(client), action, args, node.line))
            lines[-1]["meta"] = {"op_id": number}
            started[number] = client, lines[-1]
            continue
        action, added = read_finish(finish)
        if number not in started:
            raise finish.error(f"operation {number} finishes without a start")
        its_client, line = started[number]
        if its_client != client:
            raise finish.error(f"operation {number} of client {its_client} finishes as one of client {client}")
        if number in over:
            raise finish.error(f"operation {number} finishes twice")
        if line["action"] != action:
            raise finish.error(f"operation {number} is `{line['action']}`, but finishes as `{action}`")
        over.add(number)
        if added is not None:
            line.update(added, end=node.line)
            clients.finish(line["process"])
    if torn:
        # An operation is in the history before another client can see its effect.
        source.note(f"line {torn[0]}, the last one, is incomplete")
    return lines


if __name__ == "__main__":
    source.main(convert)
