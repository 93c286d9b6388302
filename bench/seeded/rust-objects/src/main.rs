//! Twelve seeded mistakes in Rust, each with its correction, as harnesses for `omnilink fuzz` and objects for
//! `omnilink lineup`. They are those of `../cpp/seeded.cpp`.
//!
//! ```text
//! seeded fuzz|lineup MISTAKE right|wrong
//! ```

mod objects;
mod steps;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use omnilink_record::drive::{self, Plan};
use omnilink_record::object;

use crate::objects::{Aba, Bank, Buffer, Counter, Flaw, Queue, Register, Ring, Seqlock, Stack};
use crate::steps::Step;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [mode, mistake, version] = &arguments[..] else {
        return Err("expected `fuzz` or `lineup`, a mistake, and `right` or `wrong`".into());
    };
    let is_right = version == "right";
    let ring = |flaw| move || Ring::new(if is_right { Flaw::None } else { flaw });
    match &**mistake {
        "wrong_empty_check" => run(mode, move || Queue::new(is_right)),
        "tearing_length" => run(mode, ring(Flaw::TearingLength)),
        "early_publish" => run(mode, ring(Flaw::EarlyPublish)),
        "weakened_ordering" => run(mode, ring(Flaw::WeakenedOrdering)),
        "aba" => run(mode, move || Aba::new(is_right)),
        "lost_wake_up" => run(mode, move || Buffer::new(is_right, true)),
        "missing_recheck" => run(mode, move || Buffer::new(true, is_right)),
        "double_free" => run(mode, move || Stack::new(is_right)),
        "use_after_free" => run(mode, move || Register::new(is_right)),
        "lock_order" => run(mode, move || Bank::new(is_right)),
        "read_modify_write" => run(mode, move || Counter::new(is_right)),
        "seqlock_without_fences" => run(mode, move || Seqlock::new(is_right)),
        _ => Err("this mistake is not known".into()),
    }
}

fn run<T: Step + 'static>(
    mode: &str,
    make: impl Fn() -> T + Send + Sync + 'static,
) -> Result<ExitCode, Box<dyn Error>> {
    if mode == "lineup" {
        return Ok(object::main(make));
    }
    drive::repeat(|| -> Result<(), Box<dyn Error>> {
        let plan = Plan::from_env()?;
        Ok(drive::run(&plan, &make(), |_, _| (), |object, (), client| object.step(client))?)
    })?;
    Ok(ExitCode::SUCCESS)
}
