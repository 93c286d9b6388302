"""Checks operations by key on Spark.

    spark-submit job.py OPERATIONS VERDICTS [SPEC]
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

VERDICTS = "key long, operations long, verdict string, reason string, report string, carried string"


def main(operations, verdicts, spec="register:initial=0"):
    def check(batches):
        import omnilink

        yield from omnilink.check(batches, spec)

    spark = SparkSession.builder.appName("omnilink").getOrCreate()
    # A Parquet file for each partition, whose rows are sorted; nulls of `end` last: operations without an end.
    rows = spark.read.parquet(operations).repartition("key")
    rows = rows.sortWithinPartitions("key", "start", f.col("end").asc_nulls_last())
    rows.mapInArrow(check, VERDICTS).write.mode("overwrite").parquet(verdicts)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
