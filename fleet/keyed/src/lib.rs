//! Checks operations that come sorted by key: one verdict for each.
//!
//! Engines that partition and sort call [`check_sorted`]. It is a pure function of the operations of a key and of the
//! states that an earlier check carried, so an engine may repeat it at any time, on any machine.
//!
//! ```
//! use omnilink_history::format::text;
//! use omnilink_judge::{Judge, Unlimited};
//! use omnilink_keyed::{KeyedOptions, check_sorted};
//!
//! let trace = text::read(b"a [1 2] write(key: 7, value: 1)\nb [3 4] read(key: 7) = 0\n")?;
//! let batch = omnilink_columns::write(&trace, Some("key"))?;
//! let judge = Judge::new("register", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
//! let mut verdicts = Vec::new();
//! let mut emit = |batch| Ok(verdicts.push(batch));
//! let options = KeyedOptions { by: "key".into(), ..KeyedOptions::default() };
//! let summary = check_sorted(&judge, &mut [Ok(batch)].into_iter(), &options, &Unlimited, &mut emit)?;
//! assert_eq!((summary.keys, summary.rejected), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carried;
mod check;

pub use omnilink_columns::verdicts;

pub use crate::check::{Error, KeyedOptions, Summary, check_sorted};
