//! How many spans a second come by OTLP over gRPC: received and dropped, and checked by a monitor. One connection.
//!
//! ```sh
//! cargo run --profile engine -p omnilink-otlp --example otlp_rate -- SPANS
//! ```

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use omnilink_history::format::otlp::{Arrived, Live};
use omnilink_judge::Judge;
use omnilink_monitor::{Line, Monitor, MonitorOptions};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

/// The number of spans in a request: what SDKs send at most.
const IN_REQUEST: u64 = 512;

/// The number of requests between two checks.
const BETWEEN: u64 = 100;

fn main() {
    let spans = std::env::args().nth(1).map_or(500_000, |count| count.parse::<u64>().expect("a number"));
    let requests: Vec<_> = (0..spans).step_by(IN_REQUEST as usize).map(request).collect();
    let spans = requests.len() as u64 * IN_REQUEST;
    println!("received: {:.0} spans a second", send(requests.clone(), spans, Arc::new(|_| Ok(()))));
    let judge =
        Judge::new("register:initial=0", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let state = Arc::new(Mutex::new((Live::default(), Monitor::new(judge, MonitorOptions::default()), 0_u64)));
    let shared = state.clone();
    let sink: omnilink_otlp::Sink = Arc::new(move |spans| {
        let (live, monitor, requests) = &mut *shared.lock().expect("no panic");
        for arrived in live.take(spans).map_err(|error| omnilink_otlp::Refused::Wrong(error.full()))? {
            let Arrived::Operation(operation) = arrived else { panic!("an operation") };
            monitor.feed(Line::Operation(operation));
        }
        *requests += 1;
        if *requests % BETWEEN == 0 {
            assert!(monitor.advance().is_empty(), "a correct history");
        }
        Ok(())
    });
    println!("checked:  {:.0} spans a second", send(requests, spans, sink));
    let (_, monitor, _) = &mut *state.lock().expect("no panic");
    assert!(monitor.finish(true).is_empty(), "a correct history");
    assert_eq!(monitor.counts().checked, spans);
}

/// Sends requests one after the other, and returns how many spans were taken in a second.
fn send(requests: Vec<ExportTraceServiceRequest>, spans: u64, sink: omnilink_otlp::Sink) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let options = omnilink_otlp::GrpcOptions { is_allowed: Box::new(|_| true), tls: None, most_bytes: 64 << 20 };
    omnilink_otlp::serve(listener, options, sink).expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let channel = tonic::transport::Endpoint::new(address).expect("an address").connect().await;
        let mut client = TraceServiceClient::new(channel.expect("a connection"));
        let began = Instant::now();
        for request in requests {
            client.export(request).await.expect("an answer");
        }
        spans as f64 / began.elapsed().as_secs_f64()
    })
}

/// Spans of 16 processes on 100,000 registers, each of which holds one value.
fn request(first: u64) -> ExportTraceServiceRequest {
    let span = |number: u64| {
        let pair = |key: &str, value| KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue { value: Some(value) }),
            ..KeyValue::default()
        };
        let integer = |value: u64| any_value::Value::IntValue(value as i64);
        let text = |value: String| any_value::Value::StringValue(value);
        Span {
            trace_id: vec![1; 16],
            span_id: (number + 1).to_be_bytes().to_vec(),
            name: "write".to_owned(),
            start_time_unix_nano: 4 * number + 1,
            end_time_unix_nano: 4 * number + 4,
            attributes: vec![
                pair("omnilink.process", text(format!("p{}", number % 16))),
                pair("omnilink.seq", integer(number / 16)),
                pair("omnilink.key", integer(number * 7919 % 100_000)),
                pair("omnilink.args", text(format!("{{\"value\":{number}}}"))),
            ],
            ..Span::default()
        }
    };
    let spans = (first..first + IN_REQUEST).map(span).collect();
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    ExportTraceServiceRequest { resource_spans: vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }] }
}
