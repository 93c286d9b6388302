"""Sends the operations of two clients to a monitor while they run: live.py grpc|http ENDPOINT [CERTIFICATE]

The second client reads from a copy of the register that is updated late, so the monitor tells a violation. The token is in
OTEL_EXPORTER_OTLP_HEADERS, where the SDK looks for it.

pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-grpc opentelemetry-exporter-otlp-proto-http
"""

import os
import sys
import time

from omnilink_otel import Process
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

protocol, endpoint = sys.argv[1:3]
if protocol == "grpc":
    import grpc
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    tls = {"credentials": grpc.ssl_channel_credentials(open(path, "rb").read()) for path in sys.argv[3:]}
else:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    tls = {"certificate_file": path for path in sys.argv[3:]}

provider = TracerProvider(resource=Resource({"host.name": "laptop"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, **tls)))
trace.set_tracer_provider(provider)
writer, reader = Process("writer"), Process("reader")
values, copies = {}, {}
for number in range(int(os.environ.get("OPERATIONS", "200"))):
    key = number % 10
    with writer.operation("write", key, value=number):
        values[key] = number
    time.sleep(0.0001)
    # The copy of one key is late.
    if key != 7 or number < 100:
        copies[key] = values[key]
    with reader.operation("read", key) as results:
        results["value"] = copies[key]
writer.close()
reader.close()
provider.shutdown()
