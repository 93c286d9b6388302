//! Strategies against brute force, on a machine of our own.

mod bounds;
mod classes;
mod generate;
mod machine;
mod oracle;
