//! The JSON Schema of the settings: it accepts every file that is read, and refuses unknown keys and wrong types.
//!
//! The schema uses few keywords, so a small validator suffices; a keyword that it does not know fails the test.

use std::fs;
use std::path::{Path, PathBuf};

use omnilink_settings::{Settings, json_schema};
use serde_json::Value;

/// Why a value does not fit a schema.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let schema = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Bool(false) => return Err(format!("{at}: unknown key")),
        schema => schema.as_object().expect("a schema"),
    };
    let list = |rule: &Value| rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "format" | "$defs" => {}
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a path in the schema");
                check(root, root.pointer(path).expect("a definition"), value, at)?;
            }
            "type" if !list(rule).iter().any(|kind| is_of(value, kind.as_str().expect("a type"))) => {
                return Err(format!("{at}: expected {rule}, found {value}"));
            }
            "type" => {}
            "anyOf" => {
                let errors = list(rule).into_iter().map(|one| check(root, &one, value, at).err());
                if let Some(errors) = errors.collect::<Option<Vec<String>>>() {
                    return Err(errors.join("; "));
                }
            }
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}[{place}]"))?;
                }
            }
            "properties" | "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (key, inner) in value.as_object().into_iter().flatten() {
                    let at = format!("{at}.{key}");
                    match known.and_then(|known| known.get(key)) {
                        Some(property) if keyword == "properties" => check(root, property, inner, &at)?,
                        None if keyword == "additionalProperties" => check(root, rule, inner, &at)?,
                        _ => {}
                    }
                }
            }
            "required" => {
                let is_missing = |key: &Value| value.is_object() && value.get(key.as_str().expect("a key")).is_none();
                if let Some(key) = list(rule).iter().find(|key| is_missing(key)) {
                    return Err(format!("{at}: {key} is missing"));
                }
            }
            "minimum" if value.as_f64().is_some_and(|number| number < limit(rule)) => {
                return Err(format!("{at}: at least {rule}"));
            }
            "maximum" if value.as_f64().is_some_and(|number| number > limit(rule)) => {
                return Err(format!("{at}: at most {rule}"));
            }
            "minimum" | "maximum" => {}
            // The only pattern: `process`, or a field of an operation.
            "pattern" => {
                let is_field = |text: &str| text.split_once('.').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
                if !value.as_str().is_some_and(|text| text == "process" || is_field(text)) {
                    return Err(format!("{at}: {value} does not match {rule}"));
                }
            }
            other => panic!("the validator does not know `{other}`"),
        }
    }
    Ok(())
}

fn limit(rule: &Value) -> f64 {
    rule.as_f64().expect("a limit is a number")
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("the validator does not know the type `{other}`"),
    }
}

fn validate(text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(&json_schema()).expect("the schema is JSON");
    let table: toml::Table = text.parse().expect("TOML");
    check(&schema, &schema, &serde_json::to_value(table).expect("a value"), "settings")
}

/// The files with the settings of examples and templates.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "target" {
            files(&path, found);
        } else if name.ends_with(".toml") && !["Cargo.toml", "study.toml"].contains(&&*name) {
            found.push(path);
        }
    }
}

#[test]
fn every_file_that_is_read_fits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("examples"), &mut found);
    files(&root.join("crates/init/templates"), &mut found);
    assert!(found.len() > 30, "{found:?}");
    for path in found {
        let text = fs::read_to_string(&path).unwrap().replace("{harness}", "[harness]\nrun = [\"./harness\"]");
        Settings::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        validate(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn what_is_refused_does_not_fit() {
    let wrong = [
        "proces = \"p\"",
        "process = 1",
        "internal = \"Count\"",
        "[harness]\nbuilt = []",
        "[harness.values]\n\"Put.key\" = 3",
        "[harness.weights]\nPut = -1",
        "[harness.controlled]\nbuild = []",
        "[profile.ci]\nrun = 3",
        "[constants]\nElems = [\"elem\"]",
        "[operations.enq]\nactoin = \"Enqueue\"",
        "[log]\nevnt = \"e\"",
        "[[log.rule]]\nafter = 3",
        "[log.constants]\nN = { fiel = \"x\" }",
    ];
    for text in wrong {
        assert!(Settings::parse(text).is_err(), "{text} is read");
        assert!(validate(text).is_err(), "{text} fits the schema");
    }
}
