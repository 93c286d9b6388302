//! Executes a harness, freely or under control, and stores runs.
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Duration;
//!
//! use omnilink_explore::{Ended, Plan, Program};
//!
//! let program = Program {
//!     directory: "queue-harness".into(),
//!     build: ["cargo", "build"].map(String::from).into(),
//!     run: vec!["target/debug/queue-harness".to_owned()],
//!     ..Program::default()
//! };
//! program.build(&|| false)?.expect("the harness compiles");
//! let plan = Plan { seed: 1, threads: 4, operations: 100, perturb: Vec::new(), only: None, script: None, test: None };
//! let ran = program.run(&plan, Path::new("traces/1"), Duration::from_secs(10), &[], &|| false)?;
//! assert_eq!(ran.ended, Ended::Finished);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! ```text
//!  Input, such as a Plan ── Program::run ──► Ended, a trace
//!  Input, ExecutionOrder ── Control::execute ──► Execution, a trace
//!  a trace and its report ── Store::keep ──► target/omnilink/ID/ ── pack ──► ID.omni
//! ```
//!
//! A harness is any program that reads a few environment variables ([`Input::environment`]), drives the system with
//! that many threads and operations, and records its operations. This crate knows neither specifications nor how many
//! executions to run.

#[cfg(feature = "control")]
pub mod audit;
mod bundle;
mod control;
mod coverage;
mod execution;
#[cfg(feature = "control")]
pub mod instrument;
mod newfile;
mod panic;
mod plan;
mod process;
mod processor;
mod program;
mod race;
pub mod rr;
#[cfg(feature = "control")]
mod runtime;
mod script;
mod shrink;
mod store;
pub mod strategy;
mod workload;

pub use bundle::{Packed, pack, unpack};
pub use control::{Control, ControlError, MOST_STEPS, Once};
pub use coverage::{Coverage, Happened};
pub use execution::{Controlled, Ending, Execution, ExecutionOrder, Note, STEP_LIMIT};
#[cfg(feature = "control")]
pub use instrument::{CannotInstrument, Kit};
pub use newfile::{NewFile, write_file};
pub use panic::panic_message;
pub use plan::{Calls, Disturbance, Input, Only, Plan, parse_range, script_beside};
pub use program::{Blocked, Ended, Program, Ran};
pub use race::{DataRace, Race, RacedAccess, verb};
#[cfg(feature = "control")]
pub use runtime::{NoRuntime, Runtime, fingerprint};
pub use script::{BadScript, Script, ScriptedCall};
pub use shrink::{Simplified, simplify, without_switch};
pub use store::{
    Artifacts, Environment, Run, Store, StoreError, Test, format_time, move_to, report_of, schedule_of, script_of,
};
pub use workload::{Asked, BadProfile, Workload};
