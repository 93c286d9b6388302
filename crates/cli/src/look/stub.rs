//! Stands in for what `judge` offers, until it does.

use std::fmt;
use std::str::FromStr;

use judge::{Case, Failed, InputError, Judge};
use report::{Entry, Report, Shape, Timeline};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assumption(String);

impl FromStr for Assumption {
    type Err = String;
    fn from_str(text: &str) -> Result<Assumption, String> {
        if text.contains('<') || text.contains('=') {
            Ok(Assumption(text.into()))
        } else {
            Err("it has the form `T0:12 < T3:7` or `T3:7 = 1a2b3c4d`".into())
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) until: Option<u64>,
    pub(crate) states: usize,
    pub(crate) watch: Vec<String>,
}

impl Default for Look {
    fn default() -> Look {
        Look { until: None, states: 2000, watch: Vec::new() }
    }
}

pub(crate) struct Shown {
    pub(crate) report: Report,
    pub(crate) timeline: Timeline,
}

pub(crate) trait Show {
    fn show(&self, case: &mut Case<'_>, look: &Look) -> Result<Shown, Failed>;
    fn walk(&self, case: &Case<'_>, shown: &mut Shown, look: &Look) -> Result<(), Failed>;
}

impl Show for Judge {
    fn show(&self, case: &mut Case<'_>, look: &Look) -> Result<Shown, Failed> {
        let report = self.report(case)?;
        let history = history::History::new(judge::input::open(case.path, None)?.read(case.path)?)?;
        let mut timeline = Timeline {
            processes: history.processes().iter().map(|name| name.to_string()).collect(),
            ..Timeline::default()
        };
        let mut ops: Vec<_> = history.ops().iter().collect();
        ops.sort_by_key(|op| op.interval.start());
        for op in ops {
            let shown = validate::operation(history.name(op.id), op);
            let shape =
                Shape { action: shown.action, args: vec![], results: vec![], meta: vec![], pieces: vec![shown.text] };
            timeline.shapes.push(shape);
            timeline.operations.push(Entry {
                process: op.process.0,
                index: op.index as u32,
                shape: timeline.shapes.len() as u32 - 1,
                values: 0,
                start: shown.start,
                end: shown.end,
            });
        }
        timeline.mentioned = report
            .operations
            .iter()
            .filter_map(|op| timeline.operations.iter().position(|entry| timeline.name(entry) == op.name))
            .collect();
        let mut shown = Shown { report, timeline };
        self.walk(case, &mut shown, look)?;
        Ok(shown)
    }

    fn walk(&self, _: &Case<'_>, _: &mut Shown, look: &Look) -> Result<(), Failed> {
        if look.watch.iter().any(|text| text.contains("Unknown")) {
            return Err(InputError::new("unknown expression").into());
        }
        Ok(())
    }
}
