# A store whose reader keeps what it has read in a cache.
from omnilink_recorder import Recorder

store, cache = {}, {}
with Recorder("trace.jsonl") as recorder:
    writer, reader = recorder.process("writer"), recorder.process("reader")
    for value in (1, 2):
        with writer.operation("write", key="x", value=value) as op:
            store["x"] = value
            op.returns()
        with reader.operation("read", key="x") as op:
            op.returns(value=cache.setdefault("x", store["x"]))
