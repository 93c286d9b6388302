//! Parses printed values for the Informal Trace Format.
//!
//! A value is printed as TLA+, so the TLA+ parser reads it. Other texts, such as a state of a specification in Rust,
//! are left to the caller, which can write those too.

use std::collections::HashMap;

use omnilink_tla_syntax::ast::{Expr, Kind, Name, Unit};
use serde_json::{Map, Value, json};

/// Parses values, most of which it has parsed before: a step changes few variables.
#[derive(Default)]
pub(crate) struct Values {
    seen: HashMap<String, Option<Value>>,
}

/// The maximum number of cached values.
const MOST_SEEN: usize = 10_000;

impl Values {
    /// A printed value in the format, if it can be parsed.
    pub(crate) fn read(&mut self, text: &str) -> Option<Value> {
        if let Some(value) = self.seen.get(text) {
            return value.clone();
        }
        let value = read(text);
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        self.seen.insert(text.to_owned(), value.clone());
        value
    }
}

fn read(text: &str) -> Option<Value> {
    let module = format!("---- MODULE Value ----\nIt ==\n {}\n====\n", flattened(text));
    let parsed = omnilink_tla_syntax::parse(&module);
    if !parsed.errors.is_empty() {
        return None;
    }
    let units = parsed.module?.units;
    match &*units {
        [Unit::Definition(definition)] => value(&definition.body, &module),
        _ => None,
    }
}

/// The text with its functions written as applications, `Map(a, b, c, d)` for `(a :> b @@ c :> d)`, and with one element a
/// line. The parser reads neither long chains of operators nor columns far to the right.
fn flattened(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let (mut is_string, mut is_escaped) = (false, false);
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let is_sign = !is_string && (rest.starts_with(":>") || rest.starts_with("@@"));
        let (token, after) = rest.split_at(if is_sign { 2 } else { char.len_utf8() });
        out.push_str(match token {
            _ if is_string => token,
            "(" => "Map(",
            "," | ":>" | "@@" => ",\n ",
            _ => token,
        });
        (is_string, is_escaped) = match char {
            _ if is_escaped => (is_string, false),
            '"' => (!is_string, false),
            _ => (is_string, is_string && char == '\\'),
        };
        rest = after;
    }
    out
}

fn value(expr: &Expr, text: &str) -> Option<Value> {
    let all = |exprs: &[Expr]| exprs.iter().map(|expr| value(expr, text)).collect::<Option<Vec<Value>>>();
    Some(match &expr.kind {
        Kind::Boolean(value) => json!(value),
        Kind::String(value) => json!(value),
        Kind::Number(_) => json!({ "#bigint": expr.span.of(text) }),
        Kind::Tuple(elements) => json!(all(elements)?),
        Kind::Set(elements) => json!({ "#set": all(elements)? }),
        Kind::Record(fields) => {
            let field = |(name, expr): &(Name, Expr)| Some((name.text.clone(), value(expr, text)?));
            Value::Object(fields.iter().map(field).collect::<Option<Map<String, Value>>>()?)
        }
        Kind::Apply { prefixes, name, args } if prefixes.is_empty() => match (name.text.as_str(), &**args) {
            ("-.", [number]) => json!({ "#bigint": format!("-{}", digits(number, text)?) }),
            ("Map", pairs @ [_, ..]) if pairs.len().is_multiple_of(2) => {
                let pairs = pairs.chunks(2).map(all).collect::<Option<Vec<Vec<Value>>>>()?;
                json!({ "#map": pairs })
            }
            // A model value. The format has nothing else for it.
            (name, []) => json!(name),
            _ => return None,
        },
        _ => return None,
    })
}

fn digits<'a>(expr: &Expr, text: &'a str) -> Option<&'a str> {
    matches!(expr.kind, Kind::Number(_)).then(|| expr.span.of(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        read(text).map_or("no value".to_owned(), |value| value.to_string())
    }

    #[test]
    fn values_are_read_as_they_are_printed() {
        insta::assert_snapshot!(check("<<1, -2, TRUE>>"), @r##"[{"#bigint":"1"},{"#bigint":"-2"},true]"##);
        insta::assert_snapshot!(check(r#"{"a, \"b\" @@ c", Nil}"#), @r##"{"#set":["a, \"b\" @@ c","Nil"]}"##);
        insta::assert_snapshot!(check("[head |-> 1, tail |-> <<>>]"), @r##"{"head":{"#bigint":"1"},"tail":[]}"##);
        insta::assert_snapshot!(check("(1 :> {} @@ 3 :> <<2>> @@ <<1, 2>> :> [a |-> 0])"), @r##"{"#map":[[{"#bigint":"1"},{"#set":[]}],[{"#bigint":"3"},[{"#bigint":"2"}]],[[{"#bigint":"1"},{"#bigint":"2"}],{"a":{"#bigint":"0"}}]]}"##);
        insta::assert_snapshot!(check("-9223372036854775808"), @r##"{"#bigint":"-9223372036854775808"}"##);
        insta::assert_snapshot!(check("Some(3)"), @"no value");
        insta::assert_snapshot!(check("x == 1\ny"), @"no value");
        insta::assert_snapshot!(check("1 + 1"), @"no value");
        insta::assert_snapshot!(check("(1)"), @"no value");
    }

    #[test]
    fn values_may_be_long() {
        let numbers: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
        assert_eq!(read(&format!("<<{}>>", numbers.join(", "))).unwrap().as_array().unwrap().len(), 20_000);
        let pairs: Vec<String> = (0..5000).map(|number| format!("{number} :> \"{}\"", "x".repeat(100))).collect();
        assert_eq!(read(&format!("({})", pairs.join(" @@ "))).unwrap()["#map"].as_array().unwrap().len(), 5000);
    }
}
