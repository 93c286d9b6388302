//! Histories of every kind, each checked in several ways.
//!
//! One program for all of them: the search is compiled for every specification, which takes longer than all tests.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is tests")]

mod blocked;
mod check;
mod digits;
mod levels;
mod otlp;
mod real_data;
mod registers;
mod unambiguous;
mod unknown;
