"""Writes operations of registers as Parquet files or as lines of JSON, with a wrong read in some keys."""

import argparse
import json
import pathlib
import random

import pyarrow
import pyarrow.parquet

SCHEMA = pyarrow.schema(
    [
        ("process", pyarrow.string()),
        ("key", pyarrow.int64()),
        ("action", pyarrow.string()),
        ("arguments", pyarrow.struct([("value", pyarrow.int64())])),
        ("results", pyarrow.struct([("value", pyarrow.int64())])),
        ("start", pyarrow.int64()),
        ("end", pyarrow.int64()),
    ]
)


def rows(operations, keys, bad):
    """Operations by time, with all keys mixed: each takes effect at a time between its start and its end."""
    draw = random.Random(1)
    values = [0] * keys
    planted = set(draw.sample(range(keys), bad))
    waiting = set(planted)
    for number in range(operations):
        turn, key = divmod(number, keys)
        at = 1000 + turn * 100
        start, end = at - draw.randrange(150), at + draw.randrange(150)
        process = f"client-{(turn + key) % 16}"
        if draw.random() < 0.4:
            values[key] = turn + 1
            yield process, key, "write", {"value": values[key]}, None, start, end
        else:
            seen = values[key]
            if key in waiting and turn * keys > operations // 2:
                waiting.remove(key)
                seen = -1
            yield process, key, "read", None, {"value": seen}, start, end
    if waiting:
        raise SystemExit("too few operations to plant every wrong read")


def write_parquet(directory, all_rows, files):
    size = -(-len(all_rows) // files)
    for number in range(files):
        part = all_rows[number * size : (number + 1) * size]
        columns = [pyarrow.array(column, field.type) for column, field in zip(zip(*part), SCHEMA)]
        table = pyarrow.Table.from_arrays(columns, schema=SCHEMA)
        pyarrow.parquet.write_table(table, directory / f"part-{number}.parquet")


def write_lines(directory, all_rows):
    """One file, because a stream is read in the order of its lines."""
    with open(directory / "operations.jsonl", "w") as out:
        for row in all_rows:
            out.write(json.dumps(dict(zip(SCHEMA.names, row))) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--operations", type=int, default=400_000)
    parser.add_argument("--keys", type=int, default=4_000)
    parser.add_argument("--bad", type=int, default=5)
    parser.add_argument("--files", type=int, default=4, help="the number of Parquet files")
    parser.add_argument("--format", choices=["parquet", "jsonl"], default="parquet")
    asked = parser.parse_args()
    asked.directory.mkdir(parents=True, exist_ok=True)
    all_rows = list(rows(asked.operations, asked.keys, asked.bad))
    if asked.format == "parquet":
        write_parquet(asked.directory, all_rows, asked.files)
    else:
        write_lines(asked.directory, all_rows)
    bad = sorted({row[1] for row in all_rows if row[4] == {"value": -1}})
    planted = {"keys": asked.keys, "operations": asked.operations, "bad": bad}
    (asked.directory / "_planted.json").write_text(json.dumps(planted) + "\n")


main()
