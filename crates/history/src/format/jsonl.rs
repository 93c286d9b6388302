//! JSON Lines: one operation per line, for people and for programs in any language. `FORMAT.md` specifies it.
//!
//! A line is parsed into a tree of our own rather than `serde_json`'s, because there a key that occurs twice would
//! silently lose its first value.

use std::io::Write;
use std::sync::Arc;
use std::{fmt, str};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Tree, json};

use crate::format::schemas::{Fields, Schemas};
use crate::format::{FormatError, Location, MAX_DEPTH, WriteError, unknown_key};
use crate::{Call, Cut, Record, Trace, Value};

const KEYS: [&str; 8] = ["process", "action", "args", "results", "start", "end", "failed", "meta"];

/// Reads a trace. A last line that breaks off is a cut; anything else that cannot be understood is an error.
pub fn read(bytes: &[u8]) -> Result<Trace, FormatError> {
    let mut trace = Trace::default();
    let mut schemas = Schemas::default();
    let mut offset = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let at = Location::Line(index + 1);
        let is_last = !line.ends_with(b"\n");
        let text = line.trim_ascii();
        let is_comment = text.is_empty() || text.starts_with(b"//") || text.starts_with(b"#");
        match if is_comment { Ok(None) } else { serde_json::from_slice(text).map(Some) } {
            Ok(None) => {}
            Ok(Some(json)) => {
                let record = read_record(json, &mut trace, &mut schemas);
                trace.records.push(record.map_err(|wrong| wrong.at(at))?);
            }
            Err(error) if is_last && (error.is_eof() || breaks_off(text)) => {
                let found = "the last line is incomplete".to_owned();
                trace.cuts.push(Cut { part: String::new(), at_byte: offset, found });
            }
            Err(error) => {
                // The parser knows the column, and counts its only line as line 1.
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                return Err(FormatError::new(at, format!("column {}: {message}", error.column())));
            }
        }
        offset += line.len() as u64;
    }
    Ok(trace)
}

/// Writes a trace, one operation per line.
pub fn write(trace: &Trace, mut out: impl Write) -> Result<(), WriteError> {
    for record in &trace.records {
        let line = write_record(trace, record);
        let line = line.map_err(|why| WriteError::Unwritable { call: record.call.to_string(), why })?;
        writeln!(out, "{}", Tree::Object(line))?;
    }
    Ok(out.flush()?)
}

/// True if a trace in this format may begin with this line, which may break off.
pub(super) fn detect(first_line: &str) -> bool {
    first_line.starts_with('{') && first_line.contains("\"action\"")
}

/// True if the text stops inside a character or inside the sign of a comment.
fn breaks_off(text: &[u8]) -> bool {
    text == b"/" || str::from_utf8(text).is_err_and(|error| error.error_len().is_none())
}

/// A JSON value in which no key occurs twice.
#[derive(Debug)]
enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer that only fits a time.
    Large(u64),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// What is wrong with a line.
struct Wrong {
    message: String,
    help: Option<&'static str>,
    unknown_key: bool,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: None, unknown_key: false }
    }

    fn help(self, help: &'static str) -> Wrong {
        Wrong { help: Some(help), ..self }
    }

    fn at(self, at: Location) -> FormatError {
        if self.unknown_key {
            return unknown_key(at, &self.message, &KEYS);
        }
        FormatError { at, message: self.message, help: self.help.map(str::to_owned) }
    }
}

fn read_record(json: Json, trace: &mut Trace, schemas: &mut Schemas) -> Result<Record, Wrong> {
    let Json::Object(fields) = json else {
        return Err(Wrong::new(format!("a line is {}, not an object", json.kind())));
    };
    let (mut process, mut action, mut start, mut end, mut failed) = (None, None, None, None, false);
    let (mut args, mut results, mut meta) = (Fields::new(), None, Vec::new());
    for (key, json) in fields {
        match key.as_str() {
            "process" => process = Some(read_process(json)?),
            "action" => action = Some(read_action(json)?),
            "args" => args = read_fields("args", json)?,
            "results" => results = Some(json),
            "start" => start = Some(read_time("start", &json)?),
            "end" if matches!(json, Json::Null) => {}
            "end" => end = Some(read_time("end", &json)?),
            "failed" => match json {
                Json::Bool(bool) => failed = bool,
                other => return Err(Wrong::new(format!("`failed` is {}, not `true` or `false`", other.kind()))),
            },
            "meta" => match json {
                Json::Object(fields) => meta = read_names(fields)?,
                other => return Err(Wrong::new(format!("`meta` is {}, not an object", other.kind()))),
            },
            _ => return Err(Wrong { unknown_key: true, ..Wrong::new(key) }),
        }
    }
    let missing = |key: &str| Wrong::new(format!("the key `{key}` is missing"));
    let process = trace.process(&process.ok_or_else(|| missing("process"))?);
    let action = action.ok_or_else(|| missing("action"))?;
    let start = start.ok_or_else(|| missing("start"))?;
    let results = match results {
        None => Fields::new(),
        Some(Json::Null) if end.is_none() => Fields::new(), // Programs that write every key do this.
        Some(json) => read_fields("results", json)?,
    };
    if end.is_none() && !results.is_empty() {
        let help = "an operation that never finished has no results; leave them out, or say when it ended";
        return Err(Wrong::new("there are `results` but no `end`").help(help));
    }
    let mut call = schemas.call(&action, args, results);
    call.failed = failed;
    call.meta = meta;
    Ok(Record { process, start, end, call })
}

fn read_process(json: Json) -> Result<String, Wrong> {
    match json {
        Json::Text(name) => Ok(name),
        Json::Int(number) => Ok(number.to_string()),
        Json::Large(number) => Ok(number.to_string()),
        other => Err(Wrong::new(format!("`process` is {}, not an integer or a string", other.kind()))),
    }
}

fn read_action(json: Json) -> Result<String, Wrong> {
    match json {
        Json::Text(name) => Ok(name),
        other => Err(Wrong::new(format!("`action` is {}, not a string", other.kind()))),
    }
}

fn read_time(key: &str, json: &Json) -> Result<u64, Wrong> {
    match *json {
        Json::Int(time) if time >= 0 => Ok(time as u64),
        Json::Large(time) => Ok(time),
        Json::Int(time) => Err(Wrong::new(format!("`{key}` is {time}, but times cannot be negative"))),
        Json::Number(time) => Err(Wrong::new(format!("`{key}` is {time}, which is not an integer of 64 bits"))
            .help("times are integers; count in a smaller unit, such as nanoseconds, instead of fractions")),
        _ => Err(Wrong::new(format!("`{key}` is {}, not an integer", json.kind()))),
    }
}

/// Arguments or results: named in an object, in order in an array, or a single one by itself.
fn read_fields(key: &str, json: Json) -> Result<Fields, Wrong> {
    match json {
        Json::Object(fields) => match fields.as_slice() {
            [(name, _)] if is_reserved(name) => Err(Wrong::new(format!("`{key}` is a value with `{name}`"))
                .help("an object gives names to arguments or results; put a single set or function into an array")),
            _ => read_names(fields),
        },
        Json::Array(elements) => {
            elements.into_iter().map(|element| Ok((Arc::from(""), read_value(element, 0)?))).collect()
        }
        scalar => Ok(vec![(Arc::from(""), read_value(scalar, 0)?)]),
    }
}

fn read_names(fields: Vec<(String, Json)>) -> Result<Fields, Wrong> {
    fields.into_iter().map(|(name, json)| Ok((name.into(), read_value(json, 0)?))).collect()
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "#set" | "#fun")
}

fn read_value(json: Json, depth: usize) -> Result<Value, Wrong> {
    let is_nested = matches!(json, Json::Array(_) | Json::Object(_));
    if is_nested && depth == MAX_DEPTH {
        return Err(Wrong::new(too_deep()));
    }
    match json {
        Json::Null => Ok(Value::Nil),
        Json::Bool(bool) => Ok(Value::Bool(bool)),
        Json::Int(int) => Ok(Value::Int(int)),
        Json::Large(number) => read_number(number as f64),
        Json::Number(number) => read_number(number),
        Json::Text(text) => Ok(Value::str(text)),
        Json::Array(elements) => Ok(Value::tuple(read_elements(elements, depth)?)),
        Json::Object(mut fields) => match fields.as_slice() {
            [(name, Json::Array(_))] if is_reserved(name) => {
                let Some((name, Json::Array(elements))) = fields.pop() else { unreachable!("it was just matched") };
                if name == "#set" {
                    Ok(Value::set(read_elements(elements, depth)?))
                } else {
                    read_function(elements, depth)
                }
            }
            [(name, other)] if is_reserved(name) => {
                Err(Wrong::new(format!("`{name}` is {}, not an array", other.kind())))
            }
            _ => {
                let pairs = fields.into_iter().map(|(name, json)| Ok((Value::str(name), read_value(json, depth + 1)?)));
                let pairs: Result<Vec<_>, Wrong> = pairs.collect();
                Ok(Value::function(pairs?).expect("no key occurs twice"))
            }
        },
    }
}

fn read_number(number: f64) -> Result<Value, Wrong> {
    Value::number(number).ok_or_else(|| Wrong::new("a number that is not finite"))
}

fn read_elements(elements: Vec<Json>, depth: usize) -> Result<Vec<Value>, Wrong> {
    elements.into_iter().map(|element| read_value(element, depth + 1)).collect()
}

fn read_function(elements: Vec<Json>, depth: usize) -> Result<Value, Wrong> {
    let mut pairs = Vec::with_capacity(elements.len());
    for element in elements {
        let pair = match element {
            Json::Array(pair) => <[Json; 2]>::try_from(pair).ok(),
            _ => None,
        };
        let [argument, result] = pair.ok_or_else(|| Wrong::new("`#fun` is not an array of pairs"))?;
        pairs.push((read_value(argument, depth + 1)?, read_value(result, depth + 1)?));
    }
    Value::function(pairs).ok_or_else(|| Wrong::new("`#fun` has two results for one argument"))
}

fn too_deep() -> String {
    format!("a value is nested deeper than {MAX_DEPTH}")
}

fn write_record(trace: &Trace, record: &Record) -> Result<Map<String, Tree>, String> {
    let call: &Call = &record.call;
    if record.end.is_none() && !call.results().is_empty() {
        return Err("it has results but no end".into());
    }
    let name = &trace.processes[record.process.index()];
    let number = name.parse::<u64>().ok().filter(|number| number.to_string() == **name);
    let mut line = Map::new();
    line.insert("process".into(), number.map_or_else(|| json!(**name), |number| json!(number)));
    line.insert("action".into(), call.action().into());
    if !call.args().is_empty() {
        line.insert("args".into(), write_fields(&call.schema().args, call.args())?);
    }
    if !call.results().is_empty() {
        line.insert("results".into(), write_fields(&call.schema().results, call.results())?);
    }
    line.insert("start".into(), record.start.into());
    line.extend(record.end.map(|end| ("end".to_owned(), end.into())));
    if call.failed {
        line.insert("failed".into(), true.into());
    }
    if !call.meta.is_empty() {
        line.insert("meta".into(), write_names(call.meta.iter().map(|(name, value)| (name, value)))?);
    }
    Ok(line)
}

fn write_fields(names: &[Arc<str>], values: &[Value]) -> Result<Tree, String> {
    if names.iter().all(|name| name.is_empty()) {
        return values.iter().map(|value| write_value(value, 0)).collect();
    }
    if let [name] = names
        && is_reserved(name)
    {
        return Err(format!("a single field has the reserved name `{name}`"));
    }
    write_names(names.iter().zip(values))
}

fn write_names<'a>(fields: impl Iterator<Item = (&'a Arc<str>, &'a Value)>) -> Result<Tree, String> {
    let mut object = Map::new();
    for (name, value) in fields {
        if object.insert((**name).into(), write_value(value, 0)?).is_some() {
            return Err(format!("the name `{name}` occurs twice"));
        }
    }
    Ok(Tree::Object(object))
}

fn write_value(value: &Value, depth: usize) -> Result<Tree, String> {
    let is_nested = matches!(value, Value::Tuple(_) | Value::Set(_) | Value::Function(_));
    if is_nested && depth == MAX_DEPTH {
        return Err(too_deep());
    }
    let elements = |elements: &[Value]| -> Result<Tree, String> {
        elements.iter().map(|each| write_value(each, depth + 1)).collect()
    };
    Ok(match value {
        Value::Nil => Tree::Null,
        Value::Bool(bool) => (*bool).into(),
        Value::Int(int) => (*int).into(),
        Value::Float(float) => float.get().into(),
        Value::Str(text) => (**text).into(),
        Value::Tuple(tuple) => elements(tuple)?,
        Value::Set(set) => json!({ "#set": elements(set.elements())? }),
        Value::Function(function) => {
            let names: Option<Vec<&str>> = function.pairs().iter().map(|(name, _)| name.as_str()).collect();
            let results = function.pairs().iter().map(|(_, result)| write_value(result, depth + 1));
            match names {
                Some(names) if !matches!(names.as_slice(), [name] if is_reserved(name)) => {
                    let fields = names.into_iter().zip(results).map(|(name, result)| Ok((name.to_owned(), result?)));
                    Tree::Object(fields.collect::<Result<_, String>>()?)
                }
                _ => {
                    let arguments = function.pairs().iter().map(|(argument, _)| write_value(argument, depth + 1));
                    let pairs = arguments.zip(results).map(|(argument, result)| Ok(json!([argument?, result?])));
                    json!({ "#fun": pairs.collect::<Result<Vec<_>, String>>()? })
                }
            }
        }
    })
}

impl Json {
    fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Int(_) | Json::Large(_) => "an integer",
            Json::Number(_) => "a number",
            Json::Text(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Json, E> {
        Ok(Json::Bool(bool))
    }

    fn visit_i64<E>(self, int: i64) -> Result<Json, E> {
        Ok(Json::Int(int))
    }

    fn visit_u64<E>(self, int: u64) -> Result<Json, E> {
        Ok(i64::try_from(int).map_or(Json::Large(int), Json::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Json::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(String, Json)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            fields.push((key, value));
        }
        let mut keys: Vec<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(A::Error::custom(format!("the key `{}` occurs twice", pair[0]))),
            None => Ok(Json::Object(fields)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The trace in the form in which people read it, or what is wrong.
    fn check(text: &str) -> String {
        let trace = match read(text.as_bytes()) {
            Ok(trace) => trace,
            Err(FormatError { help: Some(help), at, message }) => return format!("{at}: {message}; {help}"),
            Err(error) => return error.to_string(),
        };
        let lines = trace.records.iter().map(|Record { process, start, end, call }| {
            let (process, end) = (&trace.processes[process.index()], end.map_or("...".into(), |end| end.to_string()));
            let meta: Vec<String> = call.meta.iter().map(|(name, value)| format!(" | {name}: {value}")).collect();
            format!("{process} [{start} {end}] {call}{}", meta.concat())
        });
        lines.chain(trace.cuts.iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
    }

    /// One line with these fields added to what every line needs.
    fn check_line(fields: &str) -> String {
        check(&format!(r#"{{"process": 0, "action": "a", "start": 1, {fields}}}"#))
    }

    #[test]
    fn operations_are_read() {
        let text = r##"
            // Comments and empty lines are skipped.
            # These too.
            {"process": 0, "action": "put", "args": {"key": 1, "value": 2}, "results": {"ok": true}, "start": 10, "end": 20}
            {"process": "w", "action": "read", "results": null, "start": 18446744073709551614, "end": 18446744073709551615}
            {"process": "0", "action": "cas", "args": [1, 2], "start": 30, "end": 35, "failed": true, "meta": {"node": "n1"}}
            {"process": 0, "action": "push", "args": "x", "results": null, "start": 40, "end": null}
        "##;
        insta::assert_snapshot!(check(text), @r#"
        0 [10 20] put(key: 1, value: 2) = ok: TRUE
        w [18446744073709551614 18446744073709551615] read() = nil
        0 [30 35] cas(1, 2) failed | node: "n1"
        0 [40 ...] push("x")
        "#);
    }

    #[test]
    fn values_are_read_in_the_natural_way() {
        let values = r##"null, true, -3, 1.5, 4.0, 1e20, "s", [], [1, [2]], {"b": 1, "a": {}}, {"#set": [2, 1, 2]},
            {"#fun": [[0, "z"], [[1], "t"]]}, {"#set": 1, "x": 2}, 18446744073709551615"##;
        insta::assert_snapshot!(check_line(&format!(r#""args": [{}]"#, values.replace('\n', ""))), @r##"0 [1 ...] a(nil, TRUE, -3, 1.5, 4, 100000000000000000000, "s", <<>>, <<1, <<2>>>>, [a |-> <<>>, b |-> 1], {1, 2}, (0 :> "z" @@ <<1>> :> "t"), ("#set" :> 1 @@ "x" :> 2), 18446744073709552000)"##);
    }

    #[test]
    fn what_is_not_an_operation_is_refused() {
        let deep = format!(r#""args": [{}{}]"#, "[".repeat(33), "]".repeat(33));
        let fields = [
            r#""ends": 3"#,
            r#""type": "invoke""#,
            r#""end": 2.5"#,
            r#""end": -2"#,
            r#""end": "2""#,
            r#""results": [1]"#,
            r#""failed": 1"#,
            r#""meta": 1"#,
            r##""args": {"#set": [1]}"##,
            r##""args": [{"#set": 1}]"##,
            r##""args": [{"#fun": [[1]]}]"##,
            r##""args": [{"#fun": [[1, 2], [1, 3]]}]"##,
            r#""args": {"a": 1, "a": 2}"#,
            &deep,
        ];
        insta::assert_snapshot!(fields.map(check_line).join("\n"), @"
        line 1: unknown key `ends`; did you mean `end`?
        line 1: unknown key `type`; the keys are `process`, `action`, `args`, `results`, `start`, `end`, `failed`, `meta`
        line 1: `end` is 2.5, which is not an integer of 64 bits; times are integers; count in a smaller unit, such as nanoseconds, instead of fractions
        line 1: `end` is -2, but times cannot be negative
        line 1: `end` is a string, not an integer
        line 1: there are `results` but no `end`; an operation that never finished has no results; leave them out, or say when it ended
        line 1: `failed` is an integer, not `true` or `false`
        line 1: `meta` is an integer, not an object
        line 1: `args` is a value with `#set`; an object gives names to arguments or results; put a single set or function into an array
        line 1: `#set` is an integer, not an array
        line 1: `#fun` is not an array of pairs
        line 1: `#fun` has two results for one argument
        line 1: column 66: the key `a` occurs twice
        line 1: a value is nested deeper than 32
        ");
        let texts =
            ["7", r#"{"process": 0, "start": 1}"#, r#"{"process": 1.5}"#, "{\"process\"\n{}", "\n{\"process\" 0}"];
        insta::assert_snapshot!(texts.map(check).join("\n"), @"
        line 1: a line is an integer, not an object
        line 1: the key `action` is missing
        line 1: `process` is a number, not an integer or a string
        line 1: column 10: EOF while parsing an object
        line 2: column 12: expected `:`
        ");
    }

    #[test]
    fn a_last_line_that_breaks_off_is_a_cut() {
        let line =
            r#"{"process": "p", "action": "é\ud83d\ude00", "failed": false, "args": [null, -0.5e-1], "start": 1}"#;
        let text = format!("{line}\n");
        let two = text.repeat(2);
        for length in text.len() + 1..two.len() - 1 {
            let trace = read(&two.as_bytes()[..length]).unwrap();
            assert_eq!(trace.records.len(), 1);
            assert_eq!(trace.cuts[0].to_string(), "breaks off after 99 bytes: the last line is incomplete");
        }
        assert_eq!(read(&two.as_bytes()[..two.len() - 1]).unwrap().records.len(), 2);
        assert_eq!(read(text.as_bytes()).unwrap().cuts, []);
        assert_eq!(read(b"\n/").unwrap().cuts.len(), 1);
    }

    #[test]
    fn what_json_cannot_say_is_not_written() {
        let check = |args: Fields, results: Fields| {
            let mut trace = Trace::default();
            let (process, call) = (trace.process("0"), Schemas::default().call("a", args, results));
            trace.records.push(Record { process, start: 1, end: None, call });
            write(&trace, Vec::new()).unwrap_err().to_string()
        };
        let field = |name: &str| (Arc::from(name), Value::Nil);
        insta::assert_snapshot!(check(vec![field("x"), field("x")], vec![]), @"`a(x: nil, x: nil)` cannot be written in this format: the name `x` occurs twice");
        insta::assert_snapshot!(check(vec![field("#set")], vec![]), @r##"`a("#set": nil)` cannot be written in this format: a single field has the reserved name `#set`"##);
        insta::assert_snapshot!(check(vec![], vec![field("")]), @"`a() = nil` cannot be written in this format: it has results but no end");
        let deep = (0..33).fold(Value::Nil, |inner, _| Value::tuple([inner]));
        assert!(check(vec![("".into(), deep)], vec![]).ends_with("a value is nested deeper than 32"));
    }
}
