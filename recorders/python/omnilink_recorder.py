"""Records the operations of a concurrent program, so that OmniLink can decide whether a specification allows them.

    with Recorder("trace") as recorder:                          # a directory; "trace.jsonl" is one file of JSON Lines
        client = recorder.process("c1")                          # one for each thread or client
        with client.operation("write", key=1, value=2) as op:    # in the trace before the system is touched
            store.write(1, 2)
            op.returns()
        with client.operation("read", key=1) as op:
            op.returns(value=store.read(1))

The outcome of an operation is unknown unless the block says `returns`, `returns_as` or `failed`: an exception, such as a
timeout, leaves it unfinished, and goes on to the caller. No operation may follow an unfinished one in its process, so the
client then continues as another process, named `c1+1` after `c1`.

FORMAT.md specifies both formats. Every operation is handed to the kernel when it begins and again when it ends, without a
buffer in between, so a program that is killed loses nothing. In JSON Lines, an operation is a line with spaces behind it; its
outcome replaces the line, or turns it into a comment if it does not fit. `seq` counts the operations of a process, and its last
line has their number, so that a check notices lines that are missing.

`Recorder("trace.jsonl", append=True)` never changes a line, so that its output can be sent through a pipe while the program
runs. It writes how far a process is when an operation begins, and the operation when it ends; one that is open when the program
is killed is lost.

Values are None, bool, int, finite float, str, and lists, tuples, sets and dicts of them. Standard library only.
"""

import json
import math
import os
import struct
import threading
import time
from typing import NamedTuple

MAGIC = b"\x89OMNISEG\x01"
ACTION, CALL, RETURN, FAIL, META, END, OUTCOME, UNKNOWN = 1, 3, 4, 5, 6, 7, 8, 9
DEEPEST = 32  # Nesting of values.
LONGEST = 1 << 24  # Bytes of a record.
ROOM = 96  # Spaces behind an open operation in JSON Lines, for its end and its results, until a longer one was seen.
PAGE = 4096  # A killed process may write a part of its bytes, but not of those in one page.


class Action(NamedTuple):
    """An action whose results have names: a binary trace then defines it once, and not again at the first return."""

    name: str
    results: tuple = ()


class Recorder:
    """A trace that is being recorded. Threads may share it; the child of a fork must not use it."""

    def __init__(self, path, clock=time.monotonic_ns, meta=None, append=False):
        self.path, self.clock, self.lock, self.names, self.processes = os.fspath(path), clock, threading.Lock(), {}, []
        self.appends = append
        if append or self.path.endswith(".jsonl"):
            is_pipe = append and os.path.exists(self.path) and not os.path.isfile(self.path)
            self.file, self.size = open(self.path, "wb" if is_pipe else "xb", buffering=0), 0
            return
        os.makedirs(self.path, exist_ok=True)
        if any(name.endswith(".seg") for name in os.listdir(self.path)):
            raise FileExistsError(f"`{self.path}` already holds a trace; remove it, or record elsewhere")
        self.file = None
        manifest = {"format": "omnilink-trace", "version": 1, "clock": "ns", **({"meta": meta} if meta else {})}
        with open(os.path.join(self.path, "manifest.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(manifest) + "\n")

    def process(self, name):
        """Begins a process. It runs one operation at a time. No two processes of a trace have the same name."""
        kind = AppendedLines if self.appends else Lines if self.file else Segment
        process = kind(self, str(name))
        self.processes.append(process)
        return process

    def take(self, name):
        """Reserves the name of a process, and returns its number; None if the name is taken."""
        with self.lock:
            return None if name in self.names else self.names.setdefault(name, len(self.names))

    def append(self, line, room):
        """Adds a line with room behind it to a file of JSON Lines, within one page if it fits, and returns its place."""
        room = max(len(line) + 1, min(len(line) + room, PAGE))
        with self.lock:
            gap = -self.size % PAGE if self.size % PAGE + room > PAGE >= room else 0
            self.size += write(self.file, b"\n" * gap + line.ljust(room - 1) + b"\n")
            return self.size - room, room

    def close(self):
        for process in self.processes:
            process.close()
        if self.file:
            self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Process:
    """A thread, a client or a session: it runs one operation at a time."""

    def __init__(self, recorder, name):
        self.recorder, self.client, self.clock = recorder, name, recorder.clock
        self.latest = self.count = self.continuations = 0
        self.open = None  # The operation without an outcome.
        if len(name.encode()) > 240:
            raise ValueError("the name of a process has at most 240 bytes")
        if not self.enter(name):
            raise ValueError(f"process `{name}` already exists")

    def enter(self, name):
        number = self.recorder.take(name)
        if number is not None:
            self.name = name
            self.begin_process(number)
        return number is not None

    def operation(self, action, /, *values, **named):
        """Begins an operation, with arguments by place or by name."""
        action, arguments = Action(action) if isinstance(action, str) else action, row(values, named)
        if self.open and not self.open.is_unknown:
            raise RuntimeError("a process runs one operation at a time, and one is open")
        if self.open:
            self.continuations += 1
            self.close()
            while not self.enter(f"{self.client}+{self.continuations}"):
                self.continuations += 1
        operation = Operation(self, action, arguments)
        self.begin(operation)
        self.open = operation
        return operation


class Operation:
    """An operation that has begun. A `with` block that ends without an outcome leaves it unfinished."""

    def __init__(self, process, action, arguments):
        self.process, self.action, self.arguments, self.results = process, action, arguments, None
        self.refined = self.end = self.latest = None
        self.is_unknown = self.has_failed = False
        self.notes = {}
        self.start = max(process.clock(), process.latest)

    def returns(self, *values, **named):
        """It returned, with results by place or by name."""
        self.finish(RETURN, self.action.name, self.arguments, row(values, named))

    def returns_as(self, action, arguments=(), results=()):
        """It returned as another action, with other arguments; both are a tuple or a dict."""
        self.finish(OUTCOME, action, *(row((), it) if isinstance(it, dict) else row(it, {}) for it in (arguments, results)))

    def failed(self):
        """It is known to have had no effect. An error that leaves this open is not a failure."""
        self.has_failed = True
        self.finish(FAIL)

    def unknown(self):
        """It may take effect at any time, or never; the same as a block without an outcome."""
        if self.process.open is self and not self.is_unknown:
            self.is_unknown = True
            self.process.leave(self)

    def unknown_by_now(self):
        """It may have taken effect, but cannot any more: it was cancelled, or its lease ran out."""
        self.finish(UNKNOWN)
        self.is_unknown = True

    def meta(self, key, value):
        """A note for people to read."""
        self.process.note(self, key, value)

    def refine_start(self):
        """It has done nothing so far."""
        self.refined, self.end = max(self.process.clock(), self.process.latest), None

    def refine_end(self):
        """It has taken effect by now."""
        self.end = self.process.clock()

    def finish(self, kind, name=None, arguments=None, results=None):
        process = self.process
        if process.open is not self or self.is_unknown:
            raise RuntimeError("the operation already has an outcome")
        start = self.start if self.refined is None else self.refined
        process.latest = end = max(process.clock() if self.end is None else self.end, start)
        self.start = start if results else self.start
        self.end, self.latest = (None, end) if kind == UNKNOWN else (end, None)
        process.finish(self, kind, end, name, arguments, results)
        process.open = self if kind == UNKNOWN else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.open is self:
            self.unknown()


class Segment(Process):
    """A process in the binary format: a file of its own."""

    def begin_process(self, number):
        name, self.actions, self.operations, self.written = self.name.encode(), {}, 0, 0
        self.file = open(os.path.join(self.recorder.path, f"{number:03}.seg"), "xb", buffering=0)
        write(self.file, MAGIC + bytes([len(name)]) + name)

    def begin(self, operation):
        names, values = operation.arguments
        operation.values = b"".join(encode(value) for value in values)
        operation.number = self.number(operation.action.name, names, operation.action.results)
        self.record(CALL, varint(operation.number), self.times(operation.start), operation.values)
        self.operations += 1

    def finish(self, operation, kind, end, name, arguments, results):
        values = b"".join(encode(value) for value in results[1]) if results else b""
        is_same = kind == RETURN and results[0] == operation.action.results
        if not results or (is_same and operation.refined is None):
            return self.record(kind, self.times(end), values)
        number = operation.number if is_same else self.number(name, arguments[0], results[0])
        given = b"".join(encode(value) for value in arguments[1])
        self.record(OUTCOME, varint(number), self.times(operation.start, end), given, values)

    def leave(self, _):
        pass  # A call without a return is one of unknown outcome.

    def note(self, _, key, value):
        self.record(META, string(key), encode(value))

    def number(self, *shape):
        """The number of an action, which is defined before it is used."""
        if shape not in self.actions:
            name, *names = shape
            lists = b"".join(varint(len(it)) + b"".join(map(string, it)) for it in names)
            self.record(ACTION, varint(len(self.actions)), string(name), lists)
            self.actions[shape] = len(self.actions)
        return self.actions[shape]

    def times(self, *times):
        """Each time is the difference to the one before it."""
        text = b"".join(signed((time - before + (1 << 63)) % (1 << 64) - (1 << 63))
                        for before, time in zip((self.written, *times), times))
        self.written = times[-1]
        return text

    def record(self, kind, *parts):
        body = bytes([kind]) + b"".join(parts)
        if len(body) > LONGEST:
            raise ValueError("a record has at most 16777216 bytes")
        write(self.file, (bytes([len(body)]) if len(body) < 255 else b"\xff" + struct.pack("<I", len(body))) + body)

    def close(self):
        if not self.file.closed:
            self.record(END, varint(self.operations))
            self.file.close()


class Lines(Process):
    """A process in JSON Lines: all processes share a file."""

    def begin_process(self, _):
        self.rooms, self.count, self.is_closed = {}, 0, False

    def begin(self, operation):
        operation.name, operation.notes, operation.place, operation.seq = operation.action.name, {}, None, self.count
        self.put(operation)
        self.count += 1

    def finish(self, operation, kind, _, name, arguments, results):
        if results:
            operation.name, operation.arguments, operation.results = name, arguments, results
        self.put(operation)

    def leave(self, operation):
        self.put(operation)

    def note(self, operation, key, value):
        operation.notes[key] = plain(value)
        self.put(operation)

    def line(self, operation):
        """The line of an operation."""
        line = {"process": self.name, "action": operation.name, "args": layout(operation.arguments)}
        if operation.results and operation.results[1]:
            line["results"] = layout(operation.results)
        line["start"] = operation.start
        line |= {key: time for key in ("end", "latest") if (time := getattr(operation, key)) is not None}
        line |= {"failed": True} if operation.has_failed else {}
        line |= {"outcome": "unknown"} if operation.is_unknown and operation.latest is None else {}
        line["seq"] = operation.seq
        line |= {"meta": operation.notes} if operation.notes else {}
        return json.dumps(line, ensure_ascii=False, allow_nan=False).encode()

    def put(self, operation):
        """Writes the line of an operation, in place of the one it has."""
        text = self.line(operation)
        if operation.place and len(text) < operation.place[1]:
            offset, room = operation.place
            os.pwrite(self.recorder.file.fileno(), text.ljust(room - 1) + b"\n", offset)
        else:
            old, operation.place = operation.place, self.recorder.append(text, self.rooms.get(operation.action, ROOM))
            if old:  # A comment now. In a program that is killed before, the operation is there twice: the check fails.
                os.pwrite(self.recorder.file.fileno(), b"#", old[0])
                self.rooms[operation.action] = 2 * len(text)

    def reached(self):
        """The latest time of its operations."""
        return max(self.latest, self.open.start if self.open else 0)

    def progress(self, time, is_last):
        """A line that says how far the process is."""
        line = {"process": self.name, "progress": time, "operations": self.count, **({"is_last": True} if is_last else {})}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def close(self):
        """Says how many operations there were. Those of unknown outcome are over, too."""
        if not self.is_closed:
            self.is_closed = True
            self.recorder.append(self.progress(self.reached(), True)[:-1], 1)


class AppendedLines(Lines):
    """The same, without changing a line: an operation has its line when it ends."""

    def begin(self, operation):
        operation.name, operation.notes, operation.seq = operation.action.name, {}, self.count
        self.line(operation)  # An argument that cannot be recorded is an error now.
        self.add(self.progress(operation.start, False))
        self.count += 1

    def finish(self, operation, kind, _, name, arguments, results):
        if results:
            operation.name, operation.arguments, operation.results = name, arguments, results
        self.add(self.line(operation) + b"\n")

    def leave(self, operation):
        self.add(self.line(operation) + b"\n")

    def note(self, operation, key, value):
        operation.notes[key] = plain(value)

    def add(self, line):
        with self.recorder.lock:
            write(self.recorder.file, line)

    def close(self):
        if not self.is_closed:
            self.is_closed = True
            if self.open and not self.open.is_unknown:
                self.open.unknown()
            self.add(self.progress(self.reached(), True))


class Transactions(Recorder):
    """Transactions of a store, for `omnilink check --isolation`: a file of JSON Lines.

        with Transactions("txns.jsonl") as recorder:
            session = recorder.session("c1")                # one for each connection
            with session.transaction() as txn:              # before the store begins
                txn.read("x", store.get("x"))
                store.put("x", 2)
                txn.write("x", 2)
                txn.committing()                            # before COMMIT is sent
                store.commit()
                txn.committed()

    An exception before `committing` means that the transaction aborted, and one after it that nothing is known; it goes on to
    the caller. The line is written by `committing`, so that a program that is killed then loses no transaction.
    """

    def __init__(self, path, clock=time.monotonic_ns):
        super().__init__(path, clock)
        if not self.file:
            raise ValueError("transactions are recorded in a file that ends in `.jsonl`")

    def session(self, name):
        """Begins a session, which performs one transaction after another. No two have the same name."""
        if self.take(str(name)) is None:
            raise ValueError(f"session `{name}` already exists")
        return Session(self, str(name))


class Session:
    def __init__(self, recorder, name):
        self.recorder, self.name = recorder, name

    def transaction(self):
        """A transaction, as a `with` block."""
        return Transaction(self)


class Transaction:
    """A transaction that is being recorded. Keys and values are None, bool, int, finite float or str."""

    def __init__(self, session):
        self.session, self.accesses, self.stamps, self.place, self.status = session, [], {}, None, None
        self.start = session.recorder.clock()

    def read(self, key, value):
        """The store returned this value, or this list of all elements. Returns it."""
        self.access("r", key, [plain(each) for each in value] if isinstance(value, list) else plain(value))
        return value

    def write(self, key, value):
        self.access("w", key, plain(value))

    def append(self, key, element):
        self.access("append", key, plain(element))

    def access(self, kind, key, value):
        if self.place or self.status:
            raise ValueError("the transaction is committing, or has an outcome")
        self.accesses.append([kind, plain(key), value])

    def stamp(self, **stamps):
        """Times that the database gave the transaction: `snapshot_ts` and `commit_ts`, or PostgreSQL's `snapshot` and `xid`."""
        if self.status:
            raise ValueError(f"the transaction is already {self.status}")
        self.stamps |= stamps

    def committing(self):
        """The commit is about to be sent: until it is known to be over, the transaction may have taken effect."""
        self.put()

    def committed(self):
        self.end("committed")

    def aborted(self):
        self.end("aborted")

    def unknown(self):
        """The transaction may or may not have taken effect."""
        self.status = "unknown"
        if not self.place:
            self.put()

    def end(self, status):
        if self.status:
            raise ValueError(f"the transaction is already {self.status}")
        self.status = status
        self.put(self.session.recorder.clock())

    def put(self, end=None):
        """Writes the line, in place of the one that there is, which becomes a comment if the new one does not fit."""
        line = {"process": self.session.name, "txn": self.accesses, "start": self.start}
        line |= {"status": "unknown"} if end is None else {"end": end, "status": self.status}
        line |= self.stamps
        text, file = json.dumps(line, ensure_ascii=False, allow_nan=False).encode(), self.session.recorder
        if self.place and len(text) < self.place[1]:
            offset, room = self.place
            os.pwrite(file.file.fileno(), text.ljust(room - 1) + b"\n", offset)
            return
        old, self.place = self.place, file.append(text, ROOM)
        if old:
            os.pwrite(file.file.fileno(), b"#", old[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.status:
            self.unknown() if self.place else self.aborted()


def write(file, data):
    """Writes all of it. After a part, nothing may follow."""
    count = file.write(data)
    if count != len(data):
        file.close()
        raise OSError(f"wrote {count} of {len(data)} bytes")
    return count


def row(values, named):
    """The names and the values of arguments or results."""
    if values and named:
        raise TypeError("arguments and results are given by place or by name, and not both")
    return (tuple(named), tuple(named.values())) if named else (("",) * len(values), tuple(values))


def layout(row):
    names, values = row
    return {name: plain(value) for name, value in zip(names, values)} if any(names) else [plain(it) for it in values]


def plain(value, depth=0):
    """A value as JSON has it."""
    if isinstance(value, (list, tuple, set, frozenset, dict)) and depth == DEEPEST:
        raise ValueError("values nest at most 32 deep")
    if isinstance(value, (list, tuple)):
        return [plain(it, depth + 1) for it in value]
    if isinstance(value, (set, frozenset)):
        return {"#set": sorted((plain(it, depth + 1) for it in value), key=json.dumps)}
    if isinstance(value, dict):
        pairs = [(plain(key, depth + 1), plain(it, depth + 1)) for key, it in value.items()]
        is_record = all(isinstance(key, str) and not key.startswith("#") for key in value)
        return dict(pairs) if is_record else {"#fun": pairs}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a value of type `{type(value).__name__}` cannot be recorded")


def encode(value, depth=0):
    """A value in the binary format."""
    if value is None or isinstance(value, bool):
        return bytes([0 if value is None else 1 + value])
    if isinstance(value, int):
        if -16 <= value <= 175:
            return bytes([value + 0x50])
        return b"\x03" + signed(value) if -1 << 63 <= value < 1 << 63 else b"\x09" + string(str(int(value)))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("only finite numbers can be recorded")
        return b"\x04" + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode()
        return bytes([0x20 + len(text)]) + text if len(text) < 32 else b"\x05" + string(value)
    if not isinstance(value, (list, tuple, set, frozenset, dict)):
        raise TypeError(f"a value of type `{type(value).__name__}` cannot be recorded")
    if depth == DEEPEST:
        raise ValueError("values nest at most 32 deep")
    pairs = [it for pair in value.items() for it in pair] if isinstance(value, dict) else value
    items = [encode(it, depth + 1) for it in pairs]
    if isinstance(value, (set, frozenset)):
        items.sort()
    tag = 8 if isinstance(value, dict) else 6 if isinstance(value, (list, tuple)) else 7
    return bytes([tag]) + varint(len(value)) + b"".join(items)


def varint(number):
    text = bytearray()
    while number >= 0x80:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    text.append(number)
    return bytes(text)


def signed(number):
    return varint((number << 1 ^ number >> 63) % (1 << 64))


def string(text):
    data = text.encode()
    return varint(len(data)) + data
