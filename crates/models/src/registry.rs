//! Models by name.
//!
//! A model is selected by text such as `queue:capacity=4`: its name and, after a colon, options separated by commas.
//! Models have different types, so the code to run on the selected model is a [`Visitor`].

use std::str::FromStr;

use omnilink_history::Value;
use thiserror::Error;

use crate::bank::Bank;
use crate::counter::Counter;
use crate::kv::Kv;
use crate::kv_append::KvAppend;
use crate::mutex::Mutex;
use crate::priority_queue::PriorityQueue;
use crate::queue::Queue;
use crate::register::Register;
use crate::set::Set;
use crate::stack::Stack;
use crate::{About, Model, bank, counter, digits, kv, kv_append, mutex, priority_queue, queue, register, set, stack};

/// Code to run on any model.
pub trait Visitor {
    /// The result.
    type Output;

    /// Runs on the model.
    fn visit<M: Model>(self, model: M) -> Self::Output;
}

/// Why a text does not select a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadModel {
    /// The name is not that of a model.
    #[error("unrecognized specification `{name}`; {hint}")]
    UnknownModel {
        /// The name.
        name: String,
        /// The closest name, or all names.
        hint: String,
    },
    /// The model does not have this option.
    #[error("the model `{model}` has no option `{option}`{known}")]
    UnknownOption {
        /// The name of the model.
        model: &'static str,
        /// The option.
        option: String,
        /// The options of the model.
        known: String,
    },
    /// The value does not fit the option.
    #[error("the option `{option}` of the model `{model}` is `{value}`, not {expected}")]
    WrongOption {
        /// The name of the model.
        model: &'static str,
        /// The option.
        option: String,
        /// Its value.
        value: String,
        /// The expected kind of value.
        expected: &'static str,
    },
}

/// All models.
pub fn names() -> &'static [About] {
    const ALL: [About; 11] = [
        register::ABOUT,
        register::ABOUT_CAS,
        kv::ABOUT,
        kv_append::ABOUT,
        set::ABOUT,
        queue::ABOUT,
        stack::ABOUT,
        priority_queue::ABOUT,
        counter::ABOUT,
        mutex::ABOUT,
        bank::ABOUT,
    ];
    &ALL
}

/// Passes the model that a text selects to a visitor.
pub fn with_model<V: Visitor>(text: &str, visitor: V) -> Result<V::Output, BadModel> {
    Ok(text.parse::<Chosen>()?.visit(visitor))
}

/// A model that a text selects, with its options.
#[derive(Clone, Debug)]
pub struct Chosen {
    kind: Kind,
    reads_digits: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Register { initial: Value },
    CasRegister { initial: Value },
    Kv { absent: Value },
    KvAppend,
    Queue { capacity: Option<usize> },
    Stack { capacity: Option<usize> },
    PriorityQueue,
    Set,
    Counter { initial: i64 },
    Bank { balances: Vec<(Value, u32)> },
    Mutex,
}

impl FromStr for Chosen {
    type Err = BadModel;

    fn from_str(text: &str) -> Result<Chosen, BadModel> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let about = names().iter().find(|about| about.name == name).ok_or_else(|| {
            let known = || names().iter().map(|about| format!("`{}`", about.name)).collect::<Vec<_>>().join(", ");
            let hint = omnilink_suggest::hint(name, names().iter().map(|about| about.name));
            BadModel::UnknownModel {
                name: name.into(),
                hint: hint.unwrap_or_else(|| format!("expected one of {}", known())),
            }
        })?;
        let mut options = Options::new(about, options);
        let reads_digits = options.take_digits()?;
        let value = |text: &str| {
            let value = value(text);
            if reads_digits { digits::numbers(&value).unwrap_or(value) } else { value }
        };
        let kind = match about.name {
            "register" => Kind::Register { initial: options.take("initial").map_or(Value::Nil, value) },
            "cas-register" => Kind::CasRegister { initial: options.take("initial").map_or(Value::Nil, value) },
            "kv" => Kind::Kv { absent: options.take("absent").map_or(Value::Nil, value) },
            "queue" => Kind::Queue { capacity: options.take_number("capacity", "a number of values")? },
            "stack" => Kind::Stack { capacity: options.take_number("capacity", "a number of values")? },
            "counter" => Kind::Counter { initial: options.take_number("initial", "an integer")?.unwrap_or(0) },
            "bank" => {
                let mut balances = Vec::new();
                while let Some(&(account, _)) = options.rest.first() {
                    let balance = options.take_number(account, "a balance from 0 to 4294967295")?.unwrap_or(0);
                    balances.push((value(account), balance));
                }
                Kind::Bank { balances }
            }
            "kv-append" => Kind::KvAppend,
            "set" => Kind::Set,
            "priority-queue" => Kind::PriorityQueue,
            _ => Kind::Mutex,
        };
        options.finish()?;
        Ok(Chosen { kind, reads_digits })
    }
}

impl Chosen {
    /// Whether texts of digits are numbers.
    pub fn reads_digits(&self) -> bool {
        self.reads_digits
    }

    /// Passes a new model to a visitor. A model keeps every value that it has met, so each check has one of its own.
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        let visitor = Prepared { visitor, reads_digits: self.reads_digits };
        match &self.kind {
            Kind::Register { initial } => visitor.visit(Register::new(initial)),
            Kind::CasRegister { initial } => visitor.visit(Register::with_cas(initial)),
            Kind::Kv { absent } => visitor.visit(Kv::new(absent)),
            Kind::KvAppend => visitor.visit(KvAppend::new()),
            Kind::Queue { capacity } => visitor.visit(Queue::new(*capacity)),
            Kind::Stack { capacity } => visitor.visit(Stack::new(*capacity)),
            Kind::PriorityQueue => visitor.visit(PriorityQueue::new()),
            Kind::Set => visitor.visit(Set::new()),
            Kind::Counter { initial } => visitor.visit(Counter::new(*initial)),
            Kind::Bank { balances } => {
                visitor.visit(Bank::new(balances.iter().map(|(account, balance)| (account, *balance))))
            }
            Kind::Mutex => visitor.visit(Mutex::new()),
        }
    }
}

/// Sets the options that every model has.
struct Prepared<V> {
    visitor: V,
    reads_digits: bool,
}

impl<V: Visitor> Visitor for Prepared<V> {
    type Output = V::Output;

    fn visit<M: Model>(self, model: M) -> V::Output {
        if self.reads_digits {
            model.atoms().read_digits();
        }
        self.visitor.visit(model)
    }
}

/// The options that have not been taken yet.
struct Options<'a> {
    about: &'static About,
    rest: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    fn new(about: &'static About, text: &'a str) -> Options<'a> {
        let options = text.split(',').filter(|option| !option.is_empty());
        Options { about, rest: options.map(|option| option.split_once('=').unwrap_or((option, ""))).collect() }
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let place = self.rest.iter().position(|option| option.0 == name)?;
        Some(self.rest.remove(place).1)
    }

    /// Takes the option [`digits::OPTION`]. An account of a bank may have its name.
    fn take_digits(&mut self) -> Result<bool, BadModel> {
        let (name, wanted) = digits::OPTION.0.split_once('=').unwrap_or(digits::OPTION);
        match self.rest.iter().find(|option| option.0 == name).map(|option| option.1) {
            Some(given) if given == wanted => Ok(self.take(name).is_some()),
            Some(given) if self.about.name != bank::ABOUT.name => Err(BadModel::WrongOption {
                model: self.about.name,
                option: name.into(),
                value: given.into(),
                expected: "`number`",
            }),
            _ => Ok(false),
        }
    }

    fn take_number<T: FromStr>(&mut self, name: &str, expected: &'static str) -> Result<Option<T>, BadModel> {
        let Some(text) = self.take(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| BadModel::WrongOption {
            model: self.about.name,
            option: name.into(),
            value: text.into(),
            expected,
        })
    }

    fn finish(&self) -> Result<(), BadModel> {
        let Some((option, _)) = self.rest.first() else { return Ok(()) };
        let known = self.about.options.iter().chain([&digits::OPTION]).map(|(option, _)| format!("`{option}`"));
        let known = format!(", only {}", known.collect::<Vec<_>>().join(", "));
        Err(BadModel::UnknownOption { model: self.about.name, option: (*option).into(), known })
    }
}

/// Reads an integer, a truth value, `nil`, or a string with or without quotes.
fn value(text: &str) -> Value {
    match text {
        "nil" | "null" => Value::Nil,
        "TRUE" | "true" => Value::Bool(true),
        "FALSE" | "false" => Value::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(int) => Value::Int(int),
            Err(_) => {
                let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                Value::str(inside.unwrap_or(text))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::check;

    struct Run(&'static str);

    impl Visitor for Run {
        type Output = String;

        fn visit<M: Model>(self, model: M) -> String {
            check(&model, self.0)
        }
    }

    fn run(model: &str, calls: &'static str) -> String {
        with_model(model, Run(calls)).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn options_reach_the_model() {
        insta::assert_snapshot!(
            run("queue:capacity=1", "enqueue(1); enqueue(2) = TRUE"),
            @"enqueue(2) = TRUE: `enqueue` was not refused, but the queue is full: it holds 1 values"
        );
        insta::assert_snapshot!(
            run("register:initial=\"a\"", "read() = a; read() = nil"),
            @r#"read() = nil: `read` returned nil, but the register holds "a""#
        );
        insta::assert_snapshot!(run("kv:absent=\"\"", "get(1) = \"\""), @"accepted");
        insta::assert_snapshot!(run("counter:initial=-5", "read() = -5"), @"accepted");
        insta::assert_snapshot!(run("bank:alice=10,1=5", "read() = [alice: 10, 1: 5]"), @"accepted");
    }

    #[test]
    fn unrecognized_names_are_reported() {
        insta::assert_snapshot!(
            run("deque", ""),
            @"unrecognized specification `deque`; expected one of `register`, `cas-register`, `kv`, `kv-append`, `set`, `queue`, `stack`, `priority-queue`, `counter`, `mutex`, `bank`"
        );
        insta::assert_snapshot!(run("regster", ""), @"unrecognized specification `regster`; did you mean `register`?");
        insta::assert_snapshot!(run("queue:size=4", ""), @"the model `queue` has no option `size`, only `capacity=4`, `digits=number`");
        insta::assert_snapshot!(run("set:size=4", ""), @"the model `set` has no option `size`, only `digits=number`");
        insta::assert_snapshot!(run("set:digits=text", ""), @"the option `digits` of the model `set` is `text`, not `number`");
        insta::assert_snapshot!(
            run("stack:capacity=many", ""),
            @"the option `capacity` of the model `stack` is `many`, not a number of values"
        );
    }

    #[test]
    fn every_name_chooses_its_model() {
        for about in names() {
            let text = with_model(about.name, Run("nonsense()")).unwrap();
            assert!(text.contains(&format!("model `{}`", about.name)), "{text}");
        }
    }

    #[test]
    fn the_files_list_the_same_operations() {
        let files = [
            include_str!("register.rs"),
            include_str!("register.rs"),
            include_str!("kv.rs"),
            include_str!("kv_append.rs"),
            include_str!("set.rs"),
            include_str!("queue.rs"),
            include_str!("stack.rs"),
            include_str!("priority_queue.rs"),
            include_str!("counter.rs"),
            include_str!("mutex.rs"),
            include_str!("bank.rs"),
        ];
        for (about, file) in names().iter().zip(files) {
            for operation in about.operations {
                let beginning = format!("//! | `{}` |", operation.call);
                let row = file.lines().find(|line| line.starts_with(&beginning)).unwrap_or(about.name);
                assert!(row.starts_with(&beginning), "{}: {beginning}", about.name);
                for name in operation.names() {
                    assert!(row.contains(&format!("`{name}")), "{}: {name}", about.name);
                    let call: &'static str = format!("{name}(1, 1, 1, 1, 1)").leak();
                    let answer = with_model(about.name, Run(call)).unwrap();
                    assert!(answer.contains("arguments, and the model"), "{}: {answer}", about.name);
                }
            }
        }
    }
}
