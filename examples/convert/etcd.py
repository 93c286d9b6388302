#!/usr/bin/env python3
"""Converts reports of etcd's robustness tests: the operations of clients, as `client-N/operations.json` holds them.

Such a file is a sequence of JSON objects, each an operation of Porcupine (`ClientId`, `Input`, `Call`, `Output`,
`Return`) whose input is a request and whose output is a response or an error. Times are nanoseconds of one clock,
and numbers of clients differ between files, so the files of a report can be joined into one.

| request | operation |
|---|---|
| `range` of one key | `get(key) = value, mod_revision, version` |
| any other `range` | `range(start, end, limit, keys_only, at) = kvs, count` |
| `txn` that only puts one key | `put(key, value)`, or `put_with_lease(key, value, lease)` |
| `txn` that only deletes one key | `delete(key) = ok` |
| `txn` that only gets one key or range | `get` or `range` |
| any other `txn` | `txn(conditions, success, failure) = ok, results` |
| `leaseGrant`, `leaseRevoke` | `lease_grant(lease)`, `lease_revoke(lease)` |
| `compact` | `compact(at) = ok`, with `error` if it was refused |
| `defragment` | `defragment()` |

The revision of a response is the note `revision`, and its member is the note `member`. A key that does not exist
has the value `nil`, and 0 as version and revision. A value of 20 bytes or more is an integer, its hash, because
etcd records no more of it.

An error leaves the outcome unknown, unless the request only reads: then it failed, which is known to have had no
effect. The message is the note `error`. Unknown requests, responses and keys are errors.
"""

import source

# The shortest value of which etcd records a hash.
SHORTEST_HASHED = 20
RESULT_KEYS = ("KVs", "Count", "Deleted")
RESPONSE_KEYS = (
    *("Txn", "Range", "LeaseGrant", "LeaseRevoke", "Defragment", "Compact", "ClientError", "Revision", "member-id"),
    *("Persisted", "PersistedRevision", "Error"),
)


# A field, or the zero value of its type, as in Go.


def integer(node, key):
    field = node.field(key)
    return field.integer() if field else 0


def text(node, key):
    field = node.field(key)
    return field.text() if field else ""


def flag(node, key):
    field = node.field(key)
    return field.flag() if field else False


def elements(node, key):
    field = node.field(key)
    return field.elements() if field else []


def fnv(text):
    """FNV-1a with 32 bits, the hash that etcd records."""
    value = 0x811C9DC5
    for byte in text.encode(errors="surrogatepass"):
        value = (value ^ byte) * 0x01000193 % (1 << 32)
    return value


def value_or_hash(node):
    """The field `Value` of a node: a string, or an integer that is the hash of a long one."""
    value = node.field("Value")
    if value is None:
        return ""
    value.only("Value", "Hash")
    whole, its_hash = text(value, "Value"), integer(value, "Hash")
    if its_hash == 0:
        # Puts in transactions hold whole values, and the responses to reads hold their hashes.
        return fnv(whole) if len(whole.encode(errors="surrogatepass")) >= SHORTEST_HASHED else whole
    if whole:
        raise value.error("expected a value or a hash, found both")
    return its_hash


class Range:
    """The keys from `start` up to but not including `end`, or `start` alone if `end` is empty."""

    is_read = True

    def __init__(self, node, *others):
        """Only a request of its own, and no step of a transaction, has `Revision`: it may read at an earlier one."""
        node.only("Start", "End", "Limit", "KeysOnly", *others)
        self.start, self.end = text(node, "Start"), text(node, "End")
        self.limit, self.keys_only, self.at = integer(node, "Limit"), flag(node, "KeysOnly"), integer(node, "Revision")
        # It reads the latest value of one key.
        self.is_get = not (self.end or self.limit or self.keys_only or self.at)

    def call(self):
        if self.is_get:
            return "get", {"key": self.start}
        limits = {"limit": self.limit, "keys_only": self.keys_only, "at": self.at}
        return "range", {"start": self.start, "end": self.end} | limits

    def results(self, node, keys=RESULT_KEYS):
        node.only(*keys)
        pairs = [self.pair(each) for each in elements(node, "KVs")]
        count = integer(node, "Count")
        if not self.is_get:
            return {"kvs": pairs, "count": count}
        if not pairs and count == 0:
            return {"value": None, "mod_revision": 0, "version": 0}
        if len(pairs) != 1 or count != 1 or pairs[0].pop("key") != self.start:
            raise node.error(f"expected at most the key `{self.start}`")
        return pairs[0]

    def pair(self, node):
        """A key with its value, `KeyValue` in etcd."""
        node.only("Key", "Value", "ModRevision", "Version")
        value = {} if self.keys_only else {"value": value_or_hash(node)}
        revisions = {"mod_revision": integer(node, "ModRevision"), "version": integer(node, "Version")}
        return {"key": text(node, "Key")} | value | revisions

    def result(self, node):
        return self.results(node)


class Put:
    is_read = False

    def __init__(self, node):
        node.only("Key", "Value", "LeaseID")
        self.args = {"key": text(node, "Key"), "value": value_or_hash(node)}
        self.lease = integer(node, "LeaseID")

    def call(self):
        if self.lease:
            return "put_with_lease", self.args | {"lease": self.lease}
        return "put", self.args

    def results(self, node):
        node.only(*RESULT_KEYS)
        return {}

    def result(self, node):
        self.results(node)
        return True


class Delete:
    is_read = False

    def __init__(self, node):
        node.only("Key")
        self.key = text(node, "Key")

    def call(self):
        return "delete", {"key": self.key}

    def results(self, node):
        node.only(*RESULT_KEYS)
        count = integer(node, "Deleted")
        if count not in (0, 1):
            raise node.error(f"expected at most 1 deleted key, found {count}")
        return {"ok": count == 1}

    def result(self, node):
        return self.results(node)["ok"]


def read_step(node):
    """One step of a transaction, `EtcdOperation` in etcd."""
    node.only("Type", "Range", "Put", "Delete")
    kind = node.required("Type")
    steps = {"range-operation": (Range, "Range"), "put-operation": (Put, "Put"), "delete-operation": (Delete, "Delete")}
    if kind.text() not in steps:
        raise kind.error(f"unsupported operation `{kind.value}`")
    step, key = steps[kind.value]
    return step(node.required(key))


def read_condition(node):
    """A comparison of a key's version, or of the revision of its last change."""
    node.only("Key", "ExpectedRevision", "ExpectedVersion")
    revision, version = integer(node, "ExpectedRevision"), integer(node, "ExpectedVersion")
    if revision and version:
        raise node.error("expected a revision or a version, found both")
    return {"key": text(node, "Key")} | ({"version": version} if version else {"mod_revision": revision})


class Txn:
    def __init__(self, node):
        node.only("Conditions", "OperationsOnSuccess", "OperationsOnFailure")
        self.conditions = [read_condition(each) for each in elements(node, "Conditions")]
        self.success = [read_step(each) for each in elements(node, "OperationsOnSuccess")]
        self.failure = [read_step(each) for each in elements(node, "OperationsOnFailure")]
        self.is_read = all(step.is_read for step in self.success + self.failure)
        # The only step, if it depends on nothing.
        is_single = len(self.success) == 1 and not self.conditions and not self.failure
        self.single = self.success[0] if is_single else None

    def call(self):
        if self.single:
            return self.single.call()

        def records(steps):
            return [{"op": action} | args for action, args in (step.call() for step in steps)]

        branches = {"success": records(self.success), "failure": records(self.failure)}
        return "txn", {"conditions": self.conditions} | branches

    def results(self, node):
        node.only("Failure", "Results")
        has_failed = flag(node, "Failure")
        steps = self.failure if has_failed else self.success
        found = elements(node, "Results")
        if len(found) != len(steps):
            raise node.error(f"number of results: expected {len(steps)}, found {len(found)}")
        if self.single and has_failed:
            raise node.error("a transaction without conditions failed")
        if self.single:
            return self.single.results(found[0])
        return {"ok": not has_failed, "results": [step.result(each) for step, each in zip(steps, found)]}


class Simple:
    """A request that changes one thing and returns nothing: an action, and the field that is its argument."""

    is_read = False
    KINDS = {
        "leaseGrant": ("LeaseGrant", "lease_grant", {"lease": "LeaseID"}, ("LeaseID",)),
        "leaseRevoke": ("LeaseRevoke", "lease_revoke", {"lease": "LeaseID"}, ()),
        "compact": ("Compact", "compact", {"at": "Revision"}, ()),
        "defragment": ("Defragment", "defragment", {}, ()),
    }

    def __init__(self, kind, node):
        self.field, self.action, names, self.result_keys = Simple.KINDS[kind]
        request = node.required(self.field)
        request.only(*names.values())
        self.args = {name: integer(request, key) for name, key in names.items()}

    def call(self):
        return self.action, self.args

    def results(self, node):
        node.only(*self.result_keys)
        return {"ok": True} if self.action == "compact" else {}


def read_request(node):
    """A request, `EtcdRequest` in etcd, and the field of the response that has its results."""
    node.only("Type", "LeaseGrant", "LeaseRevoke", "Range", "Txn", "Defragment", "Compact")
    kind = node.required("Type")
    if kind.text() == "range":
        return Range(node.required("Range"), "Revision"), "Range"
    if kind.value == "txn":
        return Txn(node.required("Txn")), "Txn"
    if kind.value in Simple.KINDS:
        return Simple(kind.value, node), Simple.KINDS[kind.value][0]
    raise kind.error(f"unsupported request `{kind.value}`")


def read_response(request, field, node):
    """What a response, `MaybeEtcdResponse` in etcd, adds to the operation; without `end` if its outcome is unknown."""
    node.only(*RESPONSE_KEYS)
    # The tests infer such responses from other files while they check; no client has seen one.
    if flag(node, "Persisted") or integer(node, "PersistedRevision"):
        raise node.error("unsupported response `Persisted`")
    error = text(node, "Error")
    if error:
        return ({"failed": True, "end": None} if request.is_read else {}) | {"meta": {"error": error}}
    # A compaction has no revision, which is written as -1.
    revision, member, refusal = integer(node, "Revision"), text(node, "member-id"), text(node, "ClientError")
    notes = ({"revision": revision} if revision > 0 else {}) | ({"member": member} if member else {})
    if not refusal:
        single = {"keys": ("KVs", "Count")} if isinstance(request, Range) else {}
        results = request.results(node.required(field), **single)
    elif field == "Compact":
        results = {"ok": False, "error": refusal}
    else:
        raise node.error(f"unsupported `ClientError` `{refusal}`")
    return ({"results": results} if results else {}) | {"end": None} | ({"meta": notes} if notes else {})


def convert(data):
    nodes, torn = source.read_documents(data)
    clients, lines = source.Clients(), []
    for node in nodes:
        node.only("ClientId", "Input", "Call", "Output", "Return", "Metadata")
        client = node.required("ClientId").unsigned()
        start, end = node.required("Call").unsigned(), node.required("Return").unsigned()
        request, field = read_request(node.required("Input"))
        response = read_response(request, field, node.required("Output"))
        action, args = request.call()
        line = source.operation(clients.call(client), action, args, start) | response
        if "end" in line:
            line["end"] = end
            clients.finish(line["process"])
        lines.append(line)
    if torn:
        # Clients follow each other, so operations of any time may be missing.
        source.note(f"the text ends inside the operation that begins in line {torn[0]}")
        lines.append(source.torn_line(torn[1]))
    return lines


if __name__ == "__main__":
    source.main(convert)
