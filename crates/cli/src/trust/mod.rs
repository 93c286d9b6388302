//! Ways to check us: a module for TLC, TLC's verdict beside ours, and orders that are gone through step by step.

pub(crate) mod confirm;
pub(crate) mod export;
mod verify;
pub(crate) mod witness;
