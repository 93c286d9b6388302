"""Runs a job on a cluster on this machine, kills a worker in the middle of it, and compares the verdicts.

    python3 trial.py flink|ray|spark OPERATIONS [--kills COUNT] [--workers COUNT]

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
from collections import Counter, defaultdict

import pyarrow
import pyarrow.dataset

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

    format = "parquet"

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


class Flink:
    """A job manager, and task managers with one slot each: one more than are needed."""

    format = "json"

    def __init__(self, scratch, workers):
        import pyflink

        self.home = pathlib.Path(pyflink.__file__).parent
        self.scratch = scratch
        directories = {name: scratch / name.lower() for name in ("CONF", "LOG", "PID")}
        shutil.copytree(self.home / "conf", directories["CONF"])
        directories["LOG"].mkdir()
        directories["PID"].mkdir()
        (directories["CONF"] / "config.yaml").write_text(self.settings(workers))
        self.env = {f"FLINK_{name}_DIR": path for name, path in directories.items()}
        self.manager = self.start("jobmanager", scratch / "manager.log")
        self.workers = [self.start("taskmanager", scratch / f"worker-{n}.log") for n in range(workers + 1)]
        registered = lambda: (scratch / "manager.log").read_text().count("Registering TaskManager") > workers
        wait_for(registered, 120, "Flink's task managers")

    def settings(self, workers):
        import yaml

        stock = yaml.safe_load((self.home / "conf" / "config.yaml").read_text())
        return yaml.safe_dump(
            {
                "env.java.opts.all": stock["env"]["java"]["opts"]["all"],
                "jobmanager.rpc.address": "127.0.0.1",
                "jobmanager.rpc.port": 16123,
                "jobmanager.memory.process.size": "1200m",
                "taskmanager.host": "127.0.0.1",
                "taskmanager.memory.process.size": "1500m",
                "taskmanager.numberOfTaskSlots": 1,
                "rest.address": "127.0.0.1",
                "rest.port": 18081,
                "heartbeat.interval": "2 s",
                "heartbeat.timeout": "20 s",
                "restart-strategy.type": "fixed-delay",
                "restart-strategy.fixed-delay.attempts": 5,
                "restart-strategy.fixed-delay.delay": "1 s",
                "parallelism.default": workers,
                "python.executable": sys.executable,
                "python.client.executable": sys.executable,
                "execution.checkpointing.dir": (self.scratch / "checkpoints").as_uri(),
            },
            width=10_000,
        )

    def start(self, what, log):
        return started(["bash", str(self.home / "bin" / f"{what}.sh"), "start-foreground"], log, **self.env)

    def submit(self, operations, verdicts):
        command = [str(self.home / "bin" / "flink"), "run", "-py", str(HERE / "flink" / "job.py")]
        command += [str(operations / "operations.jsonl"), str(verdicts)]
        return started(command, self.scratch / "job.log", **self.env)

    def is_checking(self, verdicts):
        """True once a checkpoint has published verdicts."""
        return any(verdicts.glob("part-*"))

    def kill(self):
        """A task manager that has a task, and its Python process, which would outlive it."""
        busy = {os.getpgid(process) for process in processes("pyflink", "beam_boot")}
        victim = next((worker for worker in self.workers if worker.pid in busy), None)
        if victim is None:
            raise SystemExit("no task manager has a task")
        ended(victim)
        restored = lambda: "from Checkpoint" in (self.scratch / "manager.log").read_text()
        wait_for(restored, 120, "Flink to restore a checkpoint")
        return "a task manager"

    def stop(self):
        for process in [*self.workers, self.manager]:
            ended(process)


class Ray:
    """A head and a second node."""

    format = "parquet"

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


ENGINES = {"flink": Flink, "ray": Ray, "spark": Spark}


def compare(verdicts, form, planted):
    """What is wrong with the verdicts, if anything. A key may have several, about one window each."""
    columns = [(name, pyarrow.int64()) for name in ("key", "cut", "operations")] + [("verdict", pyarrow.string())]
    table = pyarrow.dataset.dataset(verdicts, pyarrow.schema(columns), form).to_table()
    counts, words, windows = Counter(), defaultdict(set), Counter()
    for row in table.to_pylist():
        counts[row["key"]] += row["operations"]
        words[row["key"]].add(row["verdict"])
        windows[row["key"], row["cut"]] += 1
    bad = [key for key in sorted(words) if "rejected" in words[key]]
    found = {"keys": len(words), "operations": counts.total(), "bad": bad}
    problems = [f"{name}: {found[name]} instead of {planted[name]}" for name in found if found[name] != planted[name]]
    expected = {key: len(range(key, planted["operations"], planted["keys"])) for key in range(planted["keys"])}
    if counts != expected:
        problems.append("a key lacks operations, or has some twice")
    if max(windows.values(), default=0) > 1:
        problems.append("a key has two verdicts about one window")
    others = {word for key in words if key not in bad for word in words[key]} - {"accepted"}
    return problems + [f"a key is {other}" for other in sorted(others)]


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
        problems = compare(verdicts, cluster.format, planted)
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
