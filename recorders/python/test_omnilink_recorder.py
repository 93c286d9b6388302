"""Tests of the recorder for Python. They need the command `omnilink`, in PATH or named by the variable OMNILINK."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import omnilink_recorder
import script
from omnilink_recorder import Recorder

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / "tests/golden/recorder"
OMNILINK = os.environ.get("OMNILINK", "omnilink")


def omnilink(*arguments):
    return subprocess.run([OMNILINK, *map(str, arguments)], capture_output=True, text=True, check=False)


def text_of(trace):
    done = omnilink("convert", trace, "--to", "text")
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def operations(self, path):
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
        return [line for line in lines if "progress" not in line]


class Golden(Case):
    def test_segments_have_the_same_bytes_as_those_of_other_recorders(self):
        scripts = sorted(GOLDEN.glob("*.script"))
        self.assertGreaterEqual(len(scripts), 13)
        for path in scripts:
            with self.subTest(path.stem):
                trace = self.directory / path.stem
                script.run(path.read_text(), trace)
                found = {it.name: it.read_bytes().hex() for it in trace.glob("*.seg")}
                self.assertEqual(found, {it.name: it.read_bytes().hex() for it in path.with_suffix("").glob("*.seg")})

    def test_json_lines_hold_the_same_operations(self):
        for path in sorted(GOLDEN.glob("*.script")):
            with self.subTest(path.stem):
                trace = self.directory / f"{path.stem}.jsonl"
                script.run(path.read_text(), trace)
                found = text_of(trace).splitlines()
                self.assertEqual(sorted(found), sorted(path.with_suffix(".txt").read_text().splitlines()))


class Outcomes(Case):
    def test_an_exception_leaves_the_outcome_unknown_and_the_client_continues_as_another_process(self):
        for name in ("trace", "trace.jsonl"):
            with Recorder(self.directory / name, clock=iter(range(100)).__next__) as recorder:
                client = recorder.process("c1")
                with self.assertRaises(TimeoutError), client.operation("write", value=1):
                    raise TimeoutError
                with client.operation("write", value=2) as op:
                    op.failed()
                with client.operation("read") as op:
                    op.returns(1)
            lines = text_of(self.directory / name).splitlines()
            self.assertEqual(sorted(lines), ["c1 [0 ...] write(value: 1)", "c1+1 [1 2] write(value: 2) failed",
                                             "c1+1 [3 4] read() = 1"])

    def test_results_that_were_not_declared(self):
        with Recorder(self.directory / "trace", clock=iter(range(100)).__next__) as recorder:
            client = recorder.process("c1")
            for value in range(2):
                with client.operation("read", key=1) as op:
                    op.returns(value=value)
        self.assertEqual(text_of(self.directory / "trace"),
                         "c1 [0 1] read(key: 1) = value: 0\nc1 [2 3] read(key: 1) = value: 1\n")

    def test_misuse_is_an_error(self):
        for name in ("trace", "trace.jsonl"):
            with Recorder(self.directory / name) as recorder:
                client = recorder.process("c1")
                with self.assertRaisesRegex(ValueError, "`c1` already exists"):
                    recorder.process("c1")
                with self.assertRaisesRegex(TypeError, "by place or by name"):
                    client.operation("put", 1, value=2)
                for value in (b"bytes", float("nan"), float("inf"), object(), "\ud800", eval("[" * 33 + "]" * 33)):
                    with self.assertRaises((TypeError, ValueError), msg=repr(value)):
                        client.operation("put", value)
                op = client.operation("put", 1)
                with self.assertRaisesRegex(RuntimeError, "one is open"):
                    client.operation("put", 2)
                op.returns()
                with self.assertRaisesRegex(RuntimeError, "already has an outcome"):
                    op.failed()
            with self.assertRaises(FileExistsError):
                Recorder(self.directory / name)
            self.assertEqual(len(text_of(self.directory / name).splitlines()), 1)
        self.assertEqual([it["seq"] for it in self.operations(self.directory / "trace.jsonl")], [0])


class Lines(Case):
    def test_an_outcome_that_does_not_fit_moves_its_line(self):
        path = self.directory / "trace.jsonl"
        with Recorder(path) as recorder:
            client = recorder.process("c1")
            with client.operation("read") as op:
                op.returns("x" * 5000)
            with client.operation("read") as op:
                op.returns({1: {"a", "b"}, 2: {"k": [None, 1.5]}})
            with client.operation("read") as op:
                op.returns("y" * 500)
        self.assertEqual([line[0] for line in path.read_text().splitlines() if line], ["#", "{", "{", "{", "{"])
        self.assertEqual([it["results"] for it in self.operations(path)][:2],
                         [["x" * 5000], [{"#fun": [[1, {"#set": ["a", "b"]}], [2, {"k": [None, 1.5]}]]}]])
        self.assertEqual(len(text_of(path).splitlines()), 3)

    def test_lines_stay_within_pages_and_threads_do_not_disturb_each_other(self):
        path = self.directory / "trace.jsonl"

        def work(client):
            for number in range(500):
                with client.operation("write", key="x", value=number) as op:
                    op.returns()

        with Recorder(path) as recorder:
            threads = [threading.Thread(target=work, args=[recorder.process(f"c{it}")]) for it in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        data = path.read_bytes()
        self.assertTrue(all(data[at - 1] == 10 for at in range(4096, len(data), 4096)))
        self.assertEqual(len(self.operations(path)), 2000)
        self.assertEqual(len(text_of(path).splitlines()), 2000)

    def test_missing_lines_are_named(self):
        path = self.directory / "trace.jsonl"
        with Recorder(path) as recorder:
            client = recorder.process("c1")
            for number in range(4):
                with client.operation("write", number) as op:
                    (op.unknown if number == 1 else op.returns)()
        lines = path.read_text().splitlines(keepends=True)
        run = [OMNILINK, "check", "--spec", "register", path]
        self.assertEqual(subprocess.run(run, capture_output=True, check=False).returncode, 0)
        path.write_text("".join(lines[1:]))
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("1 operation of c1 is missing before seq 1", done.stdout)
        # The number of operations at the end shows that the last ones are missing.
        end = next(place for place, line in enumerate(lines) if '"c1+1", "progress"' in line)
        path.write_text("".join(lines[:end - 1] + lines[end:]))
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        self.assertIn("1 operation of c1+1 is missing after seq 0", done.stdout)

    def test_appended_lines_never_change(self):
        path, seen = self.directory / "trace.jsonl", []
        with Recorder(path, clock=iter(range(100)).__next__, append=True) as recorder:
            client = recorder.process("c1")
            for number in range(3):
                with client.operation("write", value=number) as op:
                    seen.append(path.read_bytes())
                    op.meta("number", number)
                    (op.unknown if number == 1 else op.returns)()
                seen.append(path.read_bytes())
        seen.append(path.read_bytes())
        self.assertTrue(all(after.startswith(before) and before.endswith(b"\n") for before, after in zip(seen, seen[1:])))
        self.assertEqual(json.loads(seen[0]), {"process": "c1", "progress": 0, "operations": 0})
        self.assertEqual([it.get("outcome") for it in self.operations(path)], [None, "unknown", None])
        self.assertEqual(omnilink("check", "--spec", "register", path).returncode, 0)

    def test_a_file_is_monitored_while_it_is_written(self):
        path = self.directory / "trace.jsonl"
        with Recorder(path) as recorder:
            clients = [recorder.process(f"c{it}") for it in range(2)]
            arguments = [OMNILINK, "monitor", path, "--spec", "register", "--every", "10ms", "--lateness", "0s"]
            monitor = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for number in range(50):
                with clients[0].operation("write", key=number, value=1) as op:
                    time.sleep(0.002)
                    op.returns()
                with clients[1].operation("read", key=number) as op:
                    op.returns(value=None if number == 7 else 1)
        alert = json.loads(monitor.stdout.readline())
        time.sleep(0.2)
        monitor.send_signal(signal.SIGINT)
        out, errors = monitor.communicate()
        self.assertEqual((alert["kind"], alert["key"], out), ("violation", "7", ""))
        self.assertIn("of 100 operations checked, 50 keys, 1 violation", errors)


VICTIM = """
import sys
from omnilink_recorder import Recorder
client = Recorder(sys.argv[1]).process("c1")
for number in range(10**9):
    print(number, flush=True)
    with client.operation("write", value=number) as op:
        print(number, flush=True)
        op.returns(text="x" * (number % 40))
"""


class Transactions(Case):
    def record(self, level, act):
        path = self.directory / "txns.jsonl"
        with omnilink_recorder.Transactions(path) as recorder:
            act(recorder)
        return path, omnilink("check", "--isolation", level, path)

    def test_a_lost_update_is_found(self):
        def act(recorder):
            first, second = (recorder.session(name).transaction() for name in ("a", "b"))
            for txn, value in ((first, 1), (second, 2)):
                self.assertEqual(txn.read("x", None), None)
                txn.write("x", value)
            first.committed()
            second.committed()

        _, done = self.record("snapshot", act)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("lost update", done.stdout)

    def test_outcomes_follow_from_the_place_of_an_exception(self):
        def act(recorder):
            session = recorder.session("a")
            for is_committing in (False, True):
                with self.assertRaises(TimeoutError), session.transaction() as txn:
                    txn.append("l", int(is_committing))
                    if is_committing:
                        txn.committing()
                    raise TimeoutError
            with session.transaction() as txn:
                txn.read("l", [1])
                txn.committing()
                txn.committed()
                self.assertRaises(ValueError, txn.aborted)
            self.assertRaises(ValueError, recorder.session, "a")

        path, done = self.record("strict-serializable", act)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        self.assertEqual([line["status"] for line in lines], ["aborted", "unknown", "committed"])
        self.assertEqual([("end" in line) for line in lines], [True, False, True])

    def test_long_transactions_do_not_overwrite_others(self):
        def act(recorder):
            first, second = (recorder.session(name).transaction() for name in ("a", "b"))
            for element in range(2000):
                first.append("l", element)
            first.committing()
            self.assertRaises(ValueError, first.append, "l", 2000)
            second.write("x", 1)
            second.committing()
            first.stamp(snapshot_ts=1, commit_ts=2)
            first.committed()
            second.committed()

        path, done = self.record("serializable", act)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
        self.assertEqual(sorted((line["process"], line["status"]) for line in lines), [("a", "committed"), ("b", "committed")])
        self.assertEqual([line.get("commit_ts") for line in lines if line["process"] == "a"], [2])

    def test_a_killed_program_loses_no_transaction_that_may_have_committed(self):
        path = self.directory / "txns.jsonl"
        txn = omnilink_recorder.Transactions(path).session("a").transaction()
        txn.write("x", 1)
        txn.committing()
        self.assertEqual(json.loads(path.read_text())["status"], "unknown")


class Kills(Case):
    """Kills programs that record. A program prints the number of an operation before it begins and while it is open."""

    def test_a_killed_program_loses_nothing(self):
        for attempt in range(10):
            for name in (f"{attempt}", f"{attempt}.jsonl"):
                path = self.directory / name
                victim = subprocess.Popen([sys.executable, "-c", VICTIM, path], cwd=HERE, stdout=subprocess.PIPE)
                first = victim.stdout.readline()
                time.sleep(0.001 * attempt**2)
                victim.send_signal(signal.SIGKILL)
                printed = (first + victim.stdout.read()).split(b"\n")[:-1]
                victim.stdout.close()
                self.assertEqual(victim.wait(), -signal.SIGKILL)
                begun = int(printed[-1]) + (1 if printed.count(printed[-1]) == 2 else 0)
                values = [int(it) for it in re.findall(r"write\(value: (\d+)\)", text_of(path))]
                # An operation whose number was printed once may have begun.
                self.assertIn(len(values), (begun, begun + 1), f"{path}: {printed[-2:]}")
                self.assertEqual(values, list(range(len(values))))


if __name__ == "__main__":
    unittest.main()
