//! Paths into lines of JSON: `msg.entries[1].term`, `changes[*].nid`.
//!
//! A path has the names of fields with dots between them. Elements of an array count from 1, as in TLA+, and `[*]` is
//! every element. A name with other characters is in quotes: `["trace-id"]`.

use std::fmt;

use omnilink_history::format::json::Json;

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(usize),
    Each,
}

impl Path {
    /// The path that a text is; `None` if it is not one.
    pub(crate) fn parse(text: &str) -> Option<Path> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                if let Some(quoted) = inside.strip_prefix('"') {
                    let (name, after) = quoted.split_once("\"]")?;
                    steps.push(Step::Field(name.to_owned()));
                    rest = after;
                    continue;
                }
                let (index, after) = inside.split_once(']')?;
                steps.push(match index {
                    "*" => Step::Each,
                    _ => Step::Index(index.parse().ok().filter(|index| *index > 0)?),
                });
                rest = after;
                continue;
            }
            let name = match (steps.is_empty(), rest.strip_prefix('.')) {
                (true, _) => rest,
                (false, Some(name)) => name,
                (false, None) => return None,
            };
            let length = name.find(['.', '[']).unwrap_or(name.len());
            let (field, after) = name.split_at(length);
            if !is_plain(field) {
                return None;
            }
            steps.push(Step::Field(field.to_owned()));
            rest = after;
        }
        (!steps.is_empty()).then_some(Path { steps })
    }

    /// The path of a field of the value there.
    pub(crate) fn field(&self, name: &str) -> Path {
        Path { steps: self.steps.iter().cloned().chain([Step::Field(name.to_owned())]).collect() }
    }

    /// The first field.
    pub(crate) fn first(&self) -> Option<&str> {
        self.steps.first().and_then(|step| if let Step::Field(name) = step { Some(name.as_str()) } else { None })
    }

    /// The value there, if there is one.
    pub(crate) fn find<'j>(&self, json: &'j Json) -> Option<&'j Json> {
        let mut all = self.find_all(json).into_iter();
        match (all.next(), all.next()) {
            (Some(found), None) => Some(found),
            _ => None,
        }
    }

    /// Every value there: several if the path has `[*]`.
    pub(crate) fn find_all<'j>(&self, json: &'j Json) -> Vec<&'j Json> {
        let mut found = vec![json];
        for step in &self.steps {
            let inside = |json: &'j Json| -> Vec<&'j Json> {
                match (step, json) {
                    (Step::Field(name), json) => json.field(name).into_iter().collect(),
                    (Step::Index(index), Json::Array(elements)) => elements.get(index - 1).into_iter().collect(),
                    (Step::Each, Json::Array(elements)) => elements.iter().collect(),
                    _ => Vec::new(),
                }
            };
            found = found.into_iter().flat_map(inside).collect();
        }
        found
    }

    /// True if this path leads into the other one, or the other into this.
    pub(crate) fn overlaps(&self, other: &Path) -> bool {
        self.steps.iter().zip(&other.steps).all(|(a, b)| a == b || matches!((a, b), (Step::Each, _) | (_, Step::Each)))
    }
}

/// Whether the name of a field needs no quotes.
fn is_plain(name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '@' || c == '$';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_of_name)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().enumerate() {
            match step {
                Step::Field(name) if !is_plain(name) => write!(f, "[\"{name}\"]")?,
                Step::Field(name) if place == 0 => write!(f, "{name}")?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Each => write!(f, "[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, json: &str) -> String {
        let json = Json::parse(json).expect("JSON");
        let Some(path) = Path::parse(path) else { return "not a path".to_owned() };
        format!("{path}: {}", path.find_all(&json).iter().map(|json| json.to_string()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn paths_lead_to_values() {
        let json = r#"{"a": {"b": [1, {"c": "x"}], "trace-id": 7}, "n": null}"#;
        assert_eq!(check("a.b[2].c", json), "a.b[2].c: \"x\"");
        assert_eq!(check("a.b[*]", json), "a.b[*]: 1 {\"c\":\"x\"}");
        assert_eq!(check("a.trace-id", json), "a.trace-id: 7");
        assert_eq!(check("a[\"trace-id\"]", json), "a.trace-id: 7");
        assert_eq!(check("a.x", json), "a.x: ");
        let odd = r#"{"a.b": {"c]": 1, "1": [2]}}"#;
        assert_eq!(check("[\"a.b\"][\"c]\"]", odd), "[\"a.b\"][\"c]\"]: 1");
        assert_eq!(check("[\"a.b\"][\"1\"][1]", odd), "[\"a.b\"][\"1\"][1]: 2");
        assert_eq!(check("n", json), "n: null");
        for text in ["n - 1", "a.", "a[0]", "<<a>>", "", "3", "a..b"] {
            assert_eq!(check(text, json), "not a path", "{text}");
        }
    }
}
