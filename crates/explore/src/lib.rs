//! Runs a harness many times under different conditions, and keeps what came of it.
//!
//! ```text
//!  omnilink.toml ── Campaign ── plan(n) ──► Plan ── Program::run ──► Ended, a recording
//!  a recording and its report ── Store::keep ──► target/omnilink/ID/ ── pack ──► ID.omni
//! ```
//!
//! A harness is any program that reads a few environment variables ([`Plan::environment`]), drives the system with that
//! many threads and operations, and records what it does. Nothing here knows what a specification is; whoever checks
//! recordings hands in the report.

pub mod audit;
mod bundle;
mod campaign;
mod cause;
mod control;
mod coverage;
mod execution;
pub mod instrument;
mod newfile;
mod process;
mod program;
pub mod rr;
mod runtime;
mod shrink;
mod store;
pub mod strategy;

pub use bundle::{Packed, pack, unpack};
pub use campaign::{BadProfile, Campaign, Disturbance, Plan, counted, parse_range};
pub use cause::{cause, without_numbers};
pub use control::{Control, ControlError, MOST_STEPS, Once};
pub use coverage::{Coverage, Happened};
pub use execution::{Controlled, Ending, Execution, Note, Order, Race, STEP_LIMIT};
pub use instrument::{CannotInstrument, Kit};
pub use newfile::{NewFile, write_file};
pub use program::{Blocked, Ended, Program, Ran};
pub use runtime::{NoRuntime, Runtime};
pub use shrink::{Simplified, simplify};
pub use store::{Belongings, Environment, Run, Store, StoreError, schedule_of};
