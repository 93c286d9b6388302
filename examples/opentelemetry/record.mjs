// Records three clients of a key-value store as `javascript.json`, with OpenTelemetry's SDK.
//
// npm install @opentelemetry/api @opentelemetry/sdk-trace-base @opentelemetry/otlp-transformer @opentelemetry/resources

import { writeFileSync } from 'node:fs';
import { trace } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ByKey, Process } from './omnilink_otel.mjs';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({
  sampler: new ByKey(Number(process.argv[2])),
  resource: resourceFromAttributes({ 'host.name': 'laptop' }),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
trace.setGlobalTracerProvider(provider);

const store = {};
const pause = () => new Promise(done => setTimeout(done, Math.random() * 3));

async function put(key, value) {
  await pause();
  store[key] = value;
  await pause();
  if (Math.random() < 0.3) throw new Error('no answer');
  return {};
}

async function get(key) {
  await pause();
  return { value: store[key] ?? null };
}

async function client(name) {
  const client = new Process(name);
  for (let number = 0; number < 6; number++) {
    const key = 'abcd'[Math.floor(Math.random() * 4)];
    const value = `${name}/${number}`;
    try {
      if (Math.random() < 0.5) await client.operation('put', key, { value }, () => put(key, value));
      else await client.operation('get', key, {}, () => get(key));
    } catch {
      // The outcome is unknown.
    }
  }
  client.close();
}

await Promise.all(['client-0', 'client-1', 'client-2'].map(client));
writeFileSync('javascript.json', JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans()));
