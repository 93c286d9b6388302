"""Records three clients of a key-value store as `spans.jsonl`, with OpenTelemetry's SDK and its exporter of files.

pip install opentelemetry-sdk opentelemetry-exporter-otlp-json-file
"""

import random
import sys
import threading
import time

from omnilink_otel import ByKey, Process
from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

STORE, LOCK = {}, threading.Lock()


def client(name, seed):
    process, choose = Process(name), random.Random(seed)
    for number in range(8):
        key = choose.choice("abcd")
        try:
            if choose.random() < 0.5:
                with process.operation("put", key, value=f"{name}/{number}"):
                    pause(choose)
                    with LOCK:
                        STORE[key] = f"{name}/{number}"
                    if choose.random() < 0.2:
                        raise TimeoutError("no answer")
                    pause(choose)
            else:
                with process.operation("get", key) as results:
                    pause(choose)
                    with LOCK:
                        results["value"] = STORE.get(key)
                    pause(choose)
        except TimeoutError:
            pass
    process.close()


def pause(choose):
    time.sleep(choose.random() / 1000)


provider = TracerProvider(sampler=ByKey(int(sys.argv[1])), resource=Resource({"host.name": "laptop"}))
provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter("spans.jsonl")))
trace.set_tracer_provider(provider)
clients = [threading.Thread(target=client, args=(f"client-{seed}", seed)) for seed in range(3)]
[each.start() for each in clients]
[each.join() for each in clients]
provider.shutdown()
