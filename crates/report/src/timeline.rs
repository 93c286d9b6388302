//! A whole history beside its report: every operation, the order as far as known, and intermediate states.
//!
//! A report mentions tens of operations. A viewer needs all of them, and there may be millions, so they are stored in
//! columns: the common part of operations of one kind is in their [`Shape`], and values are numbers or indices into a
//! table of texts.

use crate::data::State;

/// A whole history for a viewer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The names of the processes: the part of an operation's name before the colon.
    pub processes: Vec<String>,
    /// The common parts of operations of one kind.
    pub shapes: Vec<Shape>,
    /// Every operation, by start.
    pub operations: Vec<Entry>,
    /// The values of all operations, one operation after the other.
    pub values: Vec<Datum>,
    /// The texts that values index.
    pub texts: Vec<String>,
    /// The index of each operation that the report mentions, in the order of [`Report::operations`].
    ///
    /// [`Report::operations`]: crate::Report::operations
    pub mentioned: Vec<usize>,
    /// The number of configurations when an operation returned, for each operation; 0 where unknown, and empty if
    /// unknown everywhere.
    pub widths: Vec<u32>,
    /// The steps common to all explanations; for an accepted history, all steps.
    pub order: Vec<Placement>,
    /// Intermediate states: the last is the one after the first `until` steps of `order`, the one before it is one step
    /// earlier, and so on, as far back as requested. Empty if states are not known.
    pub states: Vec<State>,
    /// All of `order`, unless an earlier range was requested; then endings have no states.
    pub until: usize,
    /// The number of requested expressions: the last variables of each state are these expressions, with their values.
    pub watched: usize,
    /// How interpretations of a rejected history continue from there, in the order of [`Stuck::interpretations`]; only
    /// some if there are many.
    ///
    /// [`Stuck::interpretations`]: crate::Stuck::interpretations
    pub endings: Vec<Ending>,
    /// The operations that could have happened, as far as known.
    pub actions: Vec<String>,
    /// Messages: the sending and the receiving operation, as indices into `operations`. Empty unless operations are
    /// events of a log.
    pub messages: Vec<(u32, u32)>,
    /// Operations that did not see some operations before them, with these, as indices into `operations`. Empty unless
    /// the level lets them.
    pub missed: Vec<(u32, Vec<u32>)>,
    /// Steps that no operation shows, in the order of the behavior. Empty unless operations are events of a log.
    pub unlogged: Vec<Unlogged>,
}

/// The common part of operations of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The action.
    pub action: String,
    /// The names of arguments; empty if a value is identified by its position.
    pub args: Vec<String>,
    /// The names of results.
    pub results: Vec<String>,
    /// The names of further recorded fields.
    pub meta: Vec<String>,
    /// The printed form of an operation around the values of arguments and results: one piece before each and one at
    /// the end.
    pub pieces: Vec<String>,
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its process: an index into [`Timeline::processes`].
    pub process: u32,
    /// The number of operations that its process called before it.
    pub index: u32,
    /// Its kind: an index into [`Timeline::shapes`].
    pub shape: u32,
    /// Its first value: an index into [`Timeline::values`]. It has as many values as its shape has names.
    pub values: usize,
    /// A time before it began.
    pub start: u64,
    /// A time after it ended, if it did.
    pub end: Option<u64>,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Datum {
    /// A number.
    Number(i64),
    /// Anything else, as printed: an index into [`Timeline::texts`].
    Text(u32),
}

/// A step of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The operation: an index into [`Timeline::operations`].
    pub op: u32,
    /// True if the operation needs further steps.
    pub partway: bool,
}

/// A step that no operation shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlogged {
    /// The number of steps of [`Timeline::order`] before it.
    pub before: u32,
    /// Its action.
    pub action: String,
}

/// How one interpretation continues where they diverge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ending {
    /// The steps.
    pub steps: Vec<Placement>,
    /// The state after each; empty if states are not known.
    pub states: Vec<State>,
}

impl Shape {
    /// The number of values of an operation.
    pub fn width(&self) -> usize {
        self.args.len() + self.results.len() + self.meta.len()
    }
}

impl Timeline {
    /// The values of an operation: arguments, results, further recorded fields.
    pub fn values(&self, entry: &Entry) -> &[Datum] {
        let width = self.shapes[entry.shape as usize].width();
        &self.values[entry.values..entry.values + width]
    }

    /// A value as printed.
    pub fn value(&self, datum: Datum) -> String {
        match datum {
            Datum::Number(number) => number.to_string(),
            Datum::Text(place) => self.texts[place as usize].clone(),
        }
    }

    /// An operation as printed: action, arguments, results.
    pub fn text(&self, entry: &Entry) -> String {
        let pieces = &self.shapes[entry.shape as usize].pieces;
        let mut text = pieces.first().cloned().unwrap_or_default();
        for (datum, piece) in self.values(entry).iter().zip(pieces.iter().skip(1)) {
            text += &self.value(*datum);
            text += piece;
        }
        text
    }

    /// The name of an operation, such as `T3:12`.
    pub fn name(&self, entry: &Entry) -> String {
        format!("{}:{}", self.processes[entry.process as usize], entry.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_print_as_they_were_recorded() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let shape = Shape {
            action: "Cas".into(),
            args: words(&["old", "new"]),
            results: words(&[""]),
            meta: words(&["node"]),
            pieces: words(&["Cas(old: ", ", new: ", ") = ", ""]),
        };
        let entry = Entry { process: 0, index: 12, shape: 0, values: 1, start: 5, end: None };
        let numbers = [Datum::Number(9), Datum::Number(-1), Datum::Number(2), Datum::Text(0), Datum::Text(1)];
        let timeline = Timeline {
            processes: words(&["T3"]),
            shapes: vec![shape],
            operations: vec![entry],
            values: numbers.to_vec(),
            texts: words(&["TRUE", "\"n1\""]),
            ..Timeline::default()
        };
        assert_eq!(timeline.text(&entry), "Cas(old: -1, new: 2) = TRUE");
        assert_eq!(timeline.name(&entry), "T3:12");
        assert_eq!(timeline.values(&entry)[3..], [Datum::Text(1)]);
    }
}
