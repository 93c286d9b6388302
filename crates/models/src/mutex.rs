//! Locks that only the process that took them can release.
//!
//! | operation | meaning |
//! |---|---|
//! | `acquire() = ok` | takes the lock; also `lock`; may be blocked at the end if the lock is held |
//! | `try_lock() = ok` | takes the lock; `ok` is `FALSE` if it is held |
//! | `release() = ok` | releases the lock; also `unlock`; `ok` is `FALSE` if the process did not hold it |
//!
//! With a `key` as first argument there is one lock for each key, and a history is decided key by key. A process that
//! takes a lock that it already holds is blocked for ever, as for any other holder.

use omnilink_history::{Call, Outcome, ProcessId, Value};
use omnilink_search::Spec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::{About, Atom, BadCall, Interner, Model, Operation, Row};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "mutex",
    summary: "a lock that only its holder can release, or one for each key",
    operations: &[
        Operation::new("acquire() = ok", "takes the lock", &["lock"]),
        Operation::new("try_lock() = ok", "takes the lock; `ok` is `FALSE` if it is held", &[]),
        Operation::new(
            "release() = ok",
            "releases the lock; `ok` is `FALSE` if the process did not hold it",
            &["unlock"],
        ),
    ],
    options: &[],
    takes_key: true,
};

/// One lock for each key, and one for all calls without a key. All are free at first.
#[derive(Debug, Default)]
pub struct Mutex {
    atoms: Interner,
}

/// An operation of a process on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// The key of the lock.
    pub key: Atom,
    /// The calling process.
    pub process: ProcessId,
    /// Whether it takes or releases the lock.
    pub action: Action,
    /// Whether it succeeded, if recorded.
    pub ok: Option<bool>,
}

/// The actions on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Takes the lock.
    Acquire,
    /// Releases the lock.
    Release,
}

/// The locks that are held, and the numbers of the processes that hold them.
pub type State = Row<(Atom, u32), 2>;

impl Mutex {
    /// Locks that are all free.
    pub fn new() -> Mutex {
        Mutex::default()
    }

    fn is_possible(&self, state: &State, op: &Op) -> bool {
        let holder = holder(state, op.key);
        match op.action {
            Action::Acquire => holder.is_none(),
            Action::Release => holder == Some(op.process),
        }
    }
}

fn holder(state: &State, key: Atom) -> Option<ProcessId> {
    state.look_up(key).map(ProcessId)
}

impl Spec for Mutex {
    at_most_one_successor!(|_| State::default());

    fn is_observer(&self, op: &Op) -> bool {
        op.ok == Some(false)
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        a.key != b.key || (self.is_observer(a) && self.is_observer(b))
    }

    fn is_total(&self, op: &Op) -> bool {
        op.ok.is_none()
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.next(state, op).is_some() {
            return None;
        }
        let lock =
            if op.key == Atom::UNKEYED { "the lock".into() } else { format!("lock {}", self.atoms.value(op.key)) };
        let refused = if op.ok == Some(false) { "this operation did not succeed, but " } else { "" };
        Some(match holder(state, op.key) {
            Some(holder) if holder == op.process => format!("{refused}{lock} is held by {holder} itself"),
            Some(holder) => format!("{refused}{lock} is held by {holder}"),
            None => format!("{refused}{lock} is free"),
        })
    }
}

impl Model for Mutex {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of_any(&ABOUT, op, &self.atoms) else { return Ok(None) };
        let (action, is_try) = match fields.action() {
            "acquire" | "lock" => (Action::Acquire, false),
            "try_lock" => (Action::Acquire, true),
            "release" | "unlock" => (Action::Release, false),
            _ => return Err(fields.unknown()),
        };
        let key = match fields.args_or_one_more(0, 1)? {
            true => self.atoms.key(fields.arg(0, &["key", "lock"])?),
            false => Atom::UNKEYED,
        };
        if is_try && op.outcome() != Outcome::Blocked {
            fields.needs_result("ok")?;
        }
        if op.outcome() == Outcome::Blocked {
            // It did not get the lock, like an attempt that is refused.
            return match action {
                Action::Acquire if !is_try => Ok(Some(Op { key, process: op.process, action, ok: Some(false) })),
                _ => Err(BadCall::Blocked { call: op.call.to_string(), model: ABOUT.name }),
            };
        }
        let mut ok = if fields.acknowledged(None).is_ok() && !is_try { None } else { fields.ok()? };
        // A finished operation that was not refused has happened. Only an attempt may have ended either way.
        if fields.is_finished() && !is_try && ok.is_none() {
            ok = Some(true);
        }
        Ok(Some(Op { key, process: op.process, action, ok }))
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        let is_possible = self.is_possible(state, op);
        op.ok.is_none_or(|ok| ok == is_possible).then(|| {
            let mut next = state.clone();
            match op.action {
                Action::Acquire if is_possible => next.put(op.key, op.process.0),
                Action::Release if is_possible => next.erase(op.key),
                _ => {}
            }
            next
        })
    }

    fn partition(&self, op: &Op) -> Option<Atom> {
        Some(op.key)
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_map(state.iter().map(|&(lock, owner)| (lock, Value::str(ProcessId(owner).to_string()))))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::tests::{check, check_laws};
    use crate::mutex::Mutex;

    #[test]
    fn one_process_holds_the_lock() {
        insta::assert_snapshot!(
            check(&Mutex::new(), "T1 acquire(); T1 release(); T2 lock(); T2 unlock() = TRUE; T1 unlock()"),
            @"T1 unlock(): the lock is free"
        );
        insta::assert_snapshot!(
            check(&Mutex::new(), "T2 acquire(); T1 acquire()"),
            @"T1 acquire(): the lock is held by T2"
        );
        insta::assert_snapshot!(
            check(&Mutex::new(), "T2 acquire(a); T2 acquire(b); T2 acquire(a)"),
            @r#"T2 acquire(a): lock "a" is held by T2 itself"#
        );
        insta::assert_snapshot!(
            check(&Mutex::new(), "T2 acquire(); T1 release()"),
            @"T1 release(): the lock is held by T2"
        );
        insta::assert_snapshot!(
            check(&Mutex::new(), "T2 try_lock() = TRUE; T1 try_lock() = FALSE; T2 unlock(); T1 try_lock() = FALSE"),
            @"T1 try_lock() = FALSE: this operation did not succeed, but the lock is free"
        );
        insta::assert_snapshot!(
            check(&Mutex::new(), "T1 acquire()?; T1 acquire()?; T2 release() = FALSE"),
            @"accepted"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "T1 acquire(); T2 acquire()?; T1 release(); T2 release()?; T1 try_lock() = FALSE; \
                     T2 try_lock() = TRUE; T1 acquire(a); T2 try_lock(a)?; T1 release(a) = FALSE";
        check_laws(&Mutex::new(), calls);
    }
}
