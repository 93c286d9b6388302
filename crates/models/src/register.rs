//! Registers: one value each, with or without compare-and-set.
//!
//! | operation | meaning |
//! |---|---|
//! | `write(value)` | replaces the value; also `set`, `put` |
//! | `read() = value` | the value; also `get` |
//! | `cas(from, to) = ok` | replaces `from` by `to`; `ok` is `FALSE` if it was not `from`; also `compare_and_set` |
//!
//! Only `cas-register` has `cas`. A `cas` that finished without a recorded result succeeded, because recorders mark
//! the others as failed. With a `key` as first argument there is one register for each key, and a history is decided
//! key by key.

use omnilink_history::{Call, History, Value};
use omnilink_search::Spec;
use omnilink_weak::registers::{self, Touch};

use crate::bind::Fields;
use crate::digits::Role;
use crate::model::at_most_one_successor;
use crate::unambiguous::Decision;
use crate::unambiguous::register::{Access, View, decide};
use crate::{About, Atom, BadCall, Interner, Model, Operation, Row};

const WRITE: Operation = Operation::new(
    "write(value)",
    "replaces the value; with `key` as first argument, that of one register among many",
    &["set", "put"],
);
const READ: Operation = Operation::new(
    "read() = value",
    "the value; with `key` as first argument, that of one register among many",
    &["get"],
);

/// Help text of a register that is only read and written.
pub const ABOUT: About = About {
    name: "register",
    summary: "a register, or one for each key",
    operations: &[WRITE, READ],
    options: &[("initial=0", "value before the first write [default: nil]")],
    takes_key: true,
};

/// Help text of a register with compare-and-set.
pub const ABOUT_CAS: About = About {
    name: "cas-register",
    summary: "a register with compare-and-set, or one for each key",
    operations: &[
        WRITE,
        READ,
        Operation::new(
            "cas(from, to) = ok",
            "replaces `from` by `to`; `ok` is `FALSE` if the value was not `from`",
            &["compare_and_set"],
        ),
    ],
    options: ABOUT.options,
    takes_key: true,
};

/// One register for each key, and one for all calls without a key.
#[derive(Debug)]
pub struct Register {
    initial: Atom,
    about: &'static About,
    atoms: Interner,
}

/// An operation on one register. Results that were not recorded are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Replaces the value.
    Write {
        /// The key of the register.
        key: Atom,
        /// The new value.
        value: Atom,
    },
    /// Reads the value.
    Read {
        /// The key of the register.
        key: Atom,
        /// The value.
        value: Atom,
    },
    /// Replaces one value by another.
    Cas {
        /// The key of the register.
        key: Atom,
        /// The value to replace.
        from: Atom,
        /// The new value.
        to: Atom,
        /// False if the value was a different one.
        ok: Option<bool>,
    },
}

/// The registers that do not hold the initial value.
pub type State = Row<(Atom, Atom), 2>;

impl Register {
    /// Registers that are only read and written.
    pub fn new(initial: &Value) -> Register {
        let atoms = Interner::default();
        Register { initial: atoms.give(Role::Value, initial), about: &ABOUT, atoms }
    }

    /// Registers with compare-and-set.
    pub fn with_cas(initial: &Value) -> Register {
        Register { about: &ABOUT_CAS, ..Register::new(initial) }
    }

    fn held(&self, state: &State, key: Atom) -> Atom {
        state.look_up(key).unwrap_or(self.initial)
    }

    /// The effect of an operation on its register. All must be on the same one.
    fn access(&self, key: Atom, op: &Op) -> Result<Access, String> {
        match *op {
            _ if self.partition(op) != Some(key) => Err("there are several registers".into()),
            Op::Write { value, .. } => Ok(Access::Write(value)),
            Op::Read { value, .. } => Ok(Access::Read(value)),
            Op::Cas { from, ok: Some(false), .. } => Ok(Access::Miss(from)),
            Op::Cas { from, to, .. } => Ok(Access::Replace(from, to)),
        }
    }

    fn show_op(&self, op: &Op) -> String {
        let value = |atom: Atom| self.atoms.value(atom);
        let (Op::Write { key, .. } | Op::Read { key, .. } | Op::Cas { key, .. }) = *op;
        let key = if key == Atom::UNKEYED { String::new() } else { value(key).to_string() };
        let comma = if key.is_empty() { "" } else { ", " };
        match *op {
            Op::Write { value: new, .. } => format!("write({key}{comma}{})", value(new)),
            Op::Read { value: held, .. } => format!("read({key}) = {}", value(held)),
            Op::Cas { from, to, ok, .. } => {
                let ok = ok.map(|ok| format!(" = {}", Value::Bool(ok))).unwrap_or_default();
                format!("cas({key}{comma}{}, {}){ok}", value(from), value(to))
            }
        }
    }

    /// The value of a register directly after this operation has taken effect.
    fn left_by(&self, op: &Op) -> Option<Atom> {
        match *op {
            Op::Write { value, .. } | Op::Read { value, .. } => Some(value),
            Op::Cas { to, ok: Some(true), .. } => Some(to),
            Op::Cas { .. } => None,
        }
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match *op {
            Op::Write { .. } => true,
            Op::Read { key, value } => self.held(state, key) == value,
            Op::Cas { key, from, ok, .. } => ok.is_none_or(|ok| ok == (self.held(state, key) == from)),
        }
    }
}

impl Spec for Register {
    at_most_one_successor!(|_| State::default());

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Self::Error> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        matches!(op, Op::Read { .. } | Op::Cas { ok: Some(false), .. })
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        self.partition(a) != self.partition(b) || (self.is_observer(a) && self.is_observer(b))
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Write { .. } | Op::Cas { ok: None, .. })
    }

    fn overwrites(&self, later: &Op, earlier: &Op) -> bool {
        matches!(later, Op::Write { .. }) && self.partition(later) == self.partition(earlier)
    }

    fn precludes(&self, earlier: &Op, later: &Op) -> bool {
        let Some(held) = self.left_by(earlier).filter(|_| self.partition(later) == self.partition(earlier)) else {
            return false;
        };
        match *later {
            Op::Read { value, .. } => value != held,
            Op::Cas { from, ok: Some(ok), .. } => ok != (from == held),
            Op::Write { .. } | Op::Cas { ok: None, .. } => false,
        }
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let value = |atom: Atom| self.atoms.value(atom);
        let (Op::Write { key, .. } | Op::Read { key, .. } | Op::Cas { key, .. }) = *op;
        let held = value(self.held(state, key));
        let register = if key == Atom::UNKEYED { "the register".into() } else { format!("register {}", value(key)) };
        Some(match *op {
            Op::Write { .. } => return None,
            Op::Read { value: returned, .. } => {
                format!("`read` returned {}, but {register} holds {held}", value(returned))
            }
            Op::Cas { ok: Some(false), .. } => format!("`cas` was refused, but {register} holds {held}"),
            Op::Cas { from, .. } => format!("`cas` replaced {}, but {register} holds {held}", value(from)),
        })
    }
}

impl Model for Register {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(self.about, op, &self.atoms)? else { return Ok(None) };
        let key = |is_keyed: bool| match is_keyed {
            true => fields.arg(0, &["key", "register"]).map(|value| self.atoms.key(value)),
            false => Ok(Atom::UNKEYED),
        };
        match fields.action() {
            "write" | "set" | "put" => {
                let is_keyed = fields.args_or_one_more(1, 2)?;
                let value = fields.arg(usize::from(is_keyed), &["value"])?;
                fields.acknowledged(Some(value))?;
                Ok(Some(Op::Write { key: key(is_keyed)?, value: self.atoms.atom(value) }))
            }
            "read" | "get" => {
                let key = key(fields.args_or_one_more(0, 1)?)?;
                fields.needs_result("value")?;
                let value = fields.result(&["value"])?.map(|value| self.atoms.atom(value));
                Ok(value.map(|value| Op::Read { key, value }))
            }
            "cas" | "compare_and_set" if self.about.name == ABOUT_CAS.name => {
                let is_keyed = fields.args_or_one_more(2, 3)?;
                let from = fields.arg(usize::from(is_keyed), &["from", "old", "expected"])?;
                let to = fields.arg(usize::from(is_keyed) + 1, &["to", "new", "value"])?;
                let ok = if fields.is_finished() { Some(fields.ok()?.unwrap_or(true)) } else { None };
                Ok(Some(Op::Cas { key: key(is_keyed)?, from: self.atoms.atom(from), to: self.atoms.atom(to), ok }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        self.is_enabled(state, op).then(|| {
            let mut next = state.clone();
            let new = match *op {
                Op::Write { key, value } => Some((key, value)),
                Op::Cas { key, from, to, .. } => (self.held(state, key) == from).then_some((key, to)),
                Op::Read { .. } => None,
            };
            match new {
                Some((key, value)) if value == self.initial => next.erase(key),
                Some((key, value)) => next.put(key, value),
                None => {}
            }
            next
        })
    }

    fn partition(&self, op: &Op) -> Option<Atom> {
        let (Op::Write { key, .. } | Op::Read { key, .. } | Op::Cas { key, .. }) = *op;
        Some(key)
    }

    fn touch(&self, op: &Op) -> Option<(Touch, u64)> {
        let (key, value, access) = match *op {
            Op::Read { key, value } => (key, value, registers::Access::Read),
            Op::Write { key, value } => (key, value, registers::Access::Write),
            Op::Cas { .. } => return None,
        };
        let touch = Touch { key: key.number(), value: value.number().into(), access };
        Some((touch, self.initial.number().into()))
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Some(self.atoms.save_map(state))
    }

    fn settled(&self, op: &Op) -> Option<State> {
        matches!(op, Op::Write { .. }).then(|| self.next(&State::default(), op)).flatten()
    }

    fn load(&self, saved: &Value) -> Option<State> {
        self.atoms.load_map(saved)
    }

    fn show(&self, state: &State) -> String {
        match &state[..] {
            [] => self.atoms.value(self.initial).to_string(),
            [(Atom::UNKEYED, value)] => self.atoms.value(*value).to_string(),
            all => self.atoms.show_map(all.iter().map(|&(key, value)| (key, self.atoms.value(value)))),
        }
    }

    fn has_procedure(&self) -> bool {
        true
    }

    fn decide(&self, history: &History<Op>) -> Decision {
        let key = history.ops().first().and_then(|op| self.partition(&op.call)).unwrap_or(Atom::UNKEYED);
        let access = |op: &omnilink_history::Op<Op>| self.access(key, &op.call);
        decide(&View { initial: self.initial, atoms: &self.atoms, access, show: |op: &Op| self.show_op(op) }, history)
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::Value;

    use crate::model::tests::{check, check_laws};
    use crate::register::Register;

    #[test]
    fn reads_see_the_last_write() {
        let register = Register::new(&Value::Int(0));
        insta::assert_snapshot!(
            check(&register, "read() = 0; write(1); read() = 1; write(0); read() = 1"),
            @"read() = 1: `read` returned 1, but the register holds 0"
        );
        insta::assert_snapshot!(
            check(&register, "write(a, 1); write(b, 2); read(a) = 1; read(b) = 1"),
            @r#"read(b) = 1: `read` returned 1, but register "b" holds 2"#
        );
        insta::assert_snapshot!(
            check(&register, "cas(0, 1)"),
            @"`cas` is not an operation of the model `register`, which has `write(value)`, `read() = value`"
        );
        insta::assert_snapshot!(
            check(&register, "write()"),
            @"`write` has 0 arguments, and the model `register` expects 1 or 2"
        );
        insta::assert_snapshot!(
            check(&register, "write(1) = FALSE"),
            @"the result `ok` of `write` is `FALSE`, not `TRUE`"
        );
    }

    #[test]
    fn compare_and_set_replaces_one_value_only() {
        let register = Register::with_cas(&Value::Nil);
        insta::assert_snapshot!(
            check(&register, "cas(nil, 1); cas(nil, 2)"),
            @"cas(nil, 2): `cas` replaced nil, but the register holds 1"
        );
        insta::assert_snapshot!(
            check(&register, "cas(1, 2)?; cas(1, 2)!; cas(1, 2) = FALSE; cas(nil, 2) = FALSE"),
            @"cas(nil, 2) = FALSE: `cas` was refused, but the register holds nil"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "write(1); write(2); write(a, 1)?; read() = 1; read() = nil; read(a) = 1; cas(1, 2); cas(2, nil)?; \
                     cas(1, 2) = FALSE; cas(a, nil, 1)";
        check_laws(&Register::with_cas(&Value::Nil), calls);
    }
}
