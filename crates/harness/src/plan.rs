//! The plan of a harness: the calls of the system, with their arguments and outcomes.
//!
//! A plan is independent of the target language. Its [lines](Plan::lines) are at the top of every generated file,
//! so that a file generated earlier can be compared with the current plan call by call.

use std::hash::Hasher as _;

use fnv::FnvHasher;
use omnilink_tla::program::Program;
use omnilink_tla::source::Site;

use crate::values::{Source, Type};

/// The plan of a harness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The name of the specification's file.
    pub spec: String,
    /// The calls of the system, in the order of the specification.
    pub calls: Vec<Call>,
    /// Actions that the harness does not support.
    pub unsupported: Vec<Unsupported>,
    /// Arguments whose values repeat only because the configuration gives their set few of them.
    pub repeated: Vec<Repeated>,
    /// The sets of the next-state relation, as written, with a recorded field, or `process`, that is taken from each.
    pub taken: Vec<(String, String)>,
}

/// A call of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name: usually that of its first outcome.
    pub name: String,
    /// Its weight relative to the other calls.
    pub weight: u32,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Its outcomes.
    pub outcomes: Vec<Outcome>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name and type.
    pub field: Field,
    /// The source of its values.
    pub source: Source,
}

/// A possible outcome of a call: one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The recorded name.
    pub action: String,
    /// The arguments of the call that it has: their indices, and the names under which they are recorded.
    pub arguments: Vec<(usize, String)>,
    /// The results, by the names under which they are recorded.
    pub results: Vec<Field>,
    /// Its location in the specification.
    pub place: String,
}

/// A name with a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// The set it is taken from, as written, if that set did not determine the type.
    pub guessed_from: Option<String>,
}

/// An action that the harness does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The action.
    pub action: String,
    /// Its location in the specification.
    pub place: String,
}

/// An argument whose values repeat, although a system may find out more with values that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The argument: `Enqueue.elem`.
    pub argument: String,
    /// The set it is taken from, as written.
    pub set: String,
    /// The recorded fields that are taken from this set, the argument first.
    pub fields: Vec<String>,
}

impl Plan {
    /// The plan in words, one outcome a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for call in &self.calls {
            for outcome in &call.outcomes {
                lines.push(format!("call {}: {}", call.name, call.signature(outcome)));
            }
        }
        lines.extend(self.unsupported.iter().map(|left_out| format!("unsupported {}", left_out.action)));
        lines
    }

    /// The outcome with a recorded name, and its call.
    pub fn outcome(&self, recorded: &str) -> Option<(&Call, &Outcome)> {
        self.calls.iter().find_map(|call| {
            call.outcomes.iter().find(|outcome| outcome.action == recorded).map(|outcome| (call, outcome))
        })
    }

    /// The recorded fields that are taken from a set with this name, in the form of `[constants]`.
    pub fn feeds(&self, set: &str) -> Vec<&str> {
        let mut feeds: Vec<&str> = Vec::new();
        for (_, field) in self.taken.iter().filter(|(words, _)| names_set(words, set)) {
            if !feeds.contains(&field.as_str()) {
                feeds.push(field);
            }
        }
        feeds
    }

    /// A hash of everything that affects the behavior of the harness.
    pub fn digest(&self) -> u64 {
        let Plan { spec: _, calls, unsupported, repeated: _, taken: _ } = self;
        let mut text = self.lines().join("\n");
        for call in calls {
            text.push_str(&format!("\n{} {}", call.name, call.weight));
            for argument in &call.arguments {
                text.push_str(&format!(" {}: {:?}", argument.field.name, argument.source));
            }
        }
        text.push_str(&format!("\n{}", unsupported.len()));
        // The same on every machine.
        let mut hasher = FnvHasher::default();
        hasher.write(text.as_bytes());
        hasher.finish()
    }
}

impl Call {
    /// An outcome as recorded: `Dequeue() = elem: integer`.
    pub fn signature(&self, outcome: &Outcome) -> String {
        let arguments = outcome.arguments.iter();
        let arguments = arguments.map(|(place, name)| format!("{name}: {}", self.arguments[*place].field.kind));
        let results = outcome.results.iter().map(|result| format!("{}: {}", result.name, result.kind));
        let (arguments, results) = (arguments.collect::<Vec<_>>().join(", "), results.collect::<Vec<_>>().join(", "));
        let equals = if results.is_empty() { "" } else { " = " };
        format!("{}({arguments}){equals}{results}", outcome.action)
    }

    /// The name under which an outcome is recorded. The first has the names of all, because a call begins as the first
    /// and may be any of them if it never returns.
    pub(crate) fn recorded(&self, place: usize) -> String {
        let names: Vec<&str> = self.outcomes.iter().map(|outcome| &*outcome.action).collect();
        if place == 0 { names.join("|") } else { names[place].to_owned() }
    }

    /// The only outcome, if there is exactly one.
    pub(crate) fn only(&self) -> Option<&Outcome> {
        match &*self.outcomes {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A location such as `Queue.tla:24`.
pub(crate) fn place(program: &Program, site: Site) -> String {
    let sources = &program.module.sources;
    format!("{}:{}", file_name(&sources.get(site.source).name), sources.start(site).line)
}

/// The last part of a path, safe in a line comment.
pub(crate) fn file_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.chars().map(|c| if c.is_control() || c == '`' { '_' } else { c }).collect()
}

/// Whether a set as written, such as `Elems \cup {Nil}`, has the name of another one in it.
pub(crate) fn names_set(words: &str, set: &str) -> bool {
    words == set || words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == set)
}
