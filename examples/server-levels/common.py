"""Server processes, a delaying proxy, and clients whose operations are recorded as JSON Lines.

Each system has a file of its own, which starts a cluster with `Servers` and calls `record` once per configuration. A
client class has `read(key)`, `write(key, value)`, `reconnect()` and `close()`; it sets `node` to the server that it
asked, and raises `Unknown` if an operation may or may not have taken effect.

All clients are threads of one process, so `time.monotonic_ns()` is one clock for all of them. It is read before a
request is sent and after its reply has arrived. A history has keys of its own, so it starts with all keys at nil
however much the servers lag behind.
"""

import argparse
import asyncio
import concurrent.futures
import contextlib
import json
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HOST = "127.0.0.1"
KEYS = ["x", "y"]

# Seconds after which the outcome of a request is unknown.
TIMEOUT = 2.0

# Seconds that a cluster may take to start.
PATIENCE = 60.0


class Unknown(Exception):
    """The request may or may not have taken effect."""


class NotStarted(Exception):
    """A server cannot be started, or does not answer."""


def free_ports(count):
    """Returns unused ports. All are held until all are known, so they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for held in sockets:
            held.bind((HOST, 0))
        return [held.getsockname()[1] for held in sockets]


class Servers:
    """Server processes with a temporary directory. Leaving the context ends them.

    The kernel kills the servers if this process is killed: `setpriv` asks for it.
    """

    def __enter__(self):
        # A service user may own a part of the directory, so it must be able to enter it.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="server-levels-"))
        self.directory.chmod(0o755)
        self.running = []
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
        return self

    def __exit__(self, *_):
        for _, process, stop in self.running:
            process.send_signal(stop)
        for _, process, _ in self.running:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, name, *command, stop=signal.SIGKILL, **options):
        """Starts a server that writes to `name.log`."""
        command = ["setpriv", "--pdeathsig", "KILL", *map(str, command)]
        with open(self.directory / f"{name}.log", "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
        self.running.append((name, process, stop))

    def wait(self, name, is_ready):
        """Waits until `is_ready()` is true. An exception means that it is not."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if is_ready():
                    return
                problem = "not ready"
            except Exception as error:
                problem = error
            ended = [name for name, process, _ in self.running if process.poll() is not None]
            if ended or time.monotonic() > end:
                name = ended[0] if ended else name
                log = self.directory / f"{name}.log"
                lines = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
                raise NotStarted("\n".join([f"{name} {'ended' if ended else 'does not answer'}: {problem}", *lines]))
            time.sleep(0.05)


class Proxy:
    """Forwards connections on `port` to `target`, and delays the bytes that the target sends, or those of `both` sides.

    `delay` receives the first bytes of the connection and returns bounds in seconds. The delay of each chunk is drawn
    from them; the order of the bytes stays. It is called for each chunk, so delays may change during a connection.
    """

    def __init__(self, target, delay, both=False):
        self.target, self.delay, self.both = target, delay, both
        self.listener = socket.create_server((HOST, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()

    async def serve(self):
        server = await asyncio.start_server(self.connect, sock=self.listener)
        await server.serve_forever()

    async def connect(self, reader, writer):
        # Else the kernel may hold small chunks back for 40 ms.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            opening = await reader.read(65536)
            from_target, to_target = await asyncio.open_connection(HOST, self.target)
            to_target.write(opening)
            await asyncio.gather(
                forward(reader, to_target, lambda: self.delay(opening) if self.both else (0, 0)),
                forward(from_target, writer, lambda: self.delay(opening)),
            )
        writer.close()


async def forward(reader, writer, delay):
    """Forwards bytes until the reader ends, each chunk after its delay."""
    now = asyncio.get_running_loop().time
    chunks = asyncio.Queue()

    async def send():
        while (chunk := await chunks.get()) is not None:
            due, data = chunk
            if due > now():
                await asyncio.sleep(due - now())
            writer.write(data)
        writer.close()

    sender = asyncio.create_task(send())
    try:
        while data := await reader.read(65536):
            await chunks.put((now() + random.uniform(*delay()), data))
    finally:
        await chunks.put(None)
        await sender


def options(description):
    """Parses the command line, which all systems share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("out", type=pathlib.Path, metavar="DIR", help="directory of the histories")
    parser.add_argument("--histories", type=int, default=200, metavar="N", help="per configuration [default: 200]")
    parser.add_argument("--seconds", type=float, default=30, metavar="N", help="per configuration [default: 30]")
    parser.add_argument("--clients", type=int, default=4, metavar="N", help="clients [default: 4]")
    parser.add_argument("--operations", type=int, default=8, metavar="N", help="of each client [default: 8]")
    parser.add_argument("--pause", type=float, default=4, metavar="MS", help="longest pause of a client [default: 4]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the operations [default: 0]")
    return parser.parse_args()


def record(settings, name, make_client, prepare=None):
    """Records the histories of a configuration: `DIR/name/0001.jsonl` and so on.

    `make_client(index, random)` connects a client. `prepare(keys)` creates keys where reads expect them.
    """
    directory = settings.out / name
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.jsonl"):
        old.unlink()
    numbers = range(1, settings.histories + 1)
    if prepare:
        prepare([stored(name, number, key) for number in numbers for key in KEYS])
    since = time.monotonic()
    recorded = unknown = 0
    with contextlib.ExitStack() as stack:
        clients = []
        for index in range(settings.clients):
            client = make_client(index, random.Random(f"{settings.seed} {name} {index}"))
            stack.callback(client.close)
            clients.append(client)
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(clients)))
        for number in numbers:
            if time.monotonic() - since > settings.seconds:
                break
            recorded = number
            barrier = threading.Barrier(len(clients))
            jobs = [
                pool.submit(run_client, settings, name, number, index, client, barrier)
                for index, client in enumerate(clients)
            ]
            lines = sorted((line for job in jobs for line in job.result()), key=lambda line: line["start"])
            for line in lines[::-1]:
                # Times count from the first call.
                line |= {field: line[field] - lines[0]["start"] for field in ("start", "end") if field in line}
            unknown += sum("end" not in line for line in lines)
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (directory / f"{number:04}.jsonl").write_text(text, encoding="utf-8")
    seconds = time.monotonic() - since
    print(f"{name}: {recorded} histories in {seconds:.1f} s, {unknown} unfinished operations", flush=True)


def stored(name, number, key):
    """The key of a history as the servers know it."""
    return f"{name}-{number}-{key}"


def run_client(settings, name, number, index, client, barrier):
    """Runs the operations of one client in one history, and returns their lines."""
    choices = random.Random(f"{settings.seed} {name} {number} {index}")
    process, losses, lines = f"c{index}", 0, []
    barrier.wait()
    for step in range(settings.operations):
        time.sleep(choices.uniform(0, settings.pause / 1000))
        key = choices.choice(KEYS)
        is_write = choices.random() < 0.4
        value = 100 * (index + 1) + step
        line = {"process": process, "action": "write" if is_write else "read", "args": {"key": key}}
        if is_write:
            line["args"]["value"] = value
        line["start"] = time.monotonic_ns()
        try:
            if is_write:
                client.write(stored(name, number, key), value)
            else:
                line["results"] = {"value": client.read(stored(name, number, key))}
            line["end"] = time.monotonic_ns()
            line["meta"] = {"node": client.node}
        except Unknown:
            # The outcome stays unknown, so the client goes on as a new process.
            losses += 1
            process = f"c{index}.{losses}"
            reconnect(client)
        lines.append(line)
    return lines


def reconnect(client):
    """Connects a client again, whose servers may need some time."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return client.reconnect()
        except (OSError, Unknown):
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def main(description, run):
    """Runs `run(settings)`. Exits with 1 if the servers cannot be started."""
    settings = options(description)
    try:
        run(settings)
    except (NotStarted, OSError, Unknown) as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: not run: {error}")
