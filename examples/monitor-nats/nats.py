"""A small client of NATS JetStream: publishes with acknowledgement, and reads a key-value store.

Standard library only. A program of your own would use a client of NATS for its language; all that the monitor needs is
that messages are lines in the subject of their partition.
"""

import base64
import json
import socket
import time


class Nats:
    """A connection that is made again when it breaks."""

    def __init__(self, port):
        self.port, self.socket, self.file, self.count = port, None, None, 0
        self.inbox = f"_INBOX.{time.time_ns()}"

    def connect(self):
        self.close()
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        self.file = self.socket.makefile("rb")
        self.file.readline()
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "protocol": 1}
        self.send(f"CONNECT {json.dumps(options)}\r\nSUB {self.inbox}.* 1\r\nPING\r\n".encode())
        while self.file.readline() not in (b"PONG\r\n", b""):
            pass

    def close(self):
        if self.socket:
            self.file.close()
            self.socket.close()
        self.socket = self.file = None

    def send(self, data):
        self.socket.sendall(data)

    def request(self, subject, payload, message_id=None):
        """The answer to a request: JSON, or an error if there is none."""
        if self.socket is None:
            self.connect()
        self.count += 1
        reply = f"{self.inbox}.{self.count}"
        if message_id is None:
            head = f"PUB {subject} {reply} {len(payload)}\r\n".encode()
        else:
            headers = f"NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n".encode()
            head = f"HPUB {subject} {reply} {len(headers)} {len(headers) + len(payload)}\r\n".encode() + headers
        self.send(head + payload + b"\r\n")
        while True:
            line = self.file.readline()
            if not line:
                raise ConnectionError("the server is gone")
            words = line.split()
            if words[0] == b"PING":
                self.send(b"PONG\r\n")
            elif words[0] in (b"MSG", b"HMSG"):
                body = self.file.read(int(words[-1]) + 2)[:-2]
                if words[1].decode() != reply:
                    continue
                if words[0] == b"HMSG":
                    body = body[int(words[-2]):]
                if not body:
                    raise ConnectionError("no server for this request")
                return json.loads(body)

    def persist(self, subject, payload, message_id=None):
        """Repeats a request until it is answered. Messages have identifiers, so that none is stored twice."""
        while True:
            try:
                answer = self.request(subject, payload, message_id)
                if answer.get("error", {}).get("code") != 503:
                    return answer
            except (OSError, ConnectionError, ValueError):
                self.close()
            time.sleep(0.1)

    def create_stream(self, name, subject):
        config = {"name": name, "subjects": [subject], "storage": "file", "retention": "limits"}
        answer = self.persist(f"$JS.API.STREAM.CREATE.{name}", json.dumps(config).encode())
        assert "error" not in answer, answer

    def value(self, bucket, key):
        """The value of a key, or nothing."""
        question = json.dumps({"last_by_subj": f"$KV.{bucket}.{key}"}).encode()
        answer = self.persist(f"$JS.API.STREAM.MSG.GET.KV_{bucket}", question)
        return base64.b64decode(answer["message"].get("data", "")) if "message" in answer else None
