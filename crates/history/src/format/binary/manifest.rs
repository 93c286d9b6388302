//! The manifest of a trace directory: format, unit of the clock, and notes of the recorder.

use serde_json::{Map, Value as Json};

use super::layout::VERSION;
use crate::format::error::{FormatError, Location, unknown_key};

/// The contents of `manifest.json`. Segments can be read without it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The unit of all times in the trace, such as `ns`.
    pub clock: Option<String>,
    /// Other data from the recorder, for display.
    pub meta: Map<String, Json>,
}

const FORMAT: &str = "omnilink-trace";
const KEYS: [&str; 4] = ["format", "version", "clock", "meta"];

impl Manifest {
    /// Reads the text of a manifest.
    pub fn read(bytes: &[u8]) -> Result<Manifest, FormatError> {
        let wrong = |message: String| FormatError::new(Location::Part("manifest.json".into(), 0), message);
        let json: Json = serde_json::from_slice(bytes).map_err(|error| wrong(format!("not JSON: {error}")))?;
        let Json::Object(mut fields) = json else { return Err(wrong("not a JSON object".into())) };
        if fields.get("format").and_then(Json::as_str) != Some(FORMAT) {
            return Err(wrong(format!("`format` is not `{FORMAT}`")));
        }
        match fields.get("version").and_then(Json::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => return Err(wrong(format!("unsupported format version {version} (expected {VERSION})"))),
            None => return Err(wrong("`version` is not a number".into())),
        }
        // Another version may have other keys, so the version is checked first.
        if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(unknown_key(Location::Part("manifest.json".into(), 0), key, &KEYS));
        }
        let clock = match fields.remove("clock") {
            None | Some(Json::Null) => None,
            Some(Json::String(unit)) => Some(unit),
            Some(other) => return Err(wrong(format!("`clock` is `{other}`, not a string"))),
        };
        let meta = match fields.remove("meta") {
            None | Some(Json::Null) => Map::new(),
            Some(Json::Object(meta)) => meta,
            Some(other) => return Err(wrong(format!("`meta` is `{other}`, not an object"))),
        };
        Ok(Manifest { clock, meta })
    }

    /// The text of the manifest.
    pub fn write(&self) -> String {
        let mut fields = Map::new();
        fields.insert("format".into(), FORMAT.into());
        fields.insert("version".into(), VERSION.into());
        fields.extend(self.clock.clone().map(|unit| ("clock".into(), unit.into())));
        if !self.meta.is_empty() {
            fields.insert("meta".into(), Json::Object(self.meta.clone()));
        }
        format!("{:#}\n", Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match Manifest::read(text.as_bytes()) {
            Ok(manifest) => {
                assert_eq!(Manifest::read(manifest.write().as_bytes()), Ok(manifest.clone()));
                format!("{manifest:?}")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn manifests_are_read_or_refused() {
        insta::assert_snapshot!(
            check(r#"{"format": "omnilink-trace", "version": 1, "clock": "ns", "meta": {"host": "a"}}"#),
            @r#"Manifest { clock: Some("ns"), meta: {"host": String("a")} }"#
        );
        insta::assert_snapshot!(check("{}"), @"manifest.json, byte 0: `format` is not `omnilink-trace`");
        insta::assert_snapshot!(
            check(r#"{"format": "omnilink-trace", "version": 2, "unit": "ns"}"#),
            @"manifest.json, byte 0: unsupported format version 2 (expected 1)"
        );
        insta::assert_snapshot!(
            check(r#"{"format": "omnilink-trace", "version": 1, "clok": "ns"}"#),
            @"manifest.json, byte 0: unknown key `clok`"
        );
    }
}
