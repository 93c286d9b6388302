//! The semantics of TLA+ modules: resolve, evaluate, explore.
//!
//! ```
//! use omnilink_tla::datum::World;
//! use omnilink_tla::program::{LinkOptions, link};
//! use omnilink_tla::reach::{ReachOrder, Verdict, check};
//! use omnilink_tla::resolve::{Loader, resolve};
//!
//! /// Without files: only built-in modules can be extended, and nothing is printed.
//! struct Nothing;
//!
//! impl Loader for Nothing {
//!     fn load(&mut self, _module: &str) -> Option<(String, String)> {
//!         None
//!     }
//! }
//!
//! impl World for Nothing {}
//!
//! let text = r"
//! ---- MODULE Counter ----
//! EXTENDS Integers
//! VARIABLE x
//! Init == x = 0
//! Next == x' = (x + 1) % 5
//! Small == x < 4
//! ====";
//! let mut strings = Default::default();
//! let config = omnilink_tla::config::parse("INIT Init NEXT Next INVARIANT Small", &mut strings).expect("no errors");
//! let module = resolve("Counter.tla", text, &mut Nothing, strings).expect("no errors");
//! let program = link(module, &config, LinkOptions::default()).expect("no errors");
//!
//! let checked = check(&program, ReachOrder::Breadth, vec![Box::new(Nothing)], &mut |_| None);
//! let Verdict::Violated { trace, .. } = checked.verdict else { panic!("`x` becomes 4") };
//! assert_eq!(trace.len(), 5);
//! ```
//!
//! ```text
//!  text ── omnilink_tla_syntax::parse ──► ast ── resolve ──► Module ── Config, link ──► Program ── Machine ──► values, states
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
