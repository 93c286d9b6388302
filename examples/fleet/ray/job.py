"""Checks operations by key on Ray.

    python3 job.py OPERATIONS VERDICTS [SPEC]
"""

import sys

import ray


def main(operations, verdicts, spec="register:initial=0"):
    def check(table):
        import omnilink

        return omnilink.check_keys(table, spec)

    ray.init(address="auto")
    rows = ray.data.read_parquet(operations, file_extensions=["parquet"])
    # A block has all operations of its keys; the check sorts them.
    keyed = rows.repartition(8, keys=["key"])
    keyed.map_batches(check, batch_size=None, batch_format="pyarrow").write_parquet(verdicts)
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
