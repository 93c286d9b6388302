//! Adds a harness to a project, writes new projects, and removes what it added.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use omnilink_init::{Ci, Options, adopt};
//!
//! let options = Options { directory: Path::new("."), spec: None, language: None, ci: Ci::None };
//! let adoption = adopt(&options).expect("a project with one specification");
//! adoption.write(options.directory).expect("no file is in the way");
//! println!("fill in {}", adoption.main);
//! ```
//!
//! Existing files are never overwritten: either all files are written, or none. A list of what was written is kept in the
//! project, so that [`undo`] removes that and nothing else. Nothing here prints.

mod adopt;
mod host;
mod kind;
mod manifest;
mod paths;
mod plan;
mod settings;
mod stale;
mod template;

pub use adopt::{Adoption, Options, add_ci, adopt};
pub use kind::{Ci, Language, Template};
pub use manifest::{Changed, MANIFEST, undo};
pub use paths::find_spec;
pub use plan::{files, plan, store};
pub use stale::{Existing, Place};
pub use template::{Project, TextFile};
