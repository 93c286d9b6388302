"""Checks whether a specification allows what a system did: one verdict for each key.

`check` maps record batches of operations, sorted by key, start and end, to record batches of verdicts. It is a pure
function, so an engine may call it wherever it likes and as often as it likes. FORMAT.md specifies the columns.
"""

import functools

import pyarrow
import pyarrow.compute

from ._omnilink import Checker, __version__

__all__ = ["Checker", "__version__", "check", "check_keys", "verdicts"]


def verdicts(key=pyarrow.string()):
    """The schema of verdicts for keys of this type."""
    return pyarrow.schema(
        [
            ("key", key),
            pyarrow.field("operations", pyarrow.int64(), nullable=False),
            pyarrow.field("verdict", pyarrow.string(), nullable=False),
            ("reason", pyarrow.string()),
            ("report", pyarrow.string()),
            ("carried", pyarrow.string()),
        ]
    )


@functools.lru_cache(maxsize=16)
def _checker(spec, options):
    options = dict(options)
    if options.get("files") is not None:
        options["files"] = dict(options["files"])
    return Checker(spec, **options)


def _prepared(spec, options):
    """The checker with these options: a worker makes it once, however many partitions it checks."""
    files = options.get("files")
    if files is not None:
        options = {**options, "files": tuple(sorted(files.items()))}
    return _checker(spec, tuple(sorted(options.items())))


def check(batches, spec, **options):
    """The verdicts about sorted record batches. The options are those of `Checker`."""
    return _prepared(spec, options)(batches)


def check_keys(table, spec, **options):
    """The verdicts about a table of whole keys in any order, as a table."""
    by = options.get("by", "key")
    order = [(name, "ascending") for name in (by, "start", "end") if name in table.column_names]
    # Nulls come last, which is right for ends; what is carried has no start, and must come first.
    if "carried" in table.column_names:
        first = pyarrow.compute.is_null(table["start"])
        table = table.append_column("__first", pyarrow.compute.cast(pyarrow.compute.invert(first), "int8"))
        order = [(by, "ascending"), ("__first", "ascending"), *order[1:]]
    batches = check(table.sort_by(order).to_batches(), spec, **options)
    return pyarrow.Table.from_batches(batches) if batches else verdicts(table.schema.field(by).type).empty_table()
