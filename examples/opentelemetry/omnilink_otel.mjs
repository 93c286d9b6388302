// Operations as spans of OpenTelemetry, in the convention that `omnilink check` reads.

import { crc32 } from 'node:zlib';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace-base';

/** Calls one operation at a time, and numbers them. */
export class Process {
  count = 0;
  tracer = trace.getTracer('omnilink');

  constructor(name) {
    this.name = name;
  }

  /** Awaits `call`, which returns an object of results. If it throws, the outcome is unknown. */
  async operation(action, key, args, call) {
    const known = { 'omnilink.process': this.name, 'omnilink.key': key, 'omnilink.args': JSON.stringify(args) };
    const span = this.tracer.startSpan(action, { attributes: known });
    if (span.isRecording()) span.setAttribute('omnilink.seq', this.count++);
    try {
      const results = await call();
      span.setAttribute('omnilink.results', JSON.stringify(results));
      return results;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  close() {
    const counted = { 'omnilink.process': this.name, 'omnilink.count': this.count };
    this.tracer.startSpan('close', { attributes: counted }).end();
  }
}

/** Keeps every operation on one of `n` keys. */
export class ByKey {
  constructor(n) {
    this.n = n;
  }

  shouldSample(context, traceId, name, kind, attributes) {
    const key = attributes['omnilink.key'];
    const isKept = key === undefined || crc32(String(key)) % this.n === 0;
    return { decision: isKept ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
  }
}
