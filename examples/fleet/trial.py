"""Runs a job on a cluster on this machine, kills a worker in the middle of it, and compares the verdicts.

    python3 trial.py spark|ray OPERATIONS [--kills COUNT] [--workers COUNT]

With no kill it runs the job once, and prints how long it took.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet

HERE = pathlib.Path(__file__).resolve().parent


def started(command, log, **extra):
    """A process in a group of its own, so that all it starts can be ended."""
    out = open(log, "ab")
    env = {**os.environ, **{name: str(value) for name, value in extra.items()}}
    return subprocess.Popen(command, stdout=out, stderr=out, env=env, start_new_session=True)


def ended(process, how=signal.SIGKILL):
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        pass
    process.wait()


def processes(*words):
    """The processes whose command line has all these words."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if entry.name.isdigit() and int(entry.name) != os.getpid() and all(word in line for word in words):
            found.append(int(entry.name))
    return sorted(found)


def wait_for(condition, seconds, what):
    for _ in range(int(seconds * 10)):
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit(f"waited {seconds} s for {what}")


class Spark:
    """A standalone cluster: a master and workers with one core each."""

    def __init__(self, scratch, workers):
        import pyspark

        self.home = pathlib.Path(pyspark.__file__).parent
        self.scratch = scratch
        self.env = {"SPARK_HOME": self.home, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        run = str(self.home / "bin" / "spark-class")
        master = [run, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "17077"]
        self.master = started([*master, "--webui-port", "18080"], scratch / "master.log", **self.env)
        wait_for(lambda: "New state: ALIVE" in (scratch / "master.log").read_text(), 60, "Spark's master")
        self.workers = [self.worker(number) for number in range(workers)]
        registered = lambda: (scratch / "master.log").read_text().count("Registering worker") >= workers
        wait_for(registered, 60, "Spark's workers")

    def worker(self, number):
        run = str(self.home / "bin" / "spark-class")
        command = [run, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1"]
        command += ["--memory", "1g", "--work-dir", str(self.scratch / f"work-{number}"), "spark://127.0.0.1:17077"]
        return started(command, self.scratch / f"worker-{number}.log", **self.env)

    def submit(self, operations, verdicts):
        command = [str(self.home / "bin" / "spark-submit"), "--master", "spark://127.0.0.1:17077"]
        command += ["--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.sql.adaptive.enabled=false"]
        command += [str(HERE / "spark" / "job.py"), str(operations), str(verdicts)]
        return started(command, self.scratch / "job.log", **self.env)

    def is_checking(self, verdicts):
        """True once a partition has been checked, while others have not."""
        return any(verdicts.glob("_temporary/**/part-*.parquet"))

    def kill(self):
        """The first worker, and its executor with the Python processes that check."""
        victim = self.workers[0]
        # The worker's process group has its executor, and the Python processes that check.
        executors = [p for p in processes("CoarseGrainedExecutorBackend") if os.getpgid(p) == victim.pid]
        if not executors:
            raise SystemExit("the worker to kill has no executor")
        ended(victim)
        self.workers[0] = self.worker(len(self.workers) + int(time.time()))
        return "a worker and its executor"

    def stop(self):
        for process in [*self.workers, self.master]:
            ended(process)


class Ray:
    """A head and a second node."""

    def __init__(self, scratch, workers):
        self.scratch = scratch
        self.run = str(pathlib.Path(sys.executable).parent / "ray")
        common = ["--num-cpus", "1", "--disable-usage-stats"]
        head = ["start", "--head", "--port", "6380", "--include-dashboard=false", "--temp-dir", str(scratch / "ray")]
        self.call([*head, *common])
        for _ in range(workers - 1):
            self.call(["start", "--address", "127.0.0.1:6380", *common])

    def call(self, arguments):
        with open(self.scratch / "ray.log", "ab") as out:
            subprocess.run([self.run, *arguments], check=True, stdout=out, stderr=out)

    def submit(self, operations, verdicts):
        command = [sys.executable, str(HERE / "ray" / "job.py"), str(operations), str(verdicts)]
        return started(command, self.scratch / "job.log", RAY_ADDRESS="127.0.0.1:6380")

    def is_checking(self, verdicts):
        return bool(self.checking())

    def checking(self):
        return sorted({*processes("ray::", "check"), *processes("ray::", "Reduce")})

    def kill(self):
        victim = self.checking()[0]
        os.kill(victim, signal.SIGKILL)
        return "a worker"

    def stop(self):
        self.call(["stop", "--force"])


ENGINES = {"spark": Spark, "ray": Ray}


def compare(verdicts, planted):
    """What is wrong with the verdicts, if anything."""
    table = pyarrow.parquet.read_table(verdicts, columns=["key", "operations", "verdict"]).to_pydict()
    rows = list(zip(table["key"], table["operations"], table["verdict"]))
    bad = sorted(key for key, _, verdict in rows if verdict == "rejected")
    others = sorted({verdict for _, _, verdict in rows} - {"accepted", "rejected"})
    found = {"keys": len(rows), "operations": sum(row[1] for row in rows), "bad": bad}
    problems = [f"{name}: {found[name]} instead of {planted[name]}" for name in found if found[name] != planted[name]]
    if len({key for key, _, _ in rows}) != len(rows):
        problems.append("a key has two verdicts")
    return problems + [f"a key is {other}" for other in others]


def trial(engine, asked, number):
    planted = json.loads((asked.operations / "_planted.json").read_text())
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="omnilink-trial-"))
    cluster = ENGINES[engine](scratch, asked.workers)
    verdicts = scratch / "verdicts"
    began = time.monotonic()
    try:
        job = cluster.submit(asked.operations.resolve(), verdicts)
        killed = "nothing"
        if asked.kills:
            wait_for(lambda: cluster.is_checking(verdicts) or job.poll() is not None, 600, "the check to begin")
            if job.poll() is not None:
                raise SystemExit(f"the job ended before anything could be killed; see {scratch}/job.log")
            killed = cluster.kill()
        if job.wait(900) != 0:
            raise SystemExit(f"the job failed; see {scratch}/job.log")
        problems = compare(verdicts, planted)
    finally:
        cluster.stop()
    if problems:
        raise SystemExit(f"trial {number}: {'; '.join(problems)}")
    print(f"trial {number}: killed {killed}; right after {time.monotonic() - began:.1f} s", flush=True)
    shutil.rmtree(scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=sorted(ENGINES))
    parser.add_argument("operations", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for number in range(1, max(asked.kills, 1) + 1):
        trial(asked.engine, asked, number)


if __name__ == "__main__":
    main()
