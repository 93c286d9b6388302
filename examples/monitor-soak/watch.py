"""The monitor of a soak: its input, what it serves, and its files.

`Feed` is a recorder whose lines go to the monitor's standard input. It keeps the lines after the checkpoint, from which a monitor
that is started again continues.
"""

import collections
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
import urllib.request

from omnilink_recorder import Lines, Recorder


class Feed(Recorder):
    """Sends an operation as a line once its outcome is known."""

    def __init__(self, copy=None, clock=time.monotonic_ns):
        self.clock, self.lock, self.names = clock, threading.Lock(), {}
        self.copy = open(copy, "wb") if copy else None
        self.lines, self.first = collections.deque(), 0  # The lines after the checkpoint, and the number of the first.
        self.operations = self.peak = 0
        self.is_closed, self.wake = False, threading.Condition(self.lock)

    def process(self, name):
        return Piped(self, str(name))

    def append(self, line, room=0):
        del room
        with self.wake:
            self.lines.append(line + b"\n")
            if self.copy:
                self.copy.write(line + b"\n")
            self.operations += b'"action"' in line
            self.peak = max(self.peak, len(self.lines))
            self.wake.notify()
        return None

    def progress(self, process, **fields):
        self.append(json.dumps({"process": process, "progress": self.clock(), **fields}).encode())

    def event(self, what, start, node):
        """Sends a fault, for people to read: it ends now."""
        self.append(json.dumps({"event": what, "start": start, "end": self.clock(), "nodes": [node]}).encode())

    def forget(self, count):
        """Drops the lines before this number: a checkpoint has them."""
        with self.lock:
            while self.first < count and self.lines:
                self.lines.popleft()
                self.first += 1

    def close(self):
        with self.wake:
            self.is_closed = True
            if self.copy:
                self.copy.close()
            self.wake.notify()

    def send(self, output, number):
        """Sends all lines from a number on, until the feed is closed or the reader is gone."""
        try:
            while True:
                with self.wake:
                    while number == self.first + len(self.lines) and not self.is_closed:
                        self.wake.wait(0.2)
                    place = number - self.first
                    chunk = [self.lines[it] for it in range(place, min(place + 500, len(self.lines)))]
                if not chunk:
                    break
                output.write(b"".join(chunk))
                output.flush()
                number += len(chunk)
        except OSError:
            pass  # The monitor was killed. The next one gets the lines after its checkpoint.
        with contextlib.suppress(OSError):
            output.close()


class Piped(Lines):
    """A process whose operations are sent."""

    def begin_process(self, number):
        super().begin_process(number)
        self.recorder.progress(self.name)

    def begin(self, operation):
        operation.name, operation.notes, operation.place, operation.seq = operation.action.name, {}, None, self.count
        self.count += 1

    def note(self, operation, key, value):
        operation.notes[key] = value

    def close(self):
        if self.open:  # Its outcome is unknown. The client continues as another process.
            self.put(self.open)
        self.recorder.progress(self.name, operations=self.count, is_last=True)


class Monitor:
    """`omnilink monitor`, which is killed and started again."""

    def __init__(self, command, directory, feed, options):
        self.command, self.directory, self.feed, self.options = command, directory, feed, options
        self.kept = b""  # Alerts before the kill.
        self.start()

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self):
        number = self.head().get("position", {}).get("lines", 0)
        with open(self.path("monitor.log"), "ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.command, "monitor", "-", "--listen", "127.0.0.1:0", "--checkpoint",
                 self.path("state"), "--input-continues", "--checkpoint-every", "5s", "--alerts", self.path("alerts.jsonl"), "--pages",
                 self.path("pages"), *self.options], stdin=subprocess.PIPE, stdout=log, stderr=log)
        self.sender = threading.Thread(target=self.feed.send, args=[self.process.stdin, number], daemon=True)
        self.sender.start()
        until = time.monotonic() + 30
        while True:
            with open(self.path("monitor.log"), "rb") as log:
                log.seek(began)
                line, end, _ = log.read().partition(b"\n")
            if end and line.startswith(b"http"):
                break
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the monitor does not start: {line.decode()}")
            time.sleep(0.05)
        self.address = line.decode().strip().rstrip("/")
        while not self.is_healthy():  # Its first check is about to come.
            if time.monotonic() > until:
                raise RuntimeError("the monitor is not healthy")
            time.sleep(0.05)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.sender.join()
        self.kept = self.read("alerts.jsonl")

    def finish(self):
        """Waits for its end, and returns its exit code."""
        self.feed.close()
        code = self.process.wait(timeout=120)
        self.sender.join()
        return code

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def read(self, name):
        try:
            with open(self.path(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def head(self):
        """The first line of the checkpoint: its position and the counts."""
        line = self.read("state").partition(b"\n")[0]
        return json.loads(line) if line else {}

    def alerts(self):
        return [json.loads(line) for line in self.read("alerts.jsonl").splitlines()]

    def memory(self):
        """Resident memory, in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:")), 0)

    def sizes(self):
        """The sizes of its files, in bytes."""
        def size(path):
            try:
                if os.path.isdir(path):
                    return sum(size(os.path.join(path, name)) for name in os.listdir(path))
                return os.stat(path).st_size
            except FileNotFoundError:
                return 0
        return {name: size(self.path(it)) for name, it in
                (("checkpoint", "state"), ("alerts", "alerts.jsonl"), ("pages", "pages"), ("log", "monitor.log"))}

    def ensure_alive(self):
        if self.process.poll() is not None:
            last = self.read("monitor.log").decode(errors="replace").splitlines()[-3:]
            raise RuntimeError("\n".join([f"the monitor ended with code {self.process.returncode}", *last]))

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=5) as response:
            return response.read().decode()

    def is_healthy(self):
        try:
            return self.get("/health") == "ok\n"
        except OSError:
            return False

    def metrics(self):
        lines = (line.split() for line in self.get("/metrics").splitlines() if not line.startswith("#"))
        return {name.removeprefix("omnilink_").removesuffix("_total"): int(value) for name, value in lines}
