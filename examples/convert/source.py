"""Reads JSON so that every error names its place, and writes operations as JSON Lines of OmniLink.

A script passes a function to `main`. It takes the bytes of the file that the command line names, or of standard input,
and returns the lines of the result. A file that cannot be read is an error, exit code 1, and nothing is written.
"""

import json
import re
import sys

# What may be left of a text that ends inside a value.
BEGUN = re.compile(r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\.|[eE][-+]?")
BLANK = re.compile(r"[ \t\n\r]*")


class Problem(Exception):
    """Why a file cannot be converted."""


class Node:
    """A value with the line at which its document begins, the path to it, and the text of a line that is a document."""

    def __init__(self, value, line, path="", written=None):
        self.value, self.line, self.path, self.written = value, line, path, written

    def error(self, message):
        return Problem(f"line {self.line}: {self.path}{': ' if self.path else ''}{message}")

    def unexpected(self, expected):
        return self.error(f"expected {expected}, found {kind(self.value)}")

    def only(self, *known):
        """An error unless it is an object with only these keys: data below another key would be lost."""
        if not isinstance(self.value, dict):
            raise self.unexpected("an object")
        for key in self.value:
            if key not in known:
                raise self.error(f"unknown key `{key}`")

    def field(self, key):
        """A field of an object; `None` if it is missing or null."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        path = f"{self.path}.{key}" if self.path else key
        return None if value is None else Node(value, self.line, path)

    def required(self, key):
        field = self.field(key)
        if field is None:
            raise self.error(f"`{key}` is missing")
        return field

    def elements(self):
        if not isinstance(self.value, list):
            raise self.unexpected("an array")
        return [Node(value, self.line, f"{self.path}[{index}]") for index, value in enumerate(self.value)]

    def only_field(self):
        """The name and the value of the field of an object that has one."""
        if not isinstance(self.value, dict):
            raise self.unexpected("an object")
        if len(self.value) != 1:
            raise self.error("expected an object with one key")
        [(key, value)] = self.value.items()
        return key, Node(value, self.line, f"{self.path}.{key}")

    def text(self):
        if not isinstance(self.value, str):
            raise self.unexpected("a string")
        return self.value

    def flag(self):
        if not isinstance(self.value, bool):
            raise self.unexpected("a truth value")
        return self.value

    def integer(self):
        """An integer, as a number or as text."""
        if isinstance(self.value, str) and re.fullmatch(r"[+-]?[0-9]{1,39}", self.value):
            return int(self.value)
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.unexpected("an integer")
        return self.value

    def unsigned(self):
        """An integer of 64 bits that is not negative."""
        integer = self.integer()
        if not 0 <= integer < 1 << 64:
            raise self.error(f"{integer} is not an integer of 64 bits")
        return integer


class Clients:
    """The processes of numbered clients.

    A process runs one operation at a time, and an operation of unknown outcome is its last. A client that calls another
    operation before that continues as a new process, whose name has one more prime: after `3` comes `3'`.
    """

    def __init__(self):
        self.names, self.busy = {}, set()

    def call(self, client):
        """The process in which a client calls an operation. It is busy until `finish`."""
        name = self.names.get(client, str(client))
        self.names[client] = name + "'" if name in self.busy else name
        self.busy.add(self.names[client])
        return self.names[client]

    def finish(self, process):
        self.busy.discard(process)


def kind(value):
    """The kind of a value, for messages."""
    kinds = {bool: "a truth value", int: "an integer", float: "a number", str: "a string", list: "an array"}
    return kinds.get(type(value), "null" if value is None else "an object")


def pairs_of(pairs):
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key `{next(key for key in keys if keys.count(key) > 1)}` occurs twice")
    return fields


def refuse(word):
    raise ValueError(f"expected a value, found `{word}`")


def number(text):
    """A number that is whole is an integer, in whichever notation."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


DECODER = json.JSONDecoder(object_pairs_hook=pairs_of, parse_constant=refuse, parse_float=number)


def decode(text, at):
    """The value that begins at a place of a text, and the place behind it."""
    try:
        return DECODER.raw_decode(text, at)
    except RecursionError:
        raise ValueError("a value is nested too deep") from None


def explain(error):
    if isinstance(error, json.JSONDecodeError):
        return f"column {error.colno}: {error.msg[0].lower()}{error.msg[1:]}"
    return str(error)


def is_torn(text, error):
    """True if a text that cannot be read may only lack its end."""
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if not isinstance(error, json.JSONDecodeError):
        return False
    rest = text[error.pos :].strip()
    is_begun = error.msg.startswith("Expecting") and BEGUN.fullmatch(rest) is not None
    return is_begun or error.msg.startswith("Unterminated")


def read_lines(data):
    """The documents of a file that has one in each line, and the number and text of the last line if it breaks off."""
    nodes, lines = [], data.split(b"\n")
    for place, line in enumerate(lines, 1):
        text = line.decode(errors="replace").strip(" \t\r\f")
        if not text or text.startswith(("//", "#")):
            continue
        try:
            line.decode()
            value, end = decode(text, 0)
            if end < len(text):
                raise ValueError(f"expected the end of the line, found `{text[end:].strip()[0]}`")
            nodes.append(Node(value, place, written=text))
        except ValueError as error:
            if place == len(lines) and is_torn(text, error):
                return nodes, (place, text)
            raise Problem(f"line {place}: {explain(error)}") from None
    return nodes, None


def read_documents(data):
    """The documents of a file that follow each other, and the line and text of the last one if it breaks off."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Problem(f"byte {error.start}: a byte that is not UTF-8") from None
    nodes, at, line, counted = [], 0, 1, 0
    while True:
        at = BLANK.match(text, at).end()
        line, counted = line + text.count("\n", counted, at), at
        if at == len(text):
            return nodes, None
        try:
            value, end = decode(text, at)
        except ValueError as error:
            if is_torn(text, error):
                return nodes, (line, text[at:])
            raise Problem(f"line {getattr(error, 'lineno', line)}: {explain(error)}") from None
        nodes.append(Node(value, line))
        at = end


def operation(process, action, args, start):
    """An operation of unknown outcome as an object of JSON Lines; `args` is a dictionary."""
    line = {"process": process, "action": action, "args": args, "start": start}
    return {key: value for key, value in line.items() if value != {}}


def torn_line(text):
    """A text that breaks off, as a last line that breaks off: `omnilink` reports it as a loss."""
    return " ".join(text.split())


def written(lines):
    return "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)


def note(message):
    print(f"note: {message}", file=sys.stderr)


def main(convert):
    """Writes the lines to which a function converts the input: objects, or text with its line break."""
    try:
        if len(sys.argv) > 2:
            raise Problem(f"expected at most one file: `cat FILE ... | {sys.argv[0]}` joins several")
        with open(sys.argv[1], "rb") if len(sys.argv) == 2 else sys.stdin.buffer as file:
            lines = convert(file.read())
    except (OSError, Problem) as error:
        sys.exit(f"error: {error}")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(written(lines))
