//! Schemas and processes of a trace in which every line names them: equal ones are shared.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{Call, ProcessId, Schema, Trace, Value};

/// The schemas and processes seen so far.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    schemas: HashSet<Arc<Schema>>,
    processes: HashMap<String, ProcessId>,
}

/// Arguments or results of a line: a name, empty for a positional one, and a value.
pub type Fields = Vec<(Arc<str>, Value)>;

impl Schemas {
    /// The process of this name, added to the trace if it is new.
    pub(super) fn process(&mut self, trace: &mut Trace, name: &str) -> ProcessId {
        if let Some(&process) = self.processes.get(name) {
            return process;
        }
        trace.processes.push(name.into());
        let process = ProcessId(trace.processes.len() as u32 - 1);
        self.processes.insert(name.into(), process);
        process
    }

    /// The number of shapes of calls and of processes that it remembers.
    pub(super) fn len(&self) -> usize {
        self.schemas.len() + self.processes.len()
    }

    /// A call of this action, which shares its schema with all calls of the same shape.
    pub(super) fn call(&mut self, action: &str, args: Fields, results: Fields) -> Call {
        let (arg_names, args): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let (result_names, results): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        let schema = Schema { action: action.into(), args: arg_names, results: result_names };
        let shared = match self.schemas.get(&schema) {
            Some(shared) => shared.clone(),
            None => {
                let shared = Arc::new(schema);
                self.schemas.insert(shared.clone());
                shared
            }
        };
        Call::new(shared, args.into_iter().chain(results)).expect("each name came with a value")
    }
}
