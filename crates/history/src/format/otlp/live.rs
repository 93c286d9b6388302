//! Spans as they arrive, before others are known.
//!
//! A file has all spans, so its reader compares them: duplicates, gaps in the numbers, clocks of several hosts. A receiver
//! has the spans of one request. So each operation comes out with its process and its number, and what collects them
//! finds duplicates and gaps. Two things are decided here:
//!
//! - **Clocks.** Times of several hosts can be compared only if each names the maximum error of its clock,
//!   `omnilink.clock_error`: then an interval is widened by it, and contains the one in true time. A host without it has
//!   to be the only one.
//! - **Lost attributes.** An operation that lost attributes is left out, so that its number is missing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::convention::Outcome;
use super::span::{Span, Spans};
use super::{coarse, span};
use crate::format::error::{FormatError, Location, Problem};
use crate::format::gaps::Numbered;
use crate::format::json::Json;
use crate::format::node::Node;
use crate::format::schemas::Schemas;
use crate::{End, Value};

/// Turns spans into operations as they arrive.
#[derive(Debug, Default)]
pub struct Live {
    schemas: Schemas,
    /// The maximum error of each clock.
    hosts: BTreeMap<String, Option<u64>>,
}

/// An operation or a count.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrived {
    /// An operation, which has a number.
    Operation(Numbered),
    /// The number of operations of a process that have started.
    Count {
        /// The process.
        process: Arc<str>,
        /// The number.
        operations: u64,
        /// The time at which there were that many.
        time: u64,
    },
}

/// The most hosts, and the most shapes of calls that are shared.
const MOST: usize = 10_000;

impl Live {
    /// The operations of a request in JSON.
    pub fn read(&mut self, input: &str) -> Result<Vec<Arrived>, FormatError> {
        let mut spans = Spans::default();
        let json = Json::parse(input)
            .map_err(|Problem { at, message, .. }| FormatError::new(Location::Byte(at as u64), message))?;
        span::read_document(&Node::document(&json, 1), &mut spans)?;
        self.take(spans)
    }

    /// The operations among these spans. Either all spans are taken or none.
    pub fn take(&mut self, mut spans: Spans) -> Result<Vec<Arrived>, FormatError> {
        self.check_hosts(&spans)?;
        coarse::widen(&mut spans, &mut Vec::new());
        let mut arrived = Vec::new();
        let Spans { list, resources, .. } = spans;
        for span in list {
            let error = resources[span.resource].clock_error.unwrap_or(0);
            self.add(span, error, &mut arrived)?;
        }
        if self.schemas.len() > MOST {
            self.schemas = Schemas::default();
        }
        Ok(arrived)
    }

    /// An error if times cannot be compared.
    fn check_hosts(&mut self, spans: &Spans) -> Result<(), FormatError> {
        let mut hosts = self.hosts.clone();
        for span in spans.list.iter().filter(|span| span.matters()) {
            let resource = &spans.resources[span.resource];
            let error = hosts.entry(resource.host.clone()).or_insert(resource.clock_error);
            *error = (*error).max(resource.clock_error);
        }
        if hosts.len() > 1
            && let Some((host, _)) = hosts.iter().find(|(_, error)| error.is_none())
        {
            let message = format!("spans of several hosts, but the error of the clock of `{host}` is not known");
            let help = "name the maximum error of each clock in nanoseconds as `omnilink.clock_error` of the resource";
            return Err(FormatError::new(Location::Line(1), message).help(help));
        }
        if hosts.len() > MOST {
            return Err(FormatError::new(Location::Line(1), format!("spans of more than {MOST} hosts")));
        }
        self.hosts = hosts;
        Ok(())
    }

    fn add(&mut self, span: Span, error: u64, arrived: &mut Vec<Arrived>) -> Result<(), FormatError> {
        let id = span.id;
        let wrong = |message: &str| FormatError::new(Location::Line(1), format!("span {id:016x}: {message}"));
        let end = span.content.end.map(|end| end.saturating_add(error)).filter(|end| *end < u64::MAX);
        if let Some((process, operations)) = span.content.count {
            let time = span.content.end.unwrap_or(span.content.start).saturating_sub(error);
            arrived.push(Arrived::Count { process: process.into(), operations, time });
        }
        let Some(operation) = span.content.operation.filter(|_| !span.content.is_damaged) else { return Ok(()) };
        let seq = operation.seq.ok_or_else(|| {
            wrong("an operation needs `omnilink.seq`: without it losses go unnoticed").help(
                "number the operations of each `omnilink.process` from 0 on, as the helpers in the documentation do",
            )
        })?;
        let end = match (operation.outcome, end) {
            (Outcome::Unknown, _) => End::Unknown { latest: None },
            (_, Some(end)) => End::At(end),
            (_, None) => return Err(wrong("a time too large")),
        };
        let mut call = self.schemas.call(&operation.action, operation.args, operation.results);
        call.failed = operation.outcome == Outcome::Failed;
        call.meta = [
            ("trace".into(), Value::str(format!("{:032x}", span.trace))),
            ("span".into(), Value::str(format!("{id:016x}"))),
        ]
        .into();
        let start = span.content.start.saturating_sub(error);
        let operation = Numbered { process: operation.process.into(), seq: Some(seq), start, end, call };
        arrived.push(Arrived::Operation(operation));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(resource: &str, attributes: &str) -> String {
        format!(
            r#"{{"resourceSpans": [{{"resource": {{"attributes": [{resource}]}}, "scopeSpans": [{{"spans": [
            {{"traceId": "000000000000000000000000000000aa", "spanId": "00000000000000bb", "name": "write",
              "startTimeUnixNano": "1000", "endTimeUnixNano": "2001", "attributes": [{attributes}]}}]}}]}}]}}"#
        )
    }

    const HOST_A: &str = r#"{"key": "host.name", "value": {"stringValue": "a"}}"#;
    const HOST_B: &str = r#"{"key": "host.name", "value": {"stringValue": "b"}}"#;
    const ERROR: &str = r#", {"key": "omnilink.clock_error", "value": {"intValue": "300"}}"#;
    const NUMBER: &str = r#"{"key": "omnilink.process", "value": {"stringValue": "p"}},
        {"key": "omnilink.seq", "value": {"intValue": "7"}}"#;

    #[test]
    fn operations_come_with_their_numbers() {
        let arrived = Live::default().read(&request(HOST_A, NUMBER)).expect("a request");
        let [Arrived::Operation(operation)] = &arrived[..] else { panic!("{arrived:?}") };
        let Numbered { process, seq, start, end, call } = operation;
        assert_eq!((&**process, *seq, *start, *end), ("p", Some(7), 1000, End::At(2001)));
        assert_eq!(call.action(), "write");
        let count = r#"{"key": "omnilink.process", "value": {"stringValue": "p"}},
            {"key": "omnilink.count", "value": {"intValue": "8"}}"#;
        let arrived = Live::default().read(&request(HOST_A, count)).expect("a request");
        assert_eq!(arrived, [Arrived::Count { process: "p".into(), operations: 8, time: 2001 }]);
        let without = r#"{"key": "omnilink.process", "value": {"stringValue": "p"}}"#;
        let error = Live::default().read(&request(HOST_A, without)).unwrap_err();
        assert!(error.message.contains("needs `omnilink.seq`"), "{error}");
    }

    #[test]
    fn an_operation_that_lost_attributes_is_left_out() {
        let damaged = request(HOST_A, NUMBER).replace("\"name\"", "\"droppedAttributesCount\": 1, \"name\"");
        assert_eq!(Live::default().read(&damaged), Ok(Vec::new()));
    }

    #[test]
    fn several_hosts_need_the_errors_of_their_clocks() {
        let mut live = Live::default();
        live.read(&request(HOST_A, NUMBER)).expect("one host");
        let error = live.read(&request(HOST_B, NUMBER)).unwrap_err();
        assert!(error.message.contains("the error of the clock of `a` is not known"), "{error}");
        // A refused request leaves no host behind.
        live.read(&request(HOST_A, NUMBER)).expect("one host");
        let mut live = Live::default();
        live.read(&request(&format!("{HOST_A}{ERROR}"), NUMBER)).expect("one host");
        let arrived = live.read(&request(&format!("{HOST_B}{ERROR}"), NUMBER)).expect("two hosts");
        let [Arrived::Operation(operation)] = &arrived[..] else { panic!("{arrived:?}") };
        assert_eq!((operation.start, operation.end), (700, End::At(2301)));
        live.read(&request(r#"{"key": "host.name", "value": {"stringValue": "c"}}"#, NUMBER)).unwrap_err();
    }
}
