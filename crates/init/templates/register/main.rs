//! Makes the calls of `Register.tla` on a register, from several threads, and records them.
//!
//! The register is a small one that works, so that you see a run before you change anything. To
//! check your own, replace the parts marked 1 to 4. Calls are drawn and recorded in
//! `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use std::sync::{Mutex, MutexGuard, PoisonError};

use omnilink_record::drive::{self, Plan};
use operations::System;

/// 1. The register under test.
#[derive(Default)]
struct Subject {
    register: Mutex<i64>,
}

impl Subject {
    fn register(&self) -> MutexGuard<'_, i64> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for Subject {
    type Session = ();

    fn session(&self, _thread: usize) -> Self::Session {}

    /// 2. Returns the value of the register.
    fn read(&self, _session: &mut Self::Session) -> i64 {
        *self.register()
    }

    /// 3. Writes a value.
    fn write(&self, _session: &mut Self::Session, value: i64) {
        *self.register() = value;
    }

    /// 4. Writes `new` if the register holds `old`, and returns whether it did.
    fn compare_and_set(&self, _session: &mut Self::Session, old: i64, new: i64) -> bool {
        let mut register = self.register();
        let ok = *register == old;
        if ok {
            *register = new;
        }
        ok
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject::default())?;
        Ok(())
    })
}
