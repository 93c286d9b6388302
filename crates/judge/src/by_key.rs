//! A judge's checks of the operations of one key, and its answers about keys.

use std::sync::Arc;

use omnilink_history::{Call, Op, Value};
use omnilink_models::digits;

use crate::builtin::Builtin;
use crate::keys::{CheckedKey, Key, KeyOps, check_whole};
use crate::{Failed, Judge};

impl Judge {
    /// Checks the operations of one key.
    pub fn check_key(&self, key: Key<'_>) -> Result<CheckedKey, Failed> {
        if let Some(builtin) = self.against.builtin() {
            return builtin.check_key(&self.options, key);
        }
        #[cfg(feature = "tla")]
        if let Some(tla) = self.against.tla() {
            return tla.check_key(&self.options, key);
        }
        check_whole(&*self.against, &self.options, key)
    }

    /// Whether the result of one check of a key can be carried to the next one.
    pub fn carries(&self) -> bool {
        let nothing = Key { label: "", ops: &mut NoOps, begin: None, cut: Some(0), limits: &crate::Unlimited };
        self.check_key(nothing).is_ok()
    }

    /// Whether operations keep the argument of this name, which identifies the object. The operations of most built-in
    /// types have no such argument.
    pub fn takes_key(&self, name: &str) -> bool {
        self.against.builtin().is_none_or(|builtin| builtin.takes_key(name))
    }

    /// The key that separates operations: with the option that makes texts of digits numbers, the number.
    pub fn key(&self, key: Value) -> Value {
        let reads_digits = self.against.builtin().is_some_and(Builtin::reads_digits);
        if reads_digits { digits::numbers(&key).unwrap_or(key) } else { key }
    }

    /// The number that a key is, or prints as, and whether it is text. `None` for other keys, and for specifications that
    /// do not distinguish numbers and texts of digits, or for which that is not a mistake.
    pub fn digits_of(&self, key: &Value) -> Option<(Value, bool)> {
        let tells_apart = self.against.builtin().is_some_and(|builtin| !builtin.reads_digits());
        if tells_apart { digits::form(key) } else { None }
    }

    /// The state of a key after an operation, if it does not depend on the state before.
    pub fn settled(&self, op: &Op<Call>) -> Option<Value> {
        self.against.builtin()?.settled(op)
    }
}

/// No operations.
struct NoOps;

impl KeyOps for NoOps {
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed> {
        Ok(None)
    }

    fn processes(&self) -> &[Arc<str>] {
        &[]
    }

    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed> {
        Ok(Some(Vec::new()))
    }
}
