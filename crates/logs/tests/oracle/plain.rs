//! Values as the oracle sees them: ordinary collections, read from JSON and from states without code of the crate.

use std::collections::{BTreeMap, BTreeSet};

use omnilink_tla::strings::Strings;
use omnilink_tla::value::Value;
use serde_json::{Value as Json, json};

/// A value. A record is a function on strings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Plain {
    Bool(bool),
    Int(i64),
    Str(String),
    Set(BTreeSet<Plain>),
    Seq(Vec<Plain>),
    Fun(BTreeMap<Plain, Plain>),
}

impl Plain {
    pub(crate) fn str(text: &str) -> Plain {
        Plain::Str(text.to_owned())
    }

    pub(crate) fn of(value: &Value, strings: &Strings) -> Plain {
        let of = |value: &Value| Plain::of(value, strings);
        match value {
            Value::Bool(truth) => Plain::Bool(*truth),
            Value::Int(number) => Plain::Int(*number),
            Value::Str(text) => Plain::str(strings.text(text)),
            Value::Set(set) => Plain::Set(set.elements().iter().map(of).collect()),
            Value::Seq(seq) => Plain::Seq(seq.elements().iter().map(of).collect()),
            Value::Fun(fun) => {
                let keys = fun.domain().elements().iter().map(of);
                Plain::Fun(keys.zip(fun.values().iter().map(of)).collect())
            }
            Value::Model(_) => panic!("the specifications have no model values"),
        }
    }

    pub(crate) fn read(json: &Json) -> Plain {
        match json {
            Json::Null => panic!("the logs have no null"),
            Json::Bool(truth) => Plain::Bool(*truth),
            Json::Number(number) => Plain::Int(number.as_i64().expect("an integer")),
            Json::String(text) => Plain::str(text),
            Json::Array(elements) => Plain::Seq(elements.iter().map(Plain::read).collect()),
            Json::Object(fields) => {
                Plain::Fun(fields.iter().map(|(name, value)| (Plain::str(name), Plain::read(value))).collect())
            }
        }
    }

    /// As JSON; a set becomes an array.
    pub(crate) fn json(&self) -> Json {
        match self {
            Plain::Bool(truth) => json!(truth),
            Plain::Int(number) => json!(number),
            Plain::Str(text) => json!(text),
            Plain::Set(elements) => elements.iter().map(Plain::json).collect(),
            Plain::Seq(elements) => elements.iter().map(Plain::json).collect(),
            Plain::Fun(pairs) => Json::Object(pairs.iter().map(|(key, value)| (key.text(), value.json())).collect()),
        }
    }

    /// Whether reading its JSON gives it back.
    pub(crate) fn is_faithful(&self) -> bool {
        match self {
            Plain::Bool(_) | Plain::Int(_) | Plain::Str(_) => true,
            Plain::Set(_) => false,
            Plain::Seq(elements) => elements.iter().all(Plain::is_faithful),
            Plain::Fun(pairs) => pairs.iter().all(|(key, value)| matches!(key, Plain::Str(_)) && value.is_faithful()),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Plain::Str(text) => text.clone(),
            Plain::Int(number) => number.to_string(),
            other => panic!("{other:?} is not a key"),
        }
    }

    /// The value of a function or sequence at a key; `None` outside its domain.
    pub(crate) fn at(&self, key: &Plain) -> Option<&Plain> {
        match (self, key) {
            (Plain::Fun(pairs), key) => pairs.get(key),
            (Plain::Seq(elements), Plain::Int(index)) => elements.get(usize::try_from(index - 1).ok()?),
            _ => None,
        }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> i64 {
        let len = match self {
            Plain::Set(elements) => elements.len(),
            Plain::Seq(elements) => elements.len(),
            other => panic!("{other:?} has no elements"),
        };
        i64::try_from(len).expect("small")
    }

    pub(crate) fn int(&self) -> i64 {
        if let Plain::Int(number) = self { *number } else { panic!("{self:?} is not a number") }
    }

    /// The operations of a log that change this value to another one; `None` if JSON has no form for it.
    pub(crate) fn changes(&self, to: &Plain, path: &[Json], rng: &mut fastrand::Rng) -> Option<Vec<Json>> {
        let op = |name: &str, args: Vec<Json>| json!({"op": name, "path": path, "args": args});
        if self == to {
            return Some(if rng.bool() { Vec::new() } else { vec![op("Unchanged", Vec::new())] });
        }
        match (self, to) {
            (Plain::Set(from), Plain::Set(to)) => {
                if to.is_empty() && rng.bool() {
                    return Some(vec![op("Clear", Vec::new())]);
                }
                let added = to.difference(from).map(|element| ("AddElement", element));
                let removed = from.difference(to).map(|element| ("RemoveElement", element));
                let all: Vec<(&str, &Plain)> = added.chain(removed).collect();
                let is_faithful = all.iter().all(|(_, element)| element.is_faithful());
                is_faithful.then(|| all.into_iter().map(|(name, element)| op(name, vec![element.json()])).collect())
            }
            (Plain::Seq(from), Plain::Seq(to)) if to.len() == from.len() + 1 && to.starts_with(from) => {
                Some(vec![op("AppendElement", vec![to.last().expect("longer").json()])])
            }
            (Plain::Fun(from), Plain::Fun(to)) if rng.u8(..4) > 0 && from.keys().eq(to.keys()) => {
                let mut all = Vec::new();
                for ((key, before), after) in from.iter().zip(to.values()).filter(|((_, a), b)| a != b) {
                    if after.is_faithful() && rng.u8(..3) == 0 {
                        all.push(op("SetKey", vec![key.json(), after.json()]));
                        continue;
                    }
                    let path: Vec<Json> = path.iter().cloned().chain([key.json()]).collect();
                    all.extend(before.changes(after, &path, rng)?);
                }
                Some(all)
            }
            (Plain::Int(from), Plain::Int(to)) if rng.bool() => Some(vec![match to > from {
                true => op("Add", vec![json!(to - from)]),
                false => op("Sub", vec![json!(from - to)]),
            }]),
            _ => to.is_faithful().then(|| vec![op("Update", vec![to.json()])]),
        }
    }

    /// The value after an operation of a log; `None` if it cannot be applied.
    pub(crate) fn changed(&self, operation: &Json) -> Option<Plain> {
        let list = |name: &str| operation[name].as_array().expect("an array").iter().map(Plain::read).collect();
        let (path, args): (Vec<Plain>, Vec<Plain>) = (list("path"), list("args"));
        self.changed_at(&path, operation["op"].as_str().expect("a name"), &args)
    }

    fn changed_at(&self, path: &[Plain], op: &str, args: &[Plain]) -> Option<Plain> {
        if let Some((key, rest)) = path.split_first() {
            let inner = self.at(key)?.changed_at(rest, op, args)?;
            return self.with(key, inner);
        }
        match (op, self) {
            ("Unchanged", _) => Some(self.clone()),
            ("Clear", _) => Some(Plain::Set(BTreeSet::new())),
            ("Update", _) => Some(args[0].clone()),
            ("AddElement", Plain::Set(set)) => Some(Plain::Set(set.iter().chain([&args[0]]).cloned().collect())),
            ("RemoveElement", Plain::Set(set)) => {
                Some(Plain::Set(set.iter().filter(|element| **element != args[0]).cloned().collect()))
            }
            ("AppendElement", Plain::Seq(seq)) => Some(Plain::Seq(seq.iter().chain([&args[0]]).cloned().collect())),
            ("SetKey", _) => self.at(&args[0]).and_then(|_| self.with(&args[0], args[1].clone())),
            ("Add", Plain::Int(number)) => Some(Plain::Int(number + args[0].int())),
            ("Sub", Plain::Int(number)) => Some(Plain::Int(number - args[0].int())),
            _ => None,
        }
    }

    fn with(&self, key: &Plain, value: Plain) -> Option<Plain> {
        let mut changed = self.clone();
        match (&mut changed, key) {
            (Plain::Fun(pairs), key) => drop(pairs.insert(key.clone(), value)),
            (Plain::Seq(elements), Plain::Int(index)) => elements[usize::try_from(index - 1).ok()?] = value,
            _ => return None,
        }
        Some(changed)
    }
}
