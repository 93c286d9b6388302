//! The times of the steps, as a table.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// A row for each step, and the total.
pub(super) struct Times {
    start: Instant,
    /// A longer run ends with a warning.
    most: Duration,
    rows: Vec<Row>,
    /// Steps that were not run, and why.
    skipped: Vec<(&'static str, String)>,
}

/// The time of a step.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) wall: Duration,
    /// The processor time of all processes; `None` if unknown.
    pub(super) processor: Option<Duration>,
}

impl Times {
    /// An empty table. Or, if the work began before, at this time in seconds since 1970, one with a row for that.
    pub(super) fn new(since: Option<u64>, most: Duration) -> Times {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let before = since.map(|since| now.saturating_sub(Duration::from_secs(since)));
        let start = Instant::now().checked_sub(before.unwrap_or_default()).unwrap_or_else(Instant::now);
        let rows = before.map(|wall| Row { name: "installing and building", wall, processor: None });
        Times { start, most, rows: rows.into_iter().collect(), skipped: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a step that was not run, and why.
    pub(super) fn skip(&mut self, name: &'static str, why: String) {
        self.skipped.push((name, why));
    }

    /// Whether no step was skipped.
    pub(super) fn is_complete(&self) -> bool {
        self.skipped.is_empty()
    }

    /// The time since the work began.
    pub(super) fn total(&self) -> Duration {
        self.start.elapsed()
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, total: Duration) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        for (name, why) in &self.skipped {
            writeln!(f, "{name:30} not run: {why}")?;
        }
        let processor = self.rows.iter().filter_map(|row| row.processor).sum();
        writeln!(f, "{}", Row { name: "together", wall: total, processor: Some(processor) })?;
        if total > self.most {
            let [took, most] = [total, self.most].map(|time| time.as_secs() / 60);
            writeln!(f, "warning: this took {took} minutes, more than {most}; see what can be faster")?;
        }
        Ok(())
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, self.total())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:30} {:7.1} s", self.name, self.wall.as_secs_f64())?;
        if let Some(processor) = self.processor {
            let busy = processor.as_secs_f64() / self.wall.as_secs_f64().max(0.001);
            write!(f, ", {:7.1} s of processors, {busy:.1} busy", processor.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shown(Times, Duration);

    impl fmt::Display for Shown {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.show(f, self.1)
        }
    }

    #[test]
    fn times_and_a_warning_that_is_only_one() {
        let seconds = Duration::from_secs;
        let mut times = Times::new(None, seconds(1800));
        times.push(Row { name: "building", wall: seconds(60), processor: None });
        times.push(Row { name: "clippy", wall: seconds(80), processor: Some(seconds(144)) });
        times.push(Row { name: "tests", wall: seconds(1850), processor: Some(seconds(3145)) });
        assert!(times.is_complete());
        times.skip("miri", "`miri` is not installed".into());
        assert!(!times.is_complete());
        insta::assert_snapshot!(Shown(times, seconds(1990)), @"
        building                          60.0 s
        clippy                            80.0 s,   144.0 s of processors, 1.8 busy
        tests                           1850.0 s,  3145.0 s of processors, 1.7 busy
        miri                           not run: `miri` is not installed
        together                        1990.0 s,  3289.0 s of processors, 1.7 busy
        warning: this took 33 minutes, more than 30; see what can be faster
        ");
    }

    #[test]
    fn what_came_before_counts() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let times = Times::new(Some(now.as_secs() - 100), Duration::MAX);
        assert!((99..=102).contains(&times.rows[0].wall.as_secs()));
        assert!((99..=102).contains(&times.start.elapsed().as_secs()));
    }
}
