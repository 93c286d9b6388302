//! Makes the calls of `Stack.tla` on the stack, from several threads, and records them.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use omnilink_record::drive::{self, Plan};
use operations::{Pop, System};
use treiber::Stack;

struct Subject(Stack);

impl System for Subject {
    type Session = ();

    fn session(&self, _thread: usize) -> Self::Session {}

    fn pop(&self, _session: &mut Self::Session) -> Pop {
        self.0.pop().map_or(Pop::Empty, |elem| Pop::Done { elem })
    }

    fn push(&self, _session: &mut Self::Session, elem: i64) {
        self.0.push(elem)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject(Stack::new(64)))?;
        Ok(())
    })
}
