//! A whole history beside its report: every operation, the order as far as one is known, and states on the way.
//!
//! A report speaks of tens of operations. Who wants to look around needs all of them, and there may be millions, so
//! they are kept in columns: what operations of one kind have in common stands in their [`Shape`], and values are
//! numbers or places in a table of texts.

use crate::data::State;

/// A whole history, as far as somebody may want to look at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The names of the processes, as they stand before the colon in the name of an operation.
    pub processes: Vec<String>,
    /// What operations of one kind have in common.
    pub shapes: Vec<Shape>,
    /// Every operation, by start.
    pub operations: Vec<Entry>,
    /// The values of all operations, one operation after the other.
    pub values: Vec<Datum>,
    /// The texts that values are places in.
    pub texts: Vec<String>,
    /// Where each of the operations that the report speaks of is, in the order of [`Report::operations`].
    ///
    /// [`Report::operations`]: crate::Report::operations
    pub mentioned: Vec<usize>,
    /// How many configurations were possible when an operation returned, for each operation; nought where that is not
    /// known, and empty if it is known nowhere.
    pub widths: Vec<u32>,
    /// The steps that every explanation has in common; for an accepted history, all steps.
    pub order: Vec<Placement>,
    /// States on the way: the last is the one after the first `until` steps of `order`, the one before it is one step
    /// earlier, and so on, as far back as anybody looked. Empty if states are not known.
    pub states: Vec<State>,
    /// All of `order`, unless somebody asked for an earlier stretch; then endings have no states.
    pub until: usize,
    /// So many of the last variables of each state are expressions that somebody asked for, and their values.
    pub watched: usize,
    /// How interpretations of a rejected history go on from there, in the order of [`Stuck::interpretations`]; not
    /// all if there are many.
    ///
    /// [`Stuck::interpretations`]: crate::Stuck::interpretations
    pub endings: Vec<Ending>,
    /// The operations that could have happened, as far as that is known.
    pub actions: Vec<String>,
}

/// What operations of one kind have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The action.
    pub action: String,
    /// The names of arguments; empty where a value is known by its place.
    pub args: Vec<String>,
    /// The names of results.
    pub results: Vec<String>,
    /// The names of what else was recorded.
    pub meta: Vec<String>,
    /// An operation as it is printed, around the values of arguments and results: one piece before each and one at the
    /// end.
    pub pieces: Vec<String>,
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its process: a place in [`Timeline::processes`].
    pub process: u32,
    /// How many operations its process called before it.
    pub index: u32,
    /// Its kind: a place in [`Timeline::shapes`].
    pub shape: u32,
    /// Its first value: a place in [`Timeline::values`]. It has as many as its shape has names.
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
    /// Anything else, as it is printed: a place in [`Timeline::texts`].
    Text(u32),
}

/// A step of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The operation that takes it: a place in [`Timeline::operations`].
    pub op: u32,
    /// True if the operation is not over with it.
    pub partway: bool,
}

/// How one interpretation goes on where they part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ending {
    /// The steps.
    pub steps: Vec<Placement>,
    /// The state after each; empty if states are not known.
    pub states: Vec<State>,
}

impl Shape {
    /// How many values an operation has.
    pub fn width(&self) -> usize {
        self.args.len() + self.results.len() + self.meta.len()
    }
}

impl Timeline {
    /// The values of an operation: arguments, results, what else was recorded.
    pub fn values(&self, entry: &Entry) -> &[Datum] {
        let width = self.shapes[entry.shape as usize].width();
        &self.values[entry.values..entry.values + width]
    }

    /// A value as it is printed.
    pub fn value(&self, datum: Datum) -> String {
        match datum {
            Datum::Number(number) => number.to_string(),
            Datum::Text(place) => self.texts[place as usize].clone(),
        }
    }

    /// An operation as it is printed: action, arguments, results.
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
