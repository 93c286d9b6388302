//! The states and operations that one check of a key leaves to the next one, as text in a column.

use std::sync::Arc;

use omnilink_history::format::json::Json;
use omnilink_history::format::jsonl::{self, read_value_of, write_value_of};
use omnilink_history::{Call, Op, Record, Trace, Value};

/// The states of a key at an instant without operations in flight, and the operations since.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Carried {
    /// No operation of the next check may start before this time.
    pub(crate) cut: u64,
    pub(crate) states: Vec<Value>,
    /// The operations, by increasing start.
    pub(crate) since: Trace,
}

impl Carried {
    /// Takes the operations of one check that the next one needs.
    pub(crate) fn new(cut: u64, states: Vec<Value>, processes: &[Arc<str>], since: &[Op<Call>]) -> Carried {
        let record = |op: &Op<Call>| Record {
            process: op.process,
            start: op.interval.start(),
            end: op.interval.into(),
            call: op.call.clone(),
        };
        let records = since.iter().map(record).collect();
        Carried { cut, states, since: Trace { processes: processes.to_vec(), records, ..Trace::default() } }
    }

    pub(crate) fn read(text: &str) -> Result<Carried, String> {
        let json = Json::parse(text).map_err(|problem| problem.message)?;
        let field = |name: &str| json.field(name).ok_or_else(|| format!("`{name}` is missing"));
        let elements = |name: &str| match field(name)? {
            Json::Array(elements) => Ok(elements),
            other => Err(format!("`{name}` is {}, not an array", other.kind())),
        };
        let cut = field("cut")?.to_string().parse().map_err(|_| "`cut` is not a time".to_owned())?;
        let states = elements("states")?.iter().map(|state| read_value_of(&state.to_string()));
        let states = states.collect::<Result<_, _>>()?;
        let lines: String = elements("operations")?.iter().map(|operation| format!("{operation}\n")).collect();
        let since = jsonl::read(lines.as_bytes()).map_err(|error| error.to_string())?;
        Ok(Carried { cut, states, since })
    }

    pub(crate) fn write(&self) -> Result<String, String> {
        let states = self.states.iter().map(write_value_of).collect::<Result<Vec<_>, _>>()?.join(",");
        let mut lines = Vec::new();
        jsonl::write(&self.since, &mut lines).map_err(|error| error.to_string())?;
        let operations = String::from_utf8_lossy(&lines).trim_end().replace('\n', ",");
        Ok(format!("{{\"cut\":{},\"states\":[{states}],\"operations\":[{operations}]}}", self.cut))
    }
}
