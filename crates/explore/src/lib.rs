//! Executes a harness, freely or under control, and keeps runs.
//!
//! ```text
//!  Input, such as a Plan ── Program::run ──► Ended, a recording
//!  Input, Order ── Control::execute ──► Execution, a recording
//!  a recording and its report ── Store::keep ──► target/omnilink/ID/ ── pack ──► ID.omni
//! ```
//!
//! A harness is any program that reads a few environment variables ([`Input::environment`]), drives the system with that
//! many threads and operations, and records what it does. Nothing here knows what a specification is, nor how many
//! executions there are to be.

#[cfg(feature = "control")]
pub mod audit;
mod bundle;
mod cause;
mod control;
mod coverage;
mod execution;
#[cfg(feature = "control")]
pub mod instrument;
mod newfile;
mod plan;
mod process;
mod program;
pub mod rr;
#[cfg(feature = "control")]
mod runtime;
mod shrink;
mod store;
pub mod strategy;

pub use bundle::{Packed, pack, unpack};
pub use cause::{cause, without_numbers};
pub use control::{Control, ControlError, MOST_STEPS, Once};
pub use coverage::{Coverage, Happened};
pub use execution::{Controlled, Ending, Execution, Note, Order, Race, STEP_LIMIT};
#[cfg(feature = "control")]
pub use instrument::{CannotInstrument, Kit};
pub use newfile::{NewFile, write_file};
pub use plan::{Disturbance, Input, Plan, counted, parse_range};
pub use program::{Blocked, Ended, Program, Ran};
#[cfg(feature = "control")]
pub use runtime::{NoRuntime, Runtime};
pub use shrink::{Simplified, simplify};
pub use store::{Belongings, Environment, Run, Store, StoreError, schedule_of};
