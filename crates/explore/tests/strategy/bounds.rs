//! Depth first search: every schedule once, those with few preemptions first.
