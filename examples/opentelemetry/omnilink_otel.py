"""Operations as spans of OpenTelemetry, in the convention that `omnilink check` reads."""

import json
import zlib
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult


class Process:
    """Calls one operation at a time, and numbers them."""

    def __init__(self, name):
        self.name, self.count, self.tracer = name, 0, trace.get_tracer("omnilink")

    @contextmanager
    def operation(self, action, key, **args):
        """Yields a dict for the results. An exception makes the outcome unknown."""
        known = {"omnilink.process": self.name, "omnilink.key": key, "omnilink.args": json.dumps(args)}
        with self.tracer.start_as_current_span(action, attributes=known, record_exception=False) as span:
            if span.is_recording():  # Only operations that the sampler keeps have numbers.
                span.set_attribute("omnilink.seq", self.count)
                self.count += 1
            results = {}
            yield results
            span.set_attribute("omnilink.results", json.dumps(results))

    def close(self):
        """Says how many operations there were, so that losses at the end are noticed."""
        counted = {"omnilink.process": self.name, "omnilink.count": self.count}
        self.tracer.start_span("close", attributes=counted).end()


class ByKey(Sampler):
    """Keeps every operation on one of `n` keys, so that what is kept of an object is whole."""

    def __init__(self, n):
        self.n = n

    def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, links=None, trace_state=None):
        key = (attributes or {}).get("omnilink.key")
        kept = key is None or zlib.crc32(str(key).encode()) % self.n == 0
        return SamplingResult(Decision.RECORD_AND_SAMPLE if kept else Decision.DROP, attributes)

    def get_description(self):
        return f"ByKey({self.n})"
