//! The semantics of TLA+ modules: resolve, evaluate, explore.
//!
//! ```text
//!  text ── tla_syntax::parse ──► ast ── resolve ──► Module ── Config, link ──► Program ── Machine ──► values, states
//! ```
//!
//! In an [`ir::Module`] every name is bound and every arity and level checked. Nothing looks up a name after that: a
//! name is a slot of a frame, a variable is an index into a state, an operator is an index into a table.

pub mod config;
pub mod datum;
pub mod error;
mod id;
pub mod ir;
pub mod machine;
pub mod modules;
pub mod program;
pub mod reach;
pub mod resolve;
pub mod source;
pub mod strings;
pub mod value;
