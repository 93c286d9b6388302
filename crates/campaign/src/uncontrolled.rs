//! Uncontrolled executions: the operating system schedules the threads, with perturbations, perhaps recorded by `rr`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use omnilink_explore::{Ended, Input, Program, Store};

use crate::clock::now;
use crate::{Error, Executed, Next};

/// Executions of a freely running harness, each with the input of its number.
pub struct Free<'a, F> {
    program: &'a Program,
    rr: Option<String>,
    timeout: Duration,
    is_interrupted: fn() -> bool,
    scratch: PathBuf,
    input: F,
    number: u64,
}

impl<'a, I: Input, F: FnMut(u64) -> I> Free<'a, F> {
    /// Executions with traces in the store's scratch directory, recorded by this `rr` if there is one.
    pub fn new(
        program: &'a Program,
        store: &Store,
        rr: Option<&str>,
        timeout: Duration,
        is_interrupted: fn() -> bool,
        input: F,
    ) -> Result<Free<'a, F>, Error> {
        let scratch = store.scratch();
        let cannot = |error: io::Error| Error::about("the harness", format!("{}: {error}", scratch.display()));
        std::fs::create_dir_all(&scratch).map_err(cannot)?;
        // The harness has another working directory.
        let absolute = |path: &str| std::path::absolute(path).map_err(|error| Error::about("the harness", error));
        let rr = match rr {
            Some(rr) if rr.contains('/') => Some(absolute(rr)?.display().to_string()),
            rr => rr.map(str::to_owned),
        };
        let scratch = std::path::absolute(&scratch).map_err(cannot)?;
        Ok(Free { program, rr, timeout, is_interrupted, scratch, input, number: 0 })
    }

    /// Executes the harness once more.
    pub fn execute(&mut self) -> Result<Next<Executed<I>>, Error> {
        let (number, began) = (self.number, now().as_secs());
        let (input, trace) = ((self.input)(number), self.scratch.join(number.to_string()));
        let under = self.rr.iter().flat_map(|rr| omnilink_explore::rr::record(rr, &trace.with_extension("rr")));
        let under: Vec<String> = under.collect();
        let ran = self.program.run(&input, &trace, self.timeout, &under, &self.is_interrupted);
        let ran = ran.map_err(|error| Error::about("the harness", error))?;
        if ran.ended == Ended::Interrupted {
            return Ok(Next::Interrupted);
        }
        self.number += 1;
        Ok(Next::Executed(Executed { number, input, ran, began, trace, decided: None, race: None }))
    }
}
