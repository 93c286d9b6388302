//! `omnilink.toml`: what a specification cannot say about the recordings that are checked against it.
//!
//! Everything in it has a default, so that a specification and a recording that call things by the same names need none.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How recordings and a specification belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A module beside the specification that extends it and says what operations mean where the default is not right.
    pub companion: Option<String>,
    /// The parameter of actions that is the process of the operation.
    pub process: Option<String>,
    /// Actions that no operation records and that may happen at any time.
    pub internal: Vec<String>,
    /// The definition or constant that stands for no value.
    pub nil: Option<String>,
    /// Constants whose values come from the recording: the set of all values that these feeds bring.
    pub constants: BTreeMap<String, Vec<Feed>>,
    /// Operations that are not called like their actions, or have other fields.
    pub operations: BTreeMap<String, Mapping>,
}

/// What brings values for a constant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Feed {
    /// `process`: the processes.
    Process,
    /// `Dequeue.elem`: a field of an operation; `*.elem`: of any operation that has it.
    Field {
        /// The operation as it is recorded; none for any.
        operation: Option<String>,
        /// The field as it is recorded.
        field: String,
    },
}

/// How an operation is an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// The action; the one of the same name if it does not say.
    pub action: Option<String>,
    /// Fields that are not called like their parameters: field, parameter.
    pub fields: BTreeMap<String, String>,
    /// Fields that are no parameters.
    pub ignore: Vec<String>,
    /// Parameters that are not recorded: any value of the set that the next-state relation takes them from.
    pub any: Vec<String>,
}

/// Why settings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(String);

impl Settings {
    /// Reads settings.
    pub fn parse(text: &str) -> Result<Settings, BadSettings> {
        toml::from_str(text).map_err(|error| BadSettings(error.to_string().trim_end().to_owned()))
    }

    /// What they say about an operation.
    pub fn mapping(&self, operation: &str) -> Mapping {
        self.operations.get(operation).cloned().unwrap_or_default()
    }
}

impl TryFrom<String> for Feed {
    type Error = String;

    fn try_from(text: String) -> Result<Feed, String> {
        match text.split_once('.') {
            None if text == "process" => Ok(Feed::Process),
            Some((operation, field)) if !operation.is_empty() && !field.is_empty() => {
                let operation = (operation != "*").then(|| operation.to_owned());
                Ok(Feed::Field { operation, field: field.to_owned() })
            }
            _ => Err(format!("`{text}` is neither `process` nor of the form `Operation.field` or `*.field`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_said() {
        let text = r#"
            companion = "QueueTrace.tla"
            process = "p"
            internal = ["Compact"]
            nil = "Nil"
            [constants]
            Elems = ["enq.value", "*.elem"]
            Processes = ["process"]
            [operations.enq]
            action = "Enqueue"
            fields = { value = "elem" }
            ignore = ["took"]
            any = ["slot"]
        "#;
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings.constants["Processes"], [Feed::Process]);
        let any = Feed::Field { operation: None, field: "elem".into() };
        assert_eq!(settings.constants["Elems"][1], any);
        assert_eq!(settings.mapping("enq").fields["value"], "elem");
        assert_eq!(settings.mapping("deq"), Mapping::default());
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn mistakes_are_shown_where_they_stand() {
        insta::assert_snapshot!(Settings::parse("proces = \"p\"").unwrap_err(), @r#"
        TOML parse error at line 1, column 1
          |
        1 | proces = "p"
          | ^^^^^^
        unknown field `proces`, expected one of `companion`, `process`, `internal`, `nil`, `constants`, `operations`
        "#);
        insta::assert_snapshot!(Settings::parse("[constants]\nElems = [\"elem\"]").unwrap_err(), @r#"
        TOML parse error at line 2, column 9
          |
        2 | Elems = ["elem"]
          |         ^^^^^^^^
        `elem` is neither `process` nor of the form `Operation.field` or `*.field`
        "#);
    }
}
