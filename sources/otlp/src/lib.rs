//! Receives spans of OpenTelemetry: OTLP in protobuf, and with the feature `grpc` over gRPC.
//!
//! [`omnilink_history::format::otlp`] decides the meaning of a span; this crate only delivers it.
//!
//! ```
//! let spans = omnilink_otlp::decode(b"")?;
//! assert!(omnilink_history::format::otlp::Live::default().take(spans)?.is_empty());
//! # Ok::<(), omnilink_history::format::FormatError>(())
//! ```

#[cfg(feature = "grpc")]
mod grpc;

#[cfg(feature = "grpc")]
pub use grpc::{GrpcOptions, IsAllowed, Refused, Sink, serve};
use omnilink_history::Value;
use omnilink_history::format::json::Json;
use omnilink_history::format::otlp::{Attributes, Kind, Raw, Spans, matters};
use omnilink_history::format::{FormatError, Location};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use prost::Message as _;

/// The spans of a request in protobuf.
pub fn decode(body: &[u8]) -> Result<Spans, FormatError> {
    let request = ExportTraceServiceRequest::decode(body);
    spans(request.map_err(|error| wrong(error.to_string()))?.resource_spans)
}

fn spans(resources: Vec<ResourceSpans>) -> Result<Spans, FormatError> {
    let mut spans = Spans::default();
    for resource in resources {
        let described = attributes(resource.resource.map(|resource| resource.attributes).unwrap_or_default())?;
        let index = spans.resource(described)?;
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            add(span, index, &mut spans)?;
        }
    }
    Ok(spans)
}

fn add(span: Span, resource: usize, spans: &mut Spans) -> Result<(), FormatError> {
    let kind = match span.kind() {
        SpanKind::Client => Kind::Client,
        SpanKind::Server => Kind::Server,
        _ => Kind::Other,
    };
    let is_error = span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error);
    let raw = Raw {
        trace: id(&span.trace_id, 16)?,
        id: id(&span.span_id, 8)? as u64,
        parent: if span.parent_span_id.is_empty() { None } else { Some(id(&span.parent_span_id, 8)? as u64) },
        kind,
        start: span.start_time_unix_nano,
        precision: 0,
        end: Some(span.end_time_unix_nano).filter(|end| *end != 0),
        is_error,
        name: &span.name,
        dropped: span.dropped_attributes_count.into(),
        attributes: attributes(span.attributes)?,
    };
    spans.span(resource, raw)
}

/// An identifier of this many bytes.
fn id(bytes: &[u8], length: usize) -> Result<u128, FormatError> {
    if bytes.len() != length {
        return Err(wrong(format!("an identifier has {} bytes instead of {length}", bytes.len())));
    }
    Ok(bytes.iter().fold(0, |id, byte| id << 8 | u128::from(*byte)))
}

/// The attributes with a meaning.
fn attributes(list: Vec<KeyValue>) -> Result<Attributes, FormatError> {
    let mut found = Attributes::new();
    for KeyValue { key, value, .. } in list {
        if !matters(&key) {
            continue;
        }
        if found.iter().any(|(known, _)| *known == key) {
            return Err(wrong(format!("the attribute `{key}` occurs twice")));
        }
        let json = json(value).map_err(|why| wrong(format!("`{key}`: {why}")))?;
        found.push((key, json));
    }
    Ok(found)
}

/// A value of an attribute, as the JSON that it stands for.
fn json(value: Option<AnyValue>) -> Result<Json, String> {
    Ok(match value.and_then(|value| value.value) {
        None => Json::Null,
        Some(any_value::Value::StringValue(text)) => Json::Text(text),
        Some(any_value::Value::BoolValue(bool)) => Json::Bool(bool),
        Some(any_value::Value::IntValue(integer)) => Json::Number(Value::Int(integer)),
        Some(any_value::Value::DoubleValue(double)) => {
            Json::Number(Value::parse_number(&format!("{double:?}")).map_err(|error| error.to_string())?)
        }
        Some(any_value::Value::ArrayValue(array)) => {
            Json::Array(array.values.into_iter().map(|value| json(Some(value))).collect::<Result<_, _>>()?)
        }
        Some(any_value::Value::KvlistValue(list)) => {
            let mut pairs: Vec<(String, Json)> = Vec::new();
            for KeyValue { key, value, .. } in list.values {
                if pairs.iter().any(|(known, _)| *known == key) {
                    return Err(format!("the key `{}` occurs twice", key.escape_debug()));
                }
                pairs.push((key, json(value)?));
            }
            Json::Object(pairs)
        }
        Some(_) => {
            return Err("an attribute has a string, an integer, a double, a truth value, an array or a list of pairs"
                .to_owned());
        }
    })
}

fn wrong(message: impl Into<String>) -> FormatError {
    FormatError::new(Location::Line(1), message)
}

#[cfg(test)]
mod tests {
    use omnilink_history::End;
    use omnilink_history::format::otlp::{Arrived, Live};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::ScopeSpans;

    use super::*;

    fn pair(key: &str, value: any_value::Value) -> KeyValue {
        KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
    }

    fn request(attributes: Vec<KeyValue>) -> Vec<u8> {
        let span = Span {
            trace_id: vec![1; 16],
            span_id: vec![2; 8],
            name: "write".to_owned(),
            start_time_unix_nano: 1001,
            end_time_unix_nano: 2001,
            attributes,
            ..Span::default()
        };
        let host = vec![pair("host.name", any_value::Value::StringValue("a".to_owned()))];
        let resource_spans = ResourceSpans {
            resource: Some(Resource { attributes: host, ..Resource::default() }),
            scope_spans: vec![ScopeSpans { spans: vec![span], ..ScopeSpans::default() }],
            ..ResourceSpans::default()
        };
        ExportTraceServiceRequest { resource_spans: vec![resource_spans] }.encode_to_vec()
    }

    #[test]
    fn a_span_in_protobuf_means_what_it_means_in_json() {
        let attributes = vec![
            pair("omnilink.process", any_value::Value::StringValue("p".to_owned())),
            pair("omnilink.seq", any_value::Value::IntValue(3)),
            pair("omnilink.arg.value", any_value::Value::DoubleValue(2.5)),
            pair("something.else", any_value::Value::BytesValue(vec![1])),
        ];
        let spans = decode(&request(attributes)).expect("a request");
        let arrived = Live::default().take(spans).expect("an operation");
        let json = r#"{"resourceSpans": [{"resource": {"attributes": [{"key": "host.name",
            "value": {"stringValue": "a"}}]}, "scopeSpans": [{"spans": [{"traceId": "01010101010101010101010101010101",
            "spanId": "0202020202020202", "name": "write", "startTimeUnixNano": "1001", "endTimeUnixNano": "2001",
            "attributes": [{"key": "omnilink.process", "value": {"stringValue": "p"}},
            {"key": "omnilink.seq", "value": {"intValue": "3"}},
            {"key": "omnilink.arg.value", "value": {"doubleValue": 2.5}}]}]}]}]}"#;
        assert_eq!(arrived, Live::default().read(json).expect("the same in JSON"));
        let [Arrived::Operation(operation)] = &arrived[..] else { panic!("{arrived:?}") };
        assert_eq!((operation.seq, operation.end), (Some(3), End::At(2001)));
    }

    #[test]
    fn wrong_messages_are_errors() {
        assert!(decode(b"not protobuf").is_err());
        let twice = pair("omnilink.seq", any_value::Value::IntValue(3));
        assert!(decode(&request(vec![twice.clone(), twice])).is_err());
        let bytes = pair("omnilink.arg.value", any_value::Value::BytesValue(vec![1]));
        assert!(decode(&request(vec![bytes])).is_err());
        let mut cut = request(Vec::new());
        cut.pop();
        assert!(decode(&cut).is_err());
    }
}
