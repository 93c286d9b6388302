//! Schemas of a trace in which every line names its fields: equal ones are shared.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Call, Schema, Value};

/// The schemas seen so far.
#[derive(Debug, Default)]
pub(super) struct Schemas(HashSet<Arc<Schema>>);

/// Arguments or results as a line gives them: a name, which is empty if there is none, and a value.
pub(super) type Fields = Vec<(Arc<str>, Value)>;

impl Schemas {
    /// A call of this action, which shares its schema with all calls of the same shape.
    pub(super) fn call(&mut self, action: &str, args: Fields, results: Fields) -> Call {
        let (arg_names, args): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let (result_names, results): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        let schema = Schema { action: action.into(), args: arg_names, results: result_names };
        let shared = match self.0.get(&schema) {
            Some(shared) => shared.clone(),
            None => {
                let shared = Arc::new(schema);
                self.0.insert(shared.clone());
                shared
            }
        };
        Call::new(shared, args.into_iter().chain(results)).expect("each name came with a value")
    }
}
