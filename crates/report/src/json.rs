//! Reads reports back from JSON.
//!
//! Every index in a file is checked once, here, so that no renderer can be led out of range by an edited file. A report
//! of another version is rejected, because its numbers might mean something else.

use serde::Deserialize;
use thiserror::Error;

use crate::data::{
    Assumption, Conjunct, Consequence, Evidence, Legal, OpRef, Report, SCHEMA, Span, Stuck, Verdict, Why,
};
use crate::interleaving::Interleaving;
use crate::isolation::Anomaly;

/// Why a text is not a readable report.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not JSON, or lacks something.
    #[error("not a report: {0}")]
    Form(#[from] serde_json::Error),
    /// Another version.
    #[error("unsupported report version `{found}` (expected `{expected}`); check the history again")]
    Version {
        /// Its version.
        found: String,
        /// The version that can be read.
        expected: &'static str,
    },
    /// An index is out of range.
    #[error("damaged report: {what} {index} (counted from 0) is out of range, there are {len}")]
    Index {
        /// The indexed items.
        what: &'static str,
        /// The index.
        index: usize,
        /// The number of items.
        len: usize,
    },
    /// A span is not within its text, or not between characters.
    #[error("damaged report: bytes {start} to {end} are not a range of `{path}`")]
    Place {
        /// The path of the text.
        path: String,
        /// The first byte.
        start: usize,
        /// The byte after the last.
        end: usize,
    },
    /// Steps are not in the order of their numbers.
    #[error("damaged report: the numbers of steps do not grow")]
    Unsorted,
    /// The number of outcomes or values of a conjunct is not the number of states.
    #[error("damaged report: `{text}` has {found}, expected one for each of {states} states")]
    Shape {
        /// The conjunct, or the part of it.
        text: String,
        /// The number found.
        found: usize,
        /// The number of states.
        states: usize,
    },
}

/// The JSON Schema of reports, for other programs.
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".into(), "A report of OmniLink".into());
    if let Some(version) = schema.pointer_mut("/properties/schema") {
        version["const"] = SCHEMA.into();
    }
    format!("{:#}\n", schema.to_value())
}

impl Report {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("reports have string keys only");
        text.push('\n');
        text
    }

    /// Reads what [`Report::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let Head { schema } = serde_json::from_str(text)?;
        if schema != SCHEMA {
            return Err(ReadError::Version { found: schema, expected: SCHEMA });
        }
        let report: Report = serde_json::from_str(text)?;
        report.check()?;
        Ok(report)
    }

    /// Checks every index and span of the report.
    fn check(&self) -> Result<(), ReadError> {
        if let Some(widest) = &self.stats.widest {
            self.check_ops(widest.at.iter().chain(&widest.in_flight))?;
        }
        if let Some(Interleaving { threads, steps, .. }) = &self.interleaving {
            for step in steps {
                index("thread", step.thread, threads.len())?;
            }
            // Numbers grow, so that steps in between can be counted.
            if !steps.is_sorted_by(|a, b| a.number < b.number) || steps.first().is_some_and(|step| step.number == 0) {
                return Err(ReadError::Unsorted);
            }
        }
        if let Some(closest) = &self.closest_run {
            closest.order.iter().try_for_each(|call| index("call", *call, closest.calls.len()))?;
        }
        for missed in self.level.iter().flat_map(|level| &level.missed) {
            self.check_ops(missed.missed.iter().chain([&missed.op]))?;
        }
        match &self.verdict {
            Verdict::Accepted | Verdict::Inconclusive { .. } => Ok(()),
            Verdict::Rejected(rejection) => {
                self.check_ops(&rejection.blocked)?;
                match &rejection.evidence {
                    Evidence::Stuck(stuck) => self.check_stuck(stuck),
                    Evidence::Contradiction { operations } => self.check_ops(operations),
                    Evidence::Invariant(broken) => {
                        self.check_span(broken.span)?;
                        self.check_conjuncts(&broken.conjuncts, broken.states.len())
                    }
                    Evidence::Anomaly(anomaly) => self.check_anomaly(anomaly),
                    Evidence::Views(views) => views.views.iter().try_for_each(|view| {
                        self.check_ops([&view.op].into_iter().chain(&view.must_see).chain(&view.may_miss))
                    }),
                }
            }
        }
    }

    fn check_anomaly(&self, anomaly: &Anomaly) -> Result<(), ReadError> {
        self.check_ops(anomaly.transactions.iter().map(|txn| &txn.op))?;
        let transactions = anomaly.transactions.len();
        for edge in &anomaly.edges {
            index("transaction", edge.from, transactions)?;
            index("transaction", edge.to, transactions)?;
        }
        for access in anomaly.references() {
            index("transaction", access.transaction, transactions)?;
            index("access", access.access, anomaly.transactions[access.transaction].accesses.len())?;
        }
        Ok(())
    }

    fn check_stuck(&self, stuck: &Stuck) -> Result<(), ReadError> {
        let states = stuck.states.len();
        for interpretation in &stuck.interpretations {
            index("state", interpretation.state, states)?;
            self.check_ops(interpretation.recent.iter().map(|step| &step.op))?;
        }
        for reason in &stuck.reasons {
            self.check_ops([&reason.op])?;
            for &state in &reason.states {
                index("state", state, states)?;
            }
            match &reason.why {
                Why::Time { after } => self.check_ops([after])?,
                Why::Guard(guard) => {
                    self.check_span(guard.span)?;
                    self.check_conjuncts(&guard.conjuncts, reason.states.len())?;
                }
                Why::Excluded { span, .. } | Why::Error { span: Some(span), .. } => self.check_span(*span)?,
                Why::Words { .. } | Why::Error { span: None, .. } | Why::Dead => {}
            }
        }
        match &stuck.legal {
            Legal::Earlier { until: op } | Legal::Later { after: op } => self.check_ops([op])?,
            Legal::Never { .. } | Legal::Unknown => {}
        }
        for what_if in &stuck.what_ifs {
            match &what_if.assumption {
                Assumption::EventDropped { event }
                | Assumption::StepInserted { before: event, .. }
                | Assumption::OtherField { event, .. }
                | Assumption::FieldIgnored { event, .. } => self.check_ops([event])?,
                Assumption::Exchanged { first, second } => self.check_ops([first, second])?,
                Assumption::OtherResults { .. }
                | Assumption::Dropped
                | Assumption::ProgramOrder
                | Assumption::NotComplete { .. } => {}
            }
            if let Consequence::Rejected { blocked, .. } = &what_if.outcome {
                self.check_ops(blocked)?;
            }
        }
        stuck.window.as_ref().map_or(Ok(()), |window| self.check_ops(&window.operations))
    }

    fn check_conjuncts(&self, conjuncts: &[Conjunct], states: usize) -> Result<(), ReadError> {
        for conjunct in conjuncts {
            self.check_span(conjunct.span)?;
            let values = conjunct.values.iter().map(|part| (&part.text, part.values.len()));
            for (text, found) in values.chain([(&conjunct.text, conjunct.outcomes.len())]) {
                if found != states {
                    return Err(ReadError::Shape { text: text.clone(), found, states });
                }
            }
        }
        Ok(())
    }

    fn check_ops<'a>(&self, ops: impl IntoIterator<Item = &'a OpRef>) -> Result<(), ReadError> {
        ops.into_iter().try_for_each(|op| index("operation", op.0, self.operations.len()))
    }

    fn check_span(&self, span: Span) -> Result<(), ReadError> {
        index("source", span.source, self.sources.len())?;
        let source = &self.sources[span.source];
        match source.text.get(span.start..span.end) {
            Some(_) => Ok(()),
            None => Err(ReadError::Place { path: source.path.clone(), start: span.start, end: span.end }),
        }
    }
}

fn index(what: &'static str, index: usize, len: usize) -> Result<(), ReadError> {
    if index < len { Ok(()) } else { Err(ReadError::Index { what, index, len }) }
}
