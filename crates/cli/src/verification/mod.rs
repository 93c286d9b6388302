//! Ways to check our verdicts: a module for TLC, a comparison with TLC, and orders replayed step by step.

pub(crate) mod confirm;
pub(crate) mod export;
mod verify;
pub(crate) mod witness;
