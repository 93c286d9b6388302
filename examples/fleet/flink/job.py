"""Checks operations by key on Flink, window by window, as they come.

    flink run -py job.py OPERATIONS VERDICTS [--spec SPEC] [--window TIME] [--delay TIME]

The state of a key is what its last check carried, and its operations since. A timer at the end of each window checks
the operations that started before. Both are in Flink's checkpoints: a restored job goes on with the same states.
"""

import argparse
import json
import pathlib

from pyflink.common import Duration, Encoder, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CheckpointingMode, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

TEXTS = ["key", "process", "action", "arguments", "results", "outcome", "carried"]
TIMES = ["start", "end"]


class Start(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Check(KeyedProcessFunction):
    """Checks the operations of a key up to the end of each window that has some."""

    def __init__(self, spec, window):
        self.spec = spec
        self.window = window

    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.STRING()))
        self.carried = runtime_context.get_state(ValueStateDescriptor("carried", Types.STRING()))
        self.ended = runtime_context.get_state(ValueStateDescriptor("ended", Types.STRING()))

    def process_element(self, value, ctx):
        _, start, line = value
        self.waiting.add(line)
        cut = (start // self.window + 1) * self.window
        ctx.timer_service().register_event_time_timer(cut - 1)

    def on_timer(self, timestamp, ctx):
        cut = timestamp + 1
        waiting = [json.loads(line) for line in self.waiting.get()]
        due = [operation for operation in waiting if operation["start"] < cut]
        if not due:
            return
        self.waiting.update([json.dumps(operation) for operation in waiting if operation["start"] >= cut])
        key = ctx.get_current_key()
        yield json.dumps({**self.check(key, due, cut), "key": json.loads(key), "cut": cut})

    def check(self, key, operations, cut):
        """The verdict. A key is not checked again once it is not accepted: its states are unknown from then on."""
        import omnilink

        ended = self.ended.value()
        if ended is not None:
            reason = f"an earlier window of this key is not accepted: {ended}"
            return {"operations": len(operations), "verdict": "inconclusive", "reason": reason, "report": None}
        batch = sorted_batch(key, operations, self.carried.value())
        (found,) = omnilink.check([batch], self.spec, cut=cut)[0].to_pylist()
        carried = found.pop("carried")
        if carried is None:
            self.ended.update(found["verdict"])
            self.carried.clear()
        else:
            self.carried.update(carried)
        return found


def sorted_batch(key, operations, carried):
    """The operations of a key by start and end, after what an earlier check carried."""
    import pyarrow

    operations.sort(key=lambda row: (row["start"], row.get("end") is None, row.get("end") or 0))
    rows = [{**operation, "key": key} for operation in operations]
    for row in rows:
        row.update({name: json.dumps(row[name]) for name in ("arguments", "results") if row.get(name) is not None})
    if carried is not None:
        rows.insert(0, {"key": key, "carried": carried})
    columns = {name: pyarrow.array([row.get(name) for row in rows], pyarrow.string()) for name in TEXTS}
    columns.update({name: pyarrow.array([row.get(name) for row in rows], pyarrow.int64()) for name in TIMES})
    return pyarrow.RecordBatch.from_pydict(columns)


def keyed(line):
    operation = json.loads(line)
    return json.dumps(operation["key"]), operation["start"], line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("operations", type=pathlib.Path)
    parser.add_argument("verdicts", type=pathlib.Path)
    parser.add_argument("--spec", default="register:initial=0")
    parser.add_argument("--window", type=int, default=1000)
    parser.add_argument("--delay", type=int, default=200, help="how far behind the latest start an operation may come")
    asked = parser.parse_args()

    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(3000, CheckpointingMode.EXACTLY_ONCE)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(asked.operations.resolve()))
    watermarks = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(asked.delay))
    sink = FileSink.for_row_format(str(asked.verdicts.resolve()), Encoder.simple_string_encoder())
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    sink = sink.with_output_file_config(OutputFileConfig("part", ".jsonl"))
    (
        env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "operations")
        .set_parallelism(1)
        .map(keyed, Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]))
        .set_parallelism(1)
        .assign_timestamps_and_watermarks(watermarks.with_timestamp_assigner(Start()))
        .set_parallelism(1)
        .key_by(lambda value: value[0], Types.STRING())
        .process(Check(asked.spec, asked.window), Types.STRING())
        .name("check")
        .sink_to(sink.build())
    )
    env.execute("omnilink")


if __name__ == "__main__":
    main()
