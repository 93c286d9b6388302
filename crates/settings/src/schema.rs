//! The JSON Schema of `omnilink.toml`, with which editors complete and check the file.
//!
//! It follows from the types of the settings. Types that read more than one form of a value, such as one name or a list
//! of names, have their schemas here.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};

use crate::log::{Argument, Choice, Conditions, Constant, Field, Init, Names, Source, Text};
use crate::{Feed, Settings};

/// The JSON Schema, as the text of a file.
pub fn json_schema() -> String {
    let mut schema = schema_for!(Settings);
    schema.insert("title".into(), "Settings of OmniLink".into());
    format!("{:#}\n", schema.to_value())
}

/// Any value of TOML.
pub(crate) struct Any;

/// Implements [`JsonSchema`] by an expression over the generator; the schema has no name of its own.
macro_rules! inline {
    ($kind:ty, $generator:ident => $schema:expr) => {
        impl JsonSchema for $kind {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

inline!(Any, _generator => json_schema!(true));
inline!(Text, _generator => json_schema!({ "type": "string" }));
inline!(Names, _generator => json_schema!({ "type": ["string", "array"], "items": { "type": "string" } }));
inline!(Feed, _generator => json_schema!({ "type": "string", "pattern": r"^(process|[^.]+\..+)$" }));
inline!(Constant, generator => {
    let source = generator.subschema_for::<Source>();
    json_schema!({ "anyOf": [{ "type": "string" }, source] })
});
inline!(Argument, generator => {
    let choice = generator.subschema_for::<Choice>();
    json_schema!({ "anyOf": [{ "type": ["string", "integer", "boolean"] }, choice] })
});
inline!(Conditions, generator => {
    let conditions = conditions(generator);
    json_schema!({ "anyOf": [{ "type": "string" }, conditions] })
});
inline!(Init, generator => {
    let mut schema = conditions(generator);
    let state = conditions(generator);
    schema.insert(
        "properties".into(),
        serde_json::json!({
            "bootstrap": { "type": "array", "items": { "type": "string" } },
            "set": { "type": "object", "additionalProperties": { "type": "string" } },
            "state": state,
        }),
    );
    schema
});

/// A table of expressions and their values.
fn conditions(generator: &mut SchemaGenerator) -> Schema {
    let field = generator.subschema_for::<Field>();
    let expected = json_schema!({ "anyOf": [{ "type": ["string", "integer", "boolean"] }, field] });
    json_schema!({ "type": "object", "additionalProperties": expected })
}
