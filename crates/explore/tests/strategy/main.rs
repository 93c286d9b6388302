//! Strategies against brute force, on a simulated machine.

mod bounds;
mod classes;
mod generate;
mod machine;
mod oracle;
