//! The runtime inside a program under control.

mod memory;
